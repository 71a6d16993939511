#!/usr/bin/env bash
# Measures planning external blobs on RFC-100's example: 2,000 candidates of 500
# cleaned file groups against a table of 50,000, with a cold and a warm ledger.
# Needs GNU time and Python 3.
#
#	bench/blobs.sh [WORK]        WORK keeps the table between runs, default /tmp/lakesweep-bench
set -euo pipefail
cd "$(dirname "$0")/.."
work=${1:-/tmp/lakesweep-bench}
mkdir -p "$work"
bin=$work/lakesweep
CGO_ENABLED=0 go build -o "$bin" ./cmd/lakesweep
[ -d "$work/blobs" ] || { rm -rf "$work/blobs.part"; go run ./bench/mkblobs -out "$work/blobs.part"; mv "$work/blobs.part" "$work/blobs"; }
rm -rf "$work/state"

# run NAME ARGS...: wall and CPU time, peak memory, and what the plan counts
run() {
	local name=$1
	shift
	XDG_STATE_HOME=$work/state /usr/bin/time -o "$work/time" -f '%e %U %S %M' \
		"$bin" plan "$work/blobs" --retain-commits 1 --progress none -o json "$@" >"$work/plan.json" 2>"$work/talk"
	python3 - "$name" "$work/time" "$work/plan.json" "$work/talk" <<'P'
import json, sys
wall, user, system, kib = open(sys.argv[2]).read().split()
plan = json.load(open(sys.argv[3]))
print(f"{sys.argv[1]:24} {float(wall):6.2f} s {float(user) + float(system):6.2f} CPU-s {int(kib) // 1024:5} MiB")
blobs = plan.get("blobs")
if blobs:
    print(f"{'':24} {blobs['candidates']} candidates, {blobs['unreferenced']} listed, {blobs['referenced']} referenced; files:",
          ", ".join(f"{n} {name}" for name, n in blobs["files"].items() if n))
opens = sum("op=open" in line and ".parquet" in line for line in open(sys.argv[4]))
if opens:
    print(f"{'':24} {opens} requests to read base files")
P
}

run "files only" --blobs off
run "blobs, cold ledger" --blobs plan --blob-root s3://media
run "blobs, warm ledger" --blobs plan --blob-root s3://media
rm -rf "$work/state"
run "cold, each read traced" --blobs plan --blob-root s3://media -v

# The clean itself: queue the blobs, clean 500 slices, judge and delete the blobs, which lie in a folder.
"$bin" plan "$work/blobs" --retain-commits 1 --progress none -o paths --blobs plan --blob-root s3://media | grep ^s3: | sed "s#^s3://media/#$work/media/#" >"$work/list"
blobs=(--blob-root s3://media --map "s3://media/=file://$work/media/")
for ledger in no warm; do
	rm -rf "$work/clean" "$work/media" "$work/state"
	cp -a "$work/blobs" "$work/clean"
	xargs -n 500 dirname <"$work/list" | sort -u | xargs mkdir -p
	xargs -n 500 touch -d '2 days ago' <"$work/list"
	[ $ledger = no ] || XDG_STATE_HOME=$work/state "$bin" plan "$work/clean" --retain-commits 1 --progress none -q --blobs plan "${blobs[@]}" >/dev/null
	XDG_STATE_HOME=$work/state /usr/bin/time -o "$work/time" -f '%e %U %S %M' "$bin" clean "$work/clean" --retain-commits 1 --progress none -o json --yes --no-other-writers \
		--blobs delete "${blobs[@]}" --blob-grace 0s --blob-min-age 0s >"$work/run.json"
	python3 - "$ledger" "$work/time" "$work/run.json" <<'P'
import json, sys
run = json.load(open(sys.argv[3]))
wall, user, system, kib = open(sys.argv[2]).read().split()
print(f"clean, {sys.argv[1]} ledger".ljust(24), f"{float(wall):6.2f} s {float(user) + float(system):6.2f} CPU-s {int(kib) // 1024:5} MiB; {run['deleted']} deleted, {run['failed']} failed, lock held for {run['lock_seconds'] * 1000:.0f} ms")
P
done
