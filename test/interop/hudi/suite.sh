#!/usr/bin/env bash
# Three versions of Hudi write tables, lakesweep cleans them, and Hudi goes on with them.
#
#   suite.sh [NAME…]     the scenarios whose names contain one of the words
#
# HUDI names the versions (default "1.2.0 1.1.1 1.0.2"), one Spark session each.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
export INTEROP_CACHE=${INTEROP_CACHE:-$HOME/.cache/lakesweep}
export PYTHONDONTWRITEBYTECODE=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$here" && CGO_ENABLED=0 go build -o "$work/killed" ./killed)
passed=0 failed=0
for version in ${HUDI:-1.2.0 1.1.1 1.0.2}; do
	TMPDIR=$work KILLED=$work/killed "$INTEROP_CACHE/venv/bin/python" "$here/suite.py" "$version" "$@" >"$work/out" 2>"$work/err" || true
	sed '$d' "$work/out"
	last=$(tail -n 1 "$work/out")
	if [[ $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
		passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
	else
		echo "$last"
		tail -n 30 "$work/err"
		failed=$((failed + 1))
	fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
