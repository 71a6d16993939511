#!/usr/bin/env bash
# Delta-Spark and delta-rs write tables, lakesweep vacuums them, both read them.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
export INTEROP_CACHE=${INTEROP_CACHE:-$HOME/.cache/lakesweep}
export PYTHONDONTWRITEBYTECODE=1
exec "$INTEROP_CACHE/venv/bin/python" "$here/suite.py" "$@"
