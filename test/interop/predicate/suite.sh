#!/usr/bin/env bash
# Compares 1,000 random predicates with Spark SQL: SEED chooses them.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$here"
seed=${SEED:-1}
go run . -schema >"$work/schema"
go run . -seed "$seed" -n 1000 >"$work/cases"
"${INTEROP_CACHE:-$HOME/.cache/lakesweep}/venv/bin/python" compare.py "$work/cases" "$work/schema" 2>"$work/err" || {
	status=$?
	[ "$status" -eq 1 ] || cat "$work/err" >&2
	exit "$status"
}
