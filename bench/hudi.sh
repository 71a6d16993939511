#!/usr/bin/env bash
# Measures planning a clean of a Hudi table and, where ../shared has the oracle
# that runs Hudi 1.2.0's own planner, that as well, in one run; prints ratios. Both
# plan the same files, or the script ends. Needs GNU time and Python 3, with the
# oracle Java 17 and Maven.
#
#	bench/hudi.sh [WORK]        WORK keeps the tables between runs, default /tmp/lakesweep-bench
#
# LARGE=1 also makes a table of 2,125,200 base files (7 minutes) and cleans 2,024,000 of them away.
set -euo pipefail
cd "$(dirname "$0")/.."
work=${1:-/tmp/lakesweep-bench}
oracle=$(cd .. && pwd)/shared/tools/hudi-oracle/hudi-oracle
command -v /usr/bin/time >/dev/null || { echo "install GNU time first (Debian: apt-get install time)"; exit 1; }
mkdir -p "$work"
bin=$work/lakesweep
CGO_ENABLED=0 go build -o "$bin" ./cmd/lakesweep
go build -o "$work/mktable" ./bench/mktable
make_table() { [ -d "$1" ] || { rm -rf "$1.part" && "$work/mktable" -hudi -out "$1.part" "${@:2}" && mv "$1.part" "$1"; }; }
make_table "$work/hudi" -partitions 1000
make_table "$work/hudi-wide" -partitions 10000 -groups 2 -recent 5
echo hoodie.clean.incremental.enabled=false >"$work/full.properties"

# ours NAME TABLE FLAG...: the best wall time of three, in seconds, and the peak memory, in KiB
ours() {
	local name=$1 best=1e9 peak=0 wall kib
	shift
	for _ in 1 2 3; do
		/usr/bin/time -o "$work/time" -f '%e %M' "$bin" plan "$1" -o paths --progress none --retain-commits 1 --timeline-zone UTC --no-other-writers --unsafe-mostly-dead "$1" "${@:2}" >"$work/ours"
		read -r wall kib <"$work/time"
		best=$(awk "BEGIN{print $wall < $best ? $wall : $best}")
		if [ "$kib" -gt "$peak" ]; then peak=$kib; fi
	done
	printf '%-40s %7.2f s  %6d MiB\n' "lakesweep, $name" "$best" $((peak / 1024))
	our_time=$best our_peak=$peak
}

# theirs NAME TABLE FLAG...: the same of Hudi, without the start of its JVM. Each time is that of the first plan in a JVM.
theirs() {
	[ -x "$oracle" ] || return 0
	local name=$1 best=1e9 peak=0 wall kib
	shift
	for _ in 1 2 3; do
		/usr/bin/time -o "$work/time" -f '%M' "$oracle" batch <<<"plan $1 --policy latest-commits --retain 1 ${*:2}" >"$work/theirs" 2>"$work/err"
		wall=$(python3 -c 'import json,sys; d=json.load(open(sys.argv[1])); open(sys.argv[2],"w").writelines(f+"\n" for f in d["files"]); print(d["millis"]/1000)' "$work/theirs" "$work/theirs.paths")
		kib=$(cat "$work/time")
		best=$(awk "BEGIN{print $wall < $best ? $wall : $best}")
		if [ "$kib" -gt "$peak" ]; then peak=$kib; fi
	done
	printf '%-40s %7.2f s  %6d MiB\n' "Hudi 1.2.0, $name" "$best" $((peak / 1024))
	cmp <(sort "$work/ours") <(sort "$work/theirs.paths") || { echo "the plans differ"; exit 1; }
	awk "BEGIN{printf \"%-40s %7.1f times faster, %.2f of the memory\n\", \"\", $best / $our_time, $our_peak / $peak}"
}

[ -x "$oracle" ] || echo "there is no $oracle: nothing to compare with"
echo "50,000 file groups in 1,000 partitions, 101,000 base files, warm cache, best of three"
full=hoodie.clean.incremental.enabled=false
ours "all partitions" "$work/hudi" --config "$work/full.properties"
theirs "all partitions" "$work/hudi" --set $full
ours "touched partitions (10)" "$work/hudi"
theirs "touched partitions (10)" "$work/hudi"
echo "10,000 partitions, 5 of them touched since the last clean"
"$bin" plan "$work/hudi-wide" -o json --progress none --retain-commits 1 --timeline-zone UTC --no-other-writers --unsafe-mostly-dead "$work/hudi-wide" |
	python3 -c 'import json,sys; d=json.load(sys.stdin); d=d.get("summary",d); print("list requests:", d["list_requests"])'

[ -n "${LARGE:-}" ] || exit 0
echo "2,024,000 files to delete in 2,200 partitions: cleans until nothing is left"
make_table "$work/hudi-large" -partitions 2200 -groups 46 -versions 21 -recent 0
runs=0 peak=0 SECONDS=0
while :; do
	/usr/bin/time -o "$work/time" -f '%M' "$bin" clean "$work/hudi-large" -o json --yes --progress none --retain-versions 1 --timeline-zone UTC --no-other-writers --unsafe-mostly-dead "$work/hudi-large" >"$work/out" 2>"$work/err"
	kib=$(cat "$work/time")
	if [ "$kib" -gt "$peak" ]; then peak=$kib; fi
	left=$(find "$work/hudi-large" -name '*.parquet' | wc -l)
	[ "$left" != "${before:-}" ] || break
	before=$left runs=$((runs + 1))
done
printf '%-40s %7d s  %6d MiB in %d cleans, %d base files left\n' "lakesweep clean" "$SECONDS" $((peak / 1024)) "$runs" "$left"
rm -rf "$work/hudi-large"
