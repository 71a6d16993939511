"""Writers, readers and judges of the Delta suite."""
import datetime
import glob
import json
import os
import shutil
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from common import CACHE, lakesweep, tree

WORK = tempfile.mkdtemp(prefix="lakesweep-delta-")
_spark = None


def spark():
    """The one Spark session, made when first needed."""
    global _spark
    if _spark is None:
        from pyspark.sql import SparkSession
        jars = ",".join(sorted(glob.glob(CACHE + "/jars/delta-*.jar")))
        options = {
            "spark.jars": jars, "spark.driver.memory": "1g", "spark.ui.enabled": "false",
            "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
            "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
            "spark.sql.shuffle.partitions": "1", "spark.default.parallelism": "1",
            "spark.sql.sources.parallelPartitionDiscovery.parallelism": "2",  # else VACUUM lists in 10,000 tasks
            "spark.databricks.delta.snapshotPartitions": "1", "spark.sql.session.timeZone": "UTC",
            "spark.databricks.delta.retentionDurationCheck.enabled": "false",
            "spark.sql.warehouse.dir": WORK + "/warehouse", "spark.sql.adaptive.enabled": "false",
            "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -Duser.timezone=UTC -Dderby.system.home=" + WORK,
            "spark.ui.showConsoleProgress": "false", "spark.sql.codegen.wholeStage": "false",
        }
        builder = SparkSession.builder.master("local[2]")
        for key, value in options.items():
            builder = builder.config(key, value)
        _spark = builder.getOrCreate()
        _spark.sparkContext.setLogLevel("OFF")
    return _spark


def sql(text):
    return spark().sql(text).collect()


def stop():
    if _spark is not None:
        _spark.stop()
    shutil.rmtree(WORK, ignore_errors=True)


def quoted(root):
    return "delta.`%s`" % root.replace("`", "``")


def forget():
    """Makes Spark read the log anew."""
    spark()._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()


# --- readers: all rows of a version, in an order that doesn't depend on files

def read_spark(root, version):
    df = spark().read.format("delta").option("versionAsOf", version).load(root)
    return sorted(json.dumps(r.asDict(recursive=True), default=str, sort_keys=True, ensure_ascii=False) for r in df.collect())


def read_rust(root, version):
    from deltalake import DeltaTable
    table = DeltaTable(root, version=version).to_pyarrow_table()
    return sorted(json.dumps(r, default=str, sort_keys=True, ensure_ascii=False) for r in table.to_pylist())


READERS = {"spark": read_spark, "delta-rs": read_rust}


def latest(root):
    return max(int(os.path.basename(p).split(".")[0]) for p in glob.glob(glob.escape(root) + "/_delta_log/*.json"))


def contents(root, versions):
    """{(reader, version): rows} of all that can be read now."""
    forget()
    out = {}
    for version in versions:
        for name, read in READERS.items():
            try:
                out[name, version] = read(root, version)
            except Exception:
                pass  # this reader can't, before lakesweep came: it is no judge of this version
    return out


# --- the tree on disk

def is_log(path):
    return path.startswith("_delta_log/")


def age(root, seconds):
    """Makes all files and directories so much older, and the log with them."""
    for path in tree(root):
        full = os.path.join(root, path)
        stat = os.stat(full)
        os.utime(full, ns=(stat.st_atime_ns, stat.st_mtime_ns - int(seconds * 1e9)))


def orphan(root, path, days=30):
    """Puts a file there that no log entry names, so many days old."""
    full = os.path.join(root, path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with open(full, "wb") as f:
        f.write(b"left over")
    at = time.time() - days * 86400
    os.utime(full, (at, at))


# --- lakesweep

def overrides(root):
    return ["--unsafe-retain-below", root, "--unsafe-mostly-dead", root]


def plan(root, *flags):
    """The dead files and directories of a plan, which must change nothing."""
    before = tree(root)
    out = lakesweep("plan", root, "-o", "paths", "-0", *overrides(root), *flags)
    changed = {p for p in before.keys() | tree(root).keys() if before.get(p) != tree(root).get(p)}
    assert not changed, "a plan changed %s" % sorted(changed)[:5]
    return {p for p in out.split("\0") if p}


def vacuum(root, *flags):
    """Runs a vacuum; returns what it says it deleted, checked against the disk."""
    before = tree(root)
    out = lakesweep("vacuum", root, "--yes", "-o", "jsonl", *overrides(root), *flags)
    deleted = {r["path"] for r in map(json.loads, out.splitlines()) if r.get("message_type") == "outcome" and r["outcome"] == "deleted"}
    after = tree(root)
    gone = {p for p in before if p not in after and not is_log(p)}
    beside = {p for p in gone if os.path.basename(p).startswith(".") and p.endswith(".crc")}
    assert {p.rstrip("/") for p in gone - beside} == {p.rstrip("/") for p in deleted}, "gone %s, said %s" % (sorted(gone - beside)[:5], sorted(deleted)[:5])
    changed = {p for p in after if p in before and not p.endswith("/") and before[p] != after[p] and os.path.basename(p) not in ("_last_vacuum_info", "._last_vacuum_info.crc")}
    assert not changed, "changed %s" % sorted(changed)[:5]
    new = {p for p in after if p not in before and not is_log(p)}
    assert not new, "new files %s" % sorted(new)[:5]
    return deleted


def spark_dry_run(root, hours=0):
    """What Delta-Spark's own VACUUM would delete, below root."""
    forget()
    prefix = "file:" + root + "/"
    out = set()
    for row in sql("VACUUM %s RETAIN %s HOURS DRY RUN" % (quoted(root), hours)):
        path = row[0]
        assert path.startswith(prefix), path
        out.add(path[len(prefix):])
    return {p for p in out if not os.path.isdir(os.path.join(root, p))}


def now():
    return datetime.datetime.now(datetime.timezone.utc)


def same(before, root, versions):
    """Every version that a reader could read, it reads as before."""
    after = contents(root, versions)
    judged = 0
    for (reader, version), rows in before.items():
        if version not in versions:
            continue
        judged += 1
        assert (reader, version) in after, "%s can't read version %d any more" % (reader, version)
        assert after[reader, version] == rows, "%s reads version %d differently" % (reader, version)
    assert judged, "no reader could read any of the versions %s" % list(versions)


def logged(root, how_many=1):
    """DESCRIBE HISTORY shows the START and END of each run."""
    forget()
    operations = [r["operation"] for r in sql("DESCRIBE HISTORY %s" % quoted(root))]
    assert operations.count("VACUUM START") == how_many and operations.count("VACUUM END") == how_many, operations
