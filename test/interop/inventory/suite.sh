#!/usr/bin/env bash
# Other programs write lists of a table's objects, lakesweep plans from each:
# DuckDB, PyArrow, PyIceberg and delta-rs; DuckDB also answers queries.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cache=${INTEROP_CACHE:-$HOME/.cache/lakesweep}
export PYTHONDONTWRITEBYTECODE=1
if [ ! -e "$cache/inventory-1" ]; then
	[ -x "$cache/inventory-venv/bin/python" ] || python3 -m venv "$cache/inventory-venv"
	bash "$here/../../retry.sh" "$cache/inventory-venv/bin/pip" install -q --disable-pip-version-check 'duckdb-cli==1.5.*' 'pyiceberg[pyarrow,sql-sqlite]==0.12.*' 'deltalake==1.6.*'
	touch "$cache/inventory-1"
fi
export PATH=$cache/inventory-venv/bin:$PATH
exec "$cache/inventory-venv/bin/python" "$here/suite.py"
