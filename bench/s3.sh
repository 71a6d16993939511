#!/usr/bin/env bash
# Measures whole vacuums of tables on a fake S3 server (bench/fakes3) on
# loopback, in one run. Needs GNU time; Python 3 for the peer.
#
#	bench/s3.sh [PART…]        peer, memory, deletes; all by default
#
#	peer     480,000 objects, 20 ms a request: a full dry run against deltalake's, the best of three in turn
#	memory   10 million objects, 9 million live: peak memory of a full dry run
#	deletes  100,000 dead of a million, 3,500 deleted keys a second: the time against the limit's own
#
# WORK keeps the tables between runs, default /tmp/lakesweep-bench.
set -euo pipefail
cd "$(dirname "$0")/.."
work=${WORK:-/tmp/lakesweep-bench} port=${PORT:-9392}
mkdir -p "$work"
command -v /usr/bin/time >/dev/null || { echo "install GNU time first (Debian: apt-get install time)"; exit 1; }
CGO_ENABLED=0 go build -o "$work/lakesweep" ./cmd/lakesweep
go build -o "$work/fakes3" ./bench/fakes3
export AWS_ACCESS_KEY_ID=k AWS_SECRET_ACCESS_KEY=s AWS_REGION=us-east-1 AWS_ENDPOINT_URL=http://127.0.0.1:$port AWS_ALLOW_HTTP=true

server=
stop() { [ -z "$server" ] || { kill "$server"; wait "$server" 2>/dev/null || true; }; server=; }
trap stop EXIT

# table NAME MKTABLE-FLAG…: the log of a table and the names of its files
table() {
	local name=$1
	shift
	[ -e "$work/$name.names" ] && return
	rm -rf "${work:?}/$name"
	go run ./bench/mktable -out "$work/$name" -no-files -keys "$work/names.part" "$@"
	mv "$work/names.part" "$work/$name.names"
}

# serve NAME FAKES3-FLAG…: serve that table as s3://bench/t
serve() {
	local name=$1
	shift
	stop
	rm -rf "$work/served"
	cp -a "$work/$name" "$work/served"
	"$work/fakes3" -addr "127.0.0.1:$port" -keys "$work/$name.names" -overlay "$work/served" "$@" 2>/dev/null &
	server=$!
	until (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do sleep 0.1; done
	kill -0 "$server" || { echo "port $port is another's: set PORT"; exit 1; }
}

# measure NAME COMMAND…: wall time in seconds and peak memory in MiB, as $NAME and $NAME_mib
measure() {
	local name=$1 wall user sys kib
	shift
	/usr/bin/time -o "$work/time" -f '%e %U %S %M' "$@" >"$work/out"
	read -r wall user sys kib <"$work/time"
	printf '%-10s %8.2f s  %8.2f CPU-s  %6d MiB\n' "$name" "$wall" "$(awk "BEGIN{print $user + $sys}")" $((kib / 1024))
	eval "$name=$wall ${name}_mib=$((kib / 1024))"
}

stats() { echo "requests: $(curl -s "http://127.0.0.1:$port/-/stats")"; }
ratio() { awk "BEGIN{printf \"%-42s %7.2f\\n\", \"$1\", $2}"; }
lakesweep=("$work/lakesweep" --progress none)

peer() {
	echo "480,000 objects in 48 partitions, a tenth dead, 20 ms a request"
	table s480k
	[ -d "$work/venv" ] || { python3 -m venv "$work/venv" && "$work/venv/bin/pip" -q install deltalake; }
	serve s480k -latency 20ms
	local best=1e9 least=1e9
	for _ in 1 2 3; do
		measure ours "${lakesweep[@]}" plan s3://bench/t --mode full -o paths
		sort "$work/out" | md5sum
		stats
		measure deltalake "$work/venv/bin/python" -c '
import deltalake
for path in deltalake.DeltaTable("s3://bench/t").vacuum(retention_hours=168, dry_run=True, full=True): print(path)'
		sort "$work/out" | md5sum
		read -r best least < <(awk "BEGIN{print ($ours < $best ? $ours : $best), ($deltalake < $least ? $deltalake : $least)}")
	done
	ratio "deltalake / lakesweep, best of three each" "$least / $best"
}

memory() {
	echo "10 million objects in 48 partitions, a tenth dead, a checkpoint, 50 ms a request, 3,500 requests a second"
	table s10m -checkpoint -files 208334
	serve s10m -latency 50ms -rate 3500
	measure plan10m "${lakesweep[@]}" plan s3://bench/t --mode full --out "$work/s10m.plan"
	stats
}

deletes() {
	echo "a million objects, 100,000 dead, 50 ms a request, 3,500 deleted keys a second"
	table s1m -files 20834
	serve s1m -latency 50ms -delete-rate 3500
	rm -f "$work"/s1m.plan*
	"${lakesweep[@]}" plan s3://bench/t --mode full --out "$work/s1m.plan" -o json >"$work/s1m.json"
	measure apply "${lakesweep[@]}" apply "$work/s1m.plan" --yes
	stats
	local dead
	dead=$(python3 -c 'import json, sys; d = json.load(sys.stdin); print(d.get("summary", d)["dead"])' <"$work/s1m.json")
	ratio "time of $dead deletes / the limit's own" "$apply / ($dead / 3500)"
}

parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(peer memory deletes)
for part in "${parts[@]}"; do
	case $part in
	peer | memory | deletes) "$part" ;;
	*) echo "bench/s3.sh: no part $part" >&2; exit 2 ;;
	esac
done
