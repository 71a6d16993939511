#!/usr/bin/env bash
# Measures a dry run of VACUUM against find, the fastest peer and itself, in one
# run, and prints ratios. Needs GNU time; Python 3 for the peer.
#
#	bench/vacuum.sh [WORK]        WORK keeps the tables between runs, default /tmp/lakesweep-bench
set -euo pipefail
cd "$(dirname "$0")/.."
work=${1:-/tmp/lakesweep-bench}
mkdir -p "$work"
bin=$work/lakesweep
CGO_ENABLED=0 go build -o "$bin" ./cmd/lakesweep
command -v /usr/bin/time >/dev/null || { echo "install GNU time first (Debian: apt-get install time)"; exit 1; }

[ -d "$work/table" ] || go run ./bench/mktable -out "$work/table"
[ -d "$work/checkpointed" ] || { cp -a "$work/table" "$work/checkpointed.part"; rm -rf "$work/checkpointed.part/_delta_log"
	go run ./bench/mktable -out "$work/checkpointed.part" -checkpoint -no-files; mv "$work/checkpointed.part" "$work/checkpointed"; }
[ -d "$work/replay" ] || go run ./bench/mktable -out "$work/replay" -no-files -checkpoint -files 104167 -dead-percent 0
[ -d "$work/venv" ] || { python3 -m venv "$work/venv" && "$work/venv/bin/pip" -q install deltalake; }

# measure NAME COMMAND...: the best wall and CPU time of three runs, in seconds, and the peak memory, in KiB
measure() {
	local name=$1 best= least= peak=0 wall user sys kib
	shift
	for _ in 1 2 3; do
		/usr/bin/time -o "$work/time" -f '%e %U %S %M' "$@" >/dev/null
		read -r wall user sys kib <"$work/time"
		read -r best least < <(awk -v w="$wall" -v c="$user" -v s="$sys" -v b="${best:-1e9}" -v l="${least:-1e9}" 'BEGIN{c+=s; print (w<b?w:b), (c<l?c:l)}')
		if [ "$kib" -gt "$peak" ]; then peak=$kib; fi
	done
	printf '%-34s %7.2f s  %7.2f CPU-s  %6d MiB\n' "$name" "$best" "$least" $((peak / 1024))
	eval "$name=$best ${name}_cpu=$least"
}

ratio() { awk "BEGIN{printf \"%-34s %7.2f\\n\", \"$1\", $2}"; }

plan=("$bin" plan -o paths --progress none --mode full)
echo "480,000 files in 48 partitions, JSON commits only, warm cache, best of three"
measure find find "$work/table" -type f -printf '%T@ %s %P\n'
measure full "${plan[@]}" "$work/table"
measure deltalake "$work/venv/bin/python" -c '
import sys, deltalake
deltalake.DeltaTable(sys.argv[1]).vacuum(retention_hours=168, dry_run=True, full=True)' "$work/table"
ratio "lakesweep / find" "$full / $find"
ratio "deltalake / lakesweep" "$deltalake / $full"
echo "the same with a checkpoint"
measure checkpointed "${plan[@]}" "$work/checkpointed"
measure one_partition "${plan[@]}" "$work/checkpointed" --where "day = '02' AND hour = '07'"
ratio "one partition / full" "$one_partition / $checkpointed"
for where in "" "day = '02' AND hour = '07'"; do
	"$bin" plan "$work/checkpointed" --mode full --progress none -o json ${where:+--where "$where"} |
		python3 -c 'import json,sys; d=json.load(sys.stdin); print("directories listed:", d.get("summary",d)["list_requests"], "for", sys.argv[1] or "the whole table")' "$where"
done
echo "replay of a checkpoint of 5,000,016 adds, with 1.6 GB of commits below it"
measure replay "$bin" plan "$work/replay" --mode lite --progress none -o paths
ratio "adds a CPU second" "5000016 / $replay_cpu"
