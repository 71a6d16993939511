#!/usr/bin/env bash
# Installs what the interop suites need below INTEROP_CACHE, once: a Python
# environment with Spark, Delta and delta-rs, and the jars of Delta and of three versions of Hudi.
# Needs Python 3.9 to 3.12, Java 17 and Maven, and PyPI and Maven Central the first time.
set -euo pipefail
retry() { bash "$(dirname "${BASH_SOURCE[0]}")/../retry.sh" "$@"; }
cache=${INTEROP_CACHE:-$HOME/.cache/lakesweep}
delta=3.3.3 # the version of the jars and of the Python package
hudi="1.2.0 1.1.1 1.0.2" # the newest of each release line
stamp=$cache/interop-2
mkdir -p "$cache"
[ -e "$stamp" ] && exit 0

echo "installing Spark, Delta, delta-rs and Hudi below $cache"
[ -x "$cache/venv/bin/python" ] || python3 -m venv "$cache/venv"
retry "$cache/venv/bin/pip" install -q --disable-pip-version-check 'pyspark==3.5.*' "delta-spark==$delta" 'deltalake==1.6.*' 'pyarrow>=17'

mkdir -p "$cache/jars"
artifacts=("io.delta:delta-spark_2.12:$delta" "io.delta:delta-storage:$delta")
for version in $hudi; do
	artifacts+=("org.apache.hudi:hudi-spark3.5-bundle_2.12:$version")
done
for artifact in "${artifacts[@]}"; do
	IFS=: read -r _ name version <<<"$artifact"
	[ -s "$cache/jars/$name-$version.jar" ] && continue
	retry mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy \
		-Dartifact="$artifact" -DoutputDirectory="$cache/jars" -Dmdep.overWriteReleases=false
	[ -s "$cache/jars/$name-$version.jar" ] || { echo "Maven left no $name-$version.jar" >&2; exit 1; }
done
touch "$stamp"
