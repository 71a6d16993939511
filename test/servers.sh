#!/usr/bin/env bash
# servers.sh: start object stores and lock services on loopback for the tests that want a real server.
#
#   test/servers.sh [SERVER…] -- COMMAND…   run COMMAND with the servers' variables set
#   test/servers.sh [SERVER…]               print the variables, serve until interrupted
#
# Servers: moto (S3 and DynamoDB), versitygw (S3), gcs (fake-gcs-server), azurite (Azure),
# hdfs (a small cluster of Hadoop's own) and zookeeper, which need Java 17 and Maven.
# Default: all. Each is installed once from its
# package registry into LAKESWEEP_TEST_CACHE (default ~/.cache/lakesweep-test)
# and stopped, with its data, when this script ends.
#
# Variables: LAKESWEEP_TEST_S3, endpoints separated by spaces; "#posix" behind one
# says that a file system is behind it, which can't hold every name.
# LAKESWEEP_TEST_GCS, the endpoint of a Cloud Storage. LAKESWEEP_TEST_AZURE, the
# URL of an account whose key is the emulators' usual one. LAKESWEEP_TEST_HDFS, the
# address of a name node. LAKESWEEP_TEST_DYNAMODB, the URL of a DynamoDB.
# LAKESWEEP_TEST_ZOOKEEPER, the host:port of a ZooKeeper.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${LAKESWEEP_TEST_CACHE:-$HOME/.cache/lakesweep-test}
work=$(mktemp -d)
pids=()
trap 'for p in "${pids[@]}"; do kill "$p" 2>/dev/null || true; done; wait 2>/dev/null || true; rm -rf "$work"' EXIT
mkdir -p "$cache"

# free_port: a port below those that the system gives to clients, so that no
# connection takes it before the server does.
free_port() {
	python3 -c '
import random, socket
while True:
    port = random.randrange(15000, 30000)
    with socket.socket() as s:
        try:
            s.bind(("127.0.0.1", port))
        except OSError:
            continue
    print(port)
    break'
}

# start NAME PORT COMMAND…: run a server and wait until its port answers.
start() {
	local name=$1 port=$2
	shift 2
	"$@" >"$work/$name.log" 2>&1 &
	pids+=($!)
	until_up "$name" answers "$port"
}

answers() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# until_up NAME COMMAND…: wait until COMMAND succeeds, for the server that was
# started last; two minutes are long for any of them.
until_up() {
	local name=$1
	shift
	for _ in $(seq 1200); do
		if "$@"; then return; fi
		if ! kill -0 "${pids[-1]}" 2>/dev/null; then break; fi
		sleep 0.1
	done
	echo "servers.sh: $name didn't start:" >&2
	cat "$work/$name.log" >&2
	exit 1
}

retry() { bash "$here/retry.sh" "$@"; }

# add VARIABLE VALUE: append to a variable that is exported.
add() { export "$1=${!1:+${!1} }$2"; }

start_moto() {
	local bin=$cache/moto/bin port
	if [ ! -x "$bin/moto_server" ]; then
		python3 -m venv "$cache/moto"
		retry "$bin/pip" install --quiet 'moto[server,s3,dynamodb]==5.2.5'
	fi
	port=$(free_port)
	start moto "$port" "$bin/moto_server" -H 127.0.0.1 -p "$port"
	add LAKESWEEP_TEST_S3 "http://127.0.0.1:$port"
	export LAKESWEEP_TEST_DYNAMODB=http://127.0.0.1:$port
}

start_versitygw() {
	local port
	[ -x "$cache/versitygw" ] || GOBIN=$cache retry go install github.com/versity/versitygw/cmd/versitygw@v1.8.0
	port=$(free_port)
	mkdir "$work/versitygw" "$work/versions"
	ROOT_ACCESS_KEY=test ROOT_SECRET_KEY=testtest start versitygw "$port" "$cache/versitygw" --port "127.0.0.1:$port" posix --versioning-dir "$work/versions" "$work/versitygw"
	add LAKESWEEP_TEST_S3 "http://127.0.0.1:$port#posix"
}

start_gcs() {
	local port
	[ -x "$cache/fake-gcs-server" ] || GOBIN=$cache retry go install github.com/fsouza/fake-gcs-server@v1.56.1
	port=$(free_port)
	start gcs "$port" "$cache/fake-gcs-server" -scheme http -host 127.0.0.1 -port "$port" -backend memory -external-url "http://127.0.0.1:$port" -log-level error
	export LAKESWEEP_TEST_GCS=http://127.0.0.1:$port
}

start_azurite() {
	local port
	[ -x "$cache/azurite/node_modules/.bin/azurite-blob" ] || retry npm install --silent --no-audit --no-fund --prefix "$cache/azurite" azurite@3.37.0
	port=$(free_port)
	start azurite "$port" "$cache/azurite/node_modules/.bin/azurite-blob" --inMemoryPersistence --skipApiVersionCheck --loose --silent --blobHost 127.0.0.1 --blobPort "$port"
	export LAKESWEEP_TEST_AZURE=http://127.0.0.1:$port/devstoreaccount1
}

# jars NAME: the libraries that test/NAME/pom.xml lists, in $cache/NAME.
jars() {
	[ ! -d "$cache/$1" ] || return 0
	rm -rf "$cache/$1.new"
	retry mvn -q -B -f "$here/$1/pom.xml" dependency:copy-dependencies -DoutputDirectory="$cache/$1.new"
	mv "$cache/$1.new" "$cache/$1"
}

start_hdfs() {
	local port
	jars hdfs
	port=$(free_port)
	start hdfs "$port" java -Xmx512m --add-opens java.base/java.lang=ALL-UNNAMED -cp "$cache/hdfs/*" "$here/hdfs/MiniHdfs.java" "$work/hdfs" "$port"
	until_up hdfs grep -q '^ready' "$work/hdfs.log"
	export LAKESWEEP_TEST_HDFS=127.0.0.1:$port
}

start_zookeeper() {
	local port
	jars zookeeper
	port=$(free_port)
	start zookeeper "$port" java -Xmx256m -Dzookeeper.admin.enableServer=false -cp "$cache/zookeeper/*" org.apache.zookeeper.server.ZooKeeperServerMain "$port" "$work/zookeeper"
	export LAKESWEEP_TEST_ZOOKEEPER=127.0.0.1:$port
}

servers=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
	servers+=("$1")
	shift
done
[ ${#servers[@]} -gt 0 ] || servers=(moto versitygw gcs azurite hdfs zookeeper)
for s in "${servers[@]}"; do
	declare -F "start_$s" >/dev/null || { echo "servers.sh: no server $s" >&2; exit 2; }
	"start_$s"
done

if [ "${1:-}" = -- ]; then
	shift
	"$@"
	exit
fi
env | grep '^LAKESWEEP_TEST_' | grep -v '^LAKESWEEP_TEST_CACHE='
sleep infinity &
wait $!
