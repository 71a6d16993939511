#!/usr/bin/env bash
# Builds jvm/hudi-check and has Hudi 1.2.0 on Spark ask it before its commits.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
export INTEROP_CACHE=${INTEROP_CACHE:-$HOME/.cache/lakesweep}
bash "$here/../../retry.sh" mvn -q -B -f "$here/../../../jvm/hudi-check/pom.xml" package
exec "$INTEROP_CACHE/venv/bin/python" "$here/suite.py" "$here/../../../jvm/hudi-check/target/lakesweep-hudi-check-0.1.0.jar" "$LAKESWEEP" "$@"
