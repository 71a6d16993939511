#!/bin/bash
# Measures listings against a fake S3 server on loopback: by listing.Walk
# without and with seeds, and by the same decoder over ranges known beforehand.
#
#   bench/listing.sh [OBJECTS [LAYOUT…]]        default: 10000000, all five layouts
#
# One JSON object a run. Compare runs of one layout: a machine that others use too changes.
set -eu
cd "$(dirname "$0")/.."
objects=${1:-10000000}
shift || true
layouts=${*:-hive random skew wide flat}
rate=${RATE:-3500} latency=${LATENCY:-50ms} port=${PORT:-9391}

bin=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$bin"' EXIT
go build -o "$bin/server" ./bench/fakes3
go build -o "$bin/listing" ./bench/listing

for layout in $layouts; do
	echo "# $layout, $objects objects, $latency a request, $rate requests a second" >&2
	"$bin/server" -addr "127.0.0.1:$port" -objects "$objects" -layout "$layout" -latency "$latency" -rate "$rate" 2>/dev/null &
	server=$!
	until (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do sleep 0.1; done
	"$bin/listing" -endpoint "http://127.0.0.1:$port" -rate "$rate" ${RUNS:+-runs "$RUNS"}
	kill "$server" && wait "$server" 2>/dev/null || true
	server=
done
