"""Plans a table from lists that other programs wrote; each plan must be that of a listing."""
import datetime, json, os, subprocess, sys, tempfile

import deltalake
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
from pyiceberg.catalog.sql import SqlCatalog

here = os.path.dirname(os.path.abspath(__file__))
project = os.path.normpath(os.path.join(here, "../../.."))
work = tempfile.mkdtemp(prefix="lakesweep-inventory-")
table = os.path.join(work, "table")
lists = os.path.join(work, "lists")
os.makedirs(lists)
old = datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc)
passed = failed = 0


def check(name, ok, detail=""):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print("FAIL", name, detail)


def write_table():
    """Live files and orphans, with names that lists are apt to spoil."""
    adds = []
    for n, name in enumerate(["p=1/live", "p=1/a b+c", "p=2/50%25", "p=2/é,\"q\""]):
        put(name)
        quoted = name.replace("%", "%25").replace(" ", "%20").replace('"', "%22")
        adds.append({"add": {"path": quoted, "partitionValues": {"p": name[2]}, "size": 9, "modificationTime": int(old.timestamp() * 1000), "dataChange": True}})
    for name in ["p=1/orphan", "p=1/x y+z", "p=2/100%", "p=2/ü", "p=1/_hidden/f", "deep/er/orphan"]:
        put(name)
    schema = {"type": "struct", "fields": [{"name": c, "type": "string", "nullable": True, "metadata": {}} for c in ["p", "v"]]}
    head = [{"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}},
            {"metaData": {"id": "00000000-0000-4000-8000-000000000001", "format": {"provider": "parquet", "options": {}}, "schemaString": json.dumps(schema),
                          "partitionColumns": ["p"], "configuration": {}, "createdTime": 0}}]
    log = os.path.join(table, "_delta_log")
    os.makedirs(log)
    name = os.path.join(log, "0" * 20 + ".json")
    with open(name, "w") as f:
        f.write("".join(json.dumps(a) + "\n" for a in head + adds))
    os.utime(name, (old.timestamp(),) * 2)


def put(name):
    path = os.path.join(table, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write("x" * 9)
    os.utime(path, (old.timestamp(),) * 2)


def plan(*flags):
    done = subprocess.run([os.environ["LAKESWEEP"], "plan", table, "--mode", "full", "--retain", "7d", "--unsafe-mostly-dead", table, "--progress", "none",
                           "-o", "paths", *flags], capture_output=True, text=True)
    return sorted(p for p in done.stdout.splitlines() if not p.endswith("/")), done.returncode, done.stderr


def duckdb(sql):
    subprocess.run(["duckdb", "-c", sql], check=True, capture_output=True)


write_table()
want, code, err = plan()
check("listing", code == 0 and len(want) == 5, err)
rows = []
for folder, _, names in os.walk(table):
    for name in names:
        path = os.path.join(folder, name)
        rows.append({"path": path, "length": os.path.getsize(path), "isDir": False, "modificationTime": old.replace(tzinfo=None)})
listed = pa.Table.from_pylist(rows, schema=pa.schema([("path", pa.string()), ("length", pa.int64()), ("isDir", pa.bool_()), ("modificationTime", pa.timestamp("us"))]))


def same(name, *flags):
    got, code, err = plan(*flags)
    check(name, (got, code) == (want, 0), f"{got}, status {code}: {err}")


def at(name):
    return os.path.join(lists, name)


for codec in ["none", "snappy", "gzip", "zstd", "brotli", "lz4"]:
    pq.write_table(listed, at(codec + ".parquet"), compression=codec)
    same("PyArrow, Parquet, " + codec, "--inventory", at(codec + ".parquet"))
pq.write_table(listed, at("v1.parquet"), data_page_version="1.0", use_dictionary=False, version="1.0", coerce_timestamps="ms", row_group_size=3)
same("PyArrow, Parquet, old pages", "--inventory", at("v1.parquet"))
pq.write_table(listed, at("int96.parquet"), use_deprecated_int96_timestamps=True, use_byte_stream_split=False)
same("PyArrow, Parquet, INT96", "--inventory", at("int96.parquet"))
pq.write_table(listed, at("delta.parquet"), use_dictionary=False, column_encoding={"path": "DELTA_BYTE_ARRAY", "length": "DELTA_BINARY_PACKED"})
same("PyArrow, Parquet, delta encodings", "--inventory", at("delta.parquet"))
pyarrow.csv.write_csv(listed, at("arrow.csv"))
same("PyArrow, CSV", "--inventory", at("arrow.csv"))

for form, options in {"parquet": "FORMAT parquet, ROW_GROUP_SIZE 2048", "csv": "FORMAT csv, HEADER", "csv.gz": "FORMAT csv, HEADER, COMPRESSION gzip", "json": "FORMAT json"}.items():
    duckdb(f"COPY (SELECT * FROM '{at('none.parquet')}') TO '{at('duck.' + form)}' ({options})")
    same("DuckDB, " + form, "--inventory", at("duck." + form))
same("a query by DuckDB", "--inventory", at("duck.csv"), "--inventory-sql", "SELECT * FROM inventory WHERE size > 0")
same("a query over a file", "--inventory-sql", f"SELECT path, length, modificationTime FROM '{at('snappy.parquet')}'", "--inventory-taken", "2021-01-01T00:00:00Z")

deltalake.write_deltalake(at("delta"), listed)
same("delta-rs", "--inventory", at("delta"), "--inventory-taken", "2021-01-01T00:00:00Z")

catalog = SqlCatalog("c", uri=f"sqlite:///{work}/catalog.db", warehouse=f"file://{work}/warehouse")
catalog.create_namespace("inv")
for version in ["1", "2"]:
    ice = catalog.create_table("inv.v" + version, schema=listed.schema, properties={"format-version": version})
    for n in range(0, listed.num_rows, 4):
        ice.append(listed.slice(n, 4))
    ice.append(pa.Table.from_pylist([{"path": table + "/never", "length": 1, "isDir": False, "modificationTime": old.replace(tzinfo=None)}], schema=listed.schema))
    ice.delete(f"path = '{table}/never'")
    folder = os.path.join(work, "warehouse/inv/v" + version)
    same("PyIceberg, format " + version, "--inventory", folder)
    with ice.update_schema() as change:
        change.rename_column("path", "object")
    same("PyIceberg, renamed column, format " + version, "--inventory", folder, "--inventory-columns", "path=object")
    moved = os.path.join(lists, "moved" + version)
    os.rename(folder, moved)
    same("PyIceberg, moved, format " + version, "--inventory", moved, "--inventory-columns", "path=object")

done = subprocess.run(["go", "test", "-count=1", "-v", "./inventory/duckdb"], cwd=project, capture_output=True, text=True)
check("package inventory/duckdb", done.returncode == 0 and "--- SKIP" not in done.stdout, done.stdout[-2000:])

print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
