#!/usr/bin/env bash
# Runs lakesweep against the real writers and readers of its formats.
#
#   test/interop/run.sh [SUITE…]     all suites without an argument
#
# A suite is a folder here with a suite.sh, whose last line is 'N passed, N failed'.
# LAKESWEEP names the binary (built if unset), INTEROP_CACHE a folder that is
# kept between runs (default ~/.cache/lakesweep). The last line is the sum.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
export SPARK_LOCAL_IP=127.0.0.1 # Spark's own servers, whatever the machine's name resolves to
export INTEROP_CACHE=${INTEROP_CACHE:-$HOME/.cache/lakesweep}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ -z "${LAKESWEEP:-}" ]; then
	export LAKESWEEP=$work/lakesweep
	(cd "$here/../.." && CGO_ENABLED=0 go build -o "$LAKESWEEP" ./cmd/lakesweep)
fi
bash "$here/setup.sh"

suites=("$@")
if [ ${#suites[@]} -eq 0 ]; then
	for file in "$here"/*/suite.sh; do
		suites+=("$(basename "$(dirname "$file")")")
	done
fi
passed=0 failed=0
for suite in "${suites[@]}"; do
	echo "-- $suite"
	status=0
	bash "$here/$suite/suite.sh" 2>&1 | tee "$work/out" || status=$?
	last=$(tail -n 1 "$work/out")
	if [[ $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
		passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
	else
		status=${status/#0/1}
	fi
	if [ "$status" -ne 0 ] && ! [[ $last =~ \ [1-9][0-9]*\ failed$ ]]; then
		echo "FAIL $suite ended with status $status"
		failed=$((failed + 1))
	fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
