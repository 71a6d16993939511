#!/usr/bin/env bash
# Measures a plan from an S3 Inventory report of ten million rows against DuckDB
# reading the same files in the same run, and prints ratios. Needs GNU time and
# Python 3; 5 GB of disk.
#
#	bench/inventory.sh [WORK]       WORK keeps the reports between runs, default /tmp/lakesweep-inventory
#
#	rows outside     one hour of the report lies in the table (3,000 rows, all dead), the rest elsewhere;
#	                 DuckDB reads the same columns
#	rows protected   the table's log names the first million rows, 100,000 a commit; the rest as before
#	rows dead        every row is a dead file of the one table; DuckDB sorts the same columns by name
#	                 and writes them as Parquet with Zstandard, as a plan is
set -euo pipefail
cd "$(dirname "$0")/.."
work=${1:-/tmp/lakesweep-inventory}
rows=${ROWS:-10000000} runs=${RUNS:-3}
mkdir -p "$work/tmp"
export TMPDIR=$work/tmp
CGO_ENABLED=0 go build -o "$work/lakesweep" ./cmd/lakesweep
go build -o "$work/mkinventory" ./bench/mkinventory
command -v /usr/bin/time >/dev/null || { echo "install GNU time first (Debian: apt-get install time)"; exit 1; }
[ -d "$work/venv" ] || { python3 -m venv "$work/venv" && "$work/venv/bin/pip" -q install duckdb; }
for format in parquet csv; do
	[ -d "$work/$format" ] || { "$work/mkinventory" -rows "$rows" -files 10 -format $format -out "$work/$format.part" && mv "$work/$format.part" "$work/$format"; }
done
[ -d "$work/empty" ] || "$work/mkinventory" -table "$work/empty"
[ -d "$work/live" ] || "$work/mkinventory" -table "$work/live" -live 1000000

# measure NAME COMMAND...: the best wall and CPU time in seconds, and the peak memory in MiB, of some runs
measure() {
	local name=$1 best=1e9 least=1e9 peak=0 wall user sys kib status
	shift
	for _ in $(seq "$runs"); do
		status=0
		/usr/bin/time -o "$work/time" -f '%e %U %S %M' "$@" >"$work/out" 2>"$work/err" || status=$?
		if [ $status -ne 0 ] && [ $status -ne 4 ]; then cat "$work/err"; exit 1; fi # 4: everything is dead, which a guard refuses
		read -r wall user sys kib < <(tail -n 1 "$work/time")
		read -r best least < <(awk -v w="$wall" -v c="$user" -v s="$sys" -v b="$best" -v l="$least" 'BEGIN{c+=s; print (w<b?w:b), (c<l?c:l)}')
		if [ "$kib" -gt "$peak" ]; then peak=$kib; fi
	done
	printf '  %-26s %7.2f s  %7.2f CPU-s  %5d MiB\n' "$name" "$best" "$least" $((peak / 1024))
	last_wall=$best last_cpu=$least last_peak=$((peak / 1024))
}

plan() { # NAME TABLE FROM-BELOW-THE-TABLE MANIFEST
	measure "$1" "$work/lakesweep" plan "$2" --mode full --progress none --inventory "$4" \
		--map "s3://example-lake/warehouse/sales/events$3=file://$2$3"
}

duck() { # NAME SQL
	measure "$1" "$work/venv/bin/python" -c '
import duckdb, sys
db = duckdb.connect()
db.execute("SET threads = 2; SET memory_limit = \"2GB\"; SET temp_directory = \"'"$TMPDIR"'\"")
print(db.execute(sys.argv[1]).fetchall())' "$2"
}

compare() {
	awk -v w="$last_wall" -v c="$last_cpu" -v m="$last_peak" -v W="$plan_wall" -v C="$plan_cpu" -v M="$plan_peak" -v n="$rows" 'BEGIN {
		printf "  %-26s CPU %.2f, wall %.2f, memory %.2f; %.2f million rows a CPU second, %.2f a second\n", "lakesweep / DuckDB", C/c, W/w, M/m, n/C/1e6, n/W/1e6 }'
}

hour=/year=2015/month=01/day=01/hour=00
for format in parquet csv; do
	manifest=$(echo "$work/$format"/*/daily-$format/*/manifest.json)
	files="$work/$format/*/daily-$format/data/*"
	if [ $format = parquet ]; then
		from="read_parquet('$files')"
	else
		from="read_csv('$files', header = false, columns = {bucket: 'VARCHAR', key: 'VARCHAR', version_id: 'VARCHAR', is_latest: 'BOOLEAN', is_delete_marker: 'BOOLEAN', size: 'BIGINT', last_modified_date: 'TIMESTAMP', e_tag: 'VARCHAR', storage_class: 'VARCHAR'})"
	fi
	echo "$format, $rows rows"
	for case in outside protected dead; do
		case $case in
		outside) plan "rows outside" "$work/empty" $hour "$manifest" ;;
		protected) plan "rows protected" "$work/live" /year=2015/month=01 "$manifest" ;;
		dead) plan "rows dead" "$work/empty" "" "$manifest" ;;
		esac
		plan_wall=$last_wall plan_cpu=$last_cpu plan_peak=$last_peak
		if [ $case = dead ]; then
			duck "DuckDB sorts and writes" "COPY (SELECT key, size, last_modified_date, e_tag FROM $from WHERE is_latest AND NOT is_delete_marker ORDER BY key) TO '$work/tmp/sorted.parquet' (FORMAT parquet, COMPRESSION zstd)"
			rm -f "$work/tmp/sorted.parquet"
		elif [ $case = outside ]; then
			duck "DuckDB reads" "SELECT count(*), max(bucket), max(key), sum(size), max(last_modified_date), max(e_tag) FROM $from WHERE is_latest AND NOT is_delete_marker"
		else
			echo "  (replay of its log included)"
			continue
		fi
		compare
	done
done
