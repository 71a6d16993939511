"""Writes the Iceberg tables of this folder. Run it here, in a venv with pyiceberg[pyarrow,sql-sqlite] 0.12:

    python make.py

journal: the columns of an S3 Metadata journal table, format 2, three appends and
a delete that rewrites a file, so that manifests hold existing and deleted entries.
old: a list of paths, format 1, partitioned.
"""
import datetime, os, shutil
import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog

here = os.path.dirname(os.path.abspath(__file__))
work = "/tmp/lakesweep-iceberg"
shutil.rmtree(work, ignore_errors=True)
os.makedirs(work)
catalog = SqlCatalog("c", uri=f"sqlite:///{work}/catalog.db", warehouse=f"file://{work}/warehouse")
catalog.create_namespace("inv")

journal = pa.schema([
    pa.field("bucket", pa.string(), nullable=False), pa.field("key", pa.string(), nullable=False),
    pa.field("sequence_number", pa.string(), nullable=False), pa.field("record_type", pa.string(), nullable=False),
    pa.field("record_timestamp", pa.timestamp("us"), nullable=False), pa.field("version_id", pa.string()),
    pa.field("is_delete_marker", pa.bool_()), pa.field("size", pa.int64()),
    pa.field("last_modified_date", pa.timestamp("us")), pa.field("e_tag", pa.string()), pa.field("storage_class", pa.string()),
])

def rows(*changes):
    at = datetime.datetime(2024, 1, 1)
    return pa.Table.from_pylist([{
        "bucket": "lake", "key": key, "sequence_number": f"{n:04d}", "record_type": kind, "record_timestamp": at,
        "size": None if kind == "DELETE" else 100 + n, "last_modified_date": None if kind == "DELETE" else at,
        "is_delete_marker": False, "e_tag": "e" * 32,
    } for n, kind, key in changes], schema=journal)

t = catalog.create_table("inv.journal", schema=journal)
t.append(rows((1, "CREATE", "t/a+b c.parquet"), (2, "CREATE", "t/b.parquet")))
t.append(rows((3, "DELETE", "t/gone.parquet"), (4, "UPDATE_METADATA", "t/c.parquet"), (5, "CREATE", "elsewhere/x")))
t.append(rows((6, "CREATE", "t/dropped.parquet"), (7, "CREATE", "t/d.parquet")))
t.delete("key = 't/dropped.parquet'")

paths = pa.schema([pa.field("path", pa.string()), pa.field("length", pa.int64()), pa.field("day", pa.string())])
old = catalog.create_table("inv.old", schema=paths, properties={"format-version": "1"})
with old.update_spec() as spec:
    spec.add_identity("day")
old.append(pa.table({"path": ["s3://lake/t/a", "s3://lake/t/b"], "length": [1, 2], "day": ["1", "2"]}, schema=paths))

for name in ["journal", "old"]:
    shutil.rmtree(f"{here}/{name}", ignore_errors=True)
    shutil.copytree(f"{work}/warehouse/inv/{name}", f"{here}/{name}")
