"""Hudi 1.2.0 on Spark refuses commits that refer to blobs which lakesweep is deleting (RFC-100's scenarios A to D).

suite.py JAR BINARY [WORD…]    the jar of jvm/hudi-check and lakesweep; the scenarios whose names contain one of the words
"""
import contextlib
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import time

os.environ["TZ"] = "UTC"
time.tzset()
CACHE = os.environ["INTEROP_CACHE"]
JAR, BINARY = sys.argv[1:3]
WORK = tempfile.mkdtemp(prefix="lakesweep-check-")
PLAIN = {k: v for k, v in os.environ.items() if not k.startswith("LAKESWEEP")}
for key in set(os.environ) - set(PLAIN):
    del os.environ[key]  # variables LAKESWEEP_… are flags to the binary that the JVM runs
OPTIONS = {
    "hoodie.clean.automatic": "false", "hoodie.archive.automatic": "false", "hoodie.embed.timeline.server": "false", "hoodie.parquet.small.file.limit": "0",
    "hoodie.compact.inline": "false", "hoodie.compact.inline.max.delta.commits": "1", "hoodie.insert.shuffle.parallelism": "1", "hoodie.upsert.shuffle.parallelism": "1",
    "hoodie.write.concurrency.mode": "optimistic_concurrency_control", "hoodie.clean.failed.writes.policy": "LAZY",
    "hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.FileSystemBasedLockProvider",
    "hoodie.write.lock.conflict.resolution.strategy": "dev.lakesweep.hudi.BlobConflictResolutionStrategy",
    "hoodie.write.commit.retry.on.conflict.enable": "false", "hoodie.spark.sql.insert.into.operation": "upsert", "hoodie.lakesweep.binary": BINARY,
}
# A single writer, whom Hudi doesn't ask the strategy.
ALONE = {"hoodie.write.concurrency.mode": "single_writer", "hoodie.clean.failed.writes.policy": "EAGER", "hoodie.precommit.validators": "dev.lakesweep.hudi.BlobPreCommitValidator"}
INSERT = {"hoodie.spark.sql.insert.into.operation": "insert"}
BULK = {"hoodie.spark.sql.insert.into.operation": "bulk_insert"}
RECORDS = {**BULK, "hoodie.datasource.write.row.writer.enable": "false"}


def session():
    from pyspark.sql import SparkSession
    builder = SparkSession.builder.master("local[1]")
    for key, value in {
        "spark.jars": "%s/jars/hudi-spark3.5-bundle_2.12-1.2.0.jar,%s" % (CACHE, JAR), "spark.driver.memory": "2g", "spark.ui.enabled": "false",
        "spark.serializer": "org.apache.spark.serializer.KryoSerializer", "spark.kryo.registrator": "org.apache.spark.HoodieSparkKryoRegistrar",
        "spark.sql.extensions": "org.apache.spark.sql.hudi.HoodieSparkSessionExtension", "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.hudi.catalog.HoodieCatalog",
        "spark.sql.shuffle.partitions": "1", "spark.default.parallelism": "1", "spark.sql.session.timeZone": "UTC", "spark.sql.warehouse.dir": WORK + "/warehouse",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -Duser.timezone=UTC -Dderby.system.home=" + WORK,
    }.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    for key, value in OPTIONS.items():
        spark.conf.set(key, value)
    return spark


@contextlib.contextmanager
def settings(spark, more):
    """Other settings for a while."""
    for key, value in more.items():
        spark.conf.set(key, value)
    try:
        yield
    finally:
        for key in more:
            if key in OPTIONS:
                spark.conf.set(key, OPTIONS[key])
            else:
                spark.conf.unset(key)


class World:
    """A table with one row to begin with, and its blobs X, Y and Z."""

    def __init__(self, spark, name, kind="cow"):
        self.spark, self.name, self.root, self.blobs = spark, "t_" + name, WORK + "/" + name, WORK + "/" + name + "-blobs"
        os.makedirs(self.blobs)
        for b in "XYZ":
            with open(self.blobs + "/" + b, "w") as f:
                f.write("bytes of " + b)
            os.utime(self.blobs + "/" + b, (time.time() - 90000,) * 2)
        spark.sql("CREATE TABLE %s (id STRING, img BLOB, ts BIGINT) USING hudi TBLPROPERTIES ('type'='%s','primaryKey'='id','preCombineField'='ts','hoodie.table.timeline.timezone'='UTC') LOCATION '%s'" % (self.name, kind, self.root))

    def write(self, row, blob, how="INSERT INTO", **options):
        with settings(self.spark, options):
            self.spark.sql(how + " %s SELECT '%s', named_struct('type','OUT_OF_LINE','data',cast(null as binary),'reference',named_struct('external_path','%s/%s','offset',cast(null as bigint),'length',cast(null as bigint),'managed',true)), CAST(%d AS BIGINT)"
                           % (self.name, row, self.blobs, blob, time.time_ns() // 1000))

    def refused(self, row, blob, how="INSERT INTO", **options):
        """Whether a write is refused, for the blob."""
        try:
            self.write(row, blob, how, **options)
        except Exception as e:
            text = str(e)
            assert "being deleted" in text and "/" + blob in text, text[:3000]
            return True
        return False

    def clean(self, *args, expect=0):
        with open(WORK + "/hudi.properties", "w") as f:
            f.write("hoodie.write.lock.provider=org.apache.hudi.client.transaction.lock.FileSystemBasedLockProvider\n")
        done = subprocess.run([BINARY, "clean", self.root, "--timeline-zone", "UTC", "--retain-commits", "1", "--config", WORK + "/hudi.properties", "--unsafe-mostly-dead", self.root,
                               "--blobs", "delete", "--blob-root", self.blobs, "--blob-min-age", "0s", "--yes", "--progress", "none", "-o", "json", *args], capture_output=True, text=True, env=PLAIN, timeout=300)
        assert done.returncode == expect, (done.returncode, done.stdout[-2000:], done.stderr[-2000:])

    def inflight(self):
        """Makes the newest clean requested and inflight, as while it runs."""
        for name in self.timeline("*.clean")[-1:] + self.timeline(".*.clean.crc"):
            os.remove(name)

    def there(self):
        return "".join(b for b in "XYZ" if os.path.exists(self.blobs + "/" + b))

    def read(self):
        """Every row's bytes, by Hudi's own reader of blobs."""
        return sorted((r[0], bytes(r[1]).decode()) for r in self.spark.sql("SELECT id, read_blob(img) FROM " + self.name).collect())

    def timeline(self, pattern):
        return sorted(glob.glob(self.root + "/.hoodie/timeline/" + pattern))


def expired(spark, name, kind="cow"):
    w = World(spark, name, kind)
    w.write("1", "X")
    w.write("1", "Y")
    w.write("1", "Y")
    return w


def compacted(spark, name):
    """As expired, merge on read: an old slice refers to X and Y, a log file to Z."""
    w = expired(spark, name, "mor")
    spark.sql("CALL run_compaction(op => 'scheduleandexecute', table => '%s')" % w.name)
    w.write("1", "Z")
    return w


def a(spark):
    w = expired(spark, "a")
    w.write("2", "X")  # before the clean is planned
    w.clean("--blob-grace", "0s", "--blobs-wait")
    assert w.there() == "XYZ", w.there()
    assert w.read() == [("1", "bytes of Y"), ("2", "bytes of X")], w.read()


def b(spark):
    w = expired(spark, "b")
    w.clean("--blob-grace", "7d")
    w.inflight()
    assert w.refused("2", "X"), "a write of X was committed while a clean is inflight that lets X go"
    assert w.refused("2", "X", **BULK), "the row writer's write of X was committed while a clean is inflight that lets X go"
    w.write("2", "Z")  # another blob
    assert w.read() == [("1", "bytes of Y"), ("2", "bytes of Z")], w.read()


def c(spark, name="c"):
    w = expired(spark, name)
    w.clean("--blob-grace", "0s", "--blobs-wait")
    assert w.there() == "YZ", w.there()
    ended, = glob.glob(w.root + "/.hoodie/.aux/clean/*.blob_drain")
    os.remove(ended)  # X is deleted, and the drain hasn't ended
    assert w.refused("2", "X"), "a write of X was committed although a drain has deleted X"
    assert w.read() == [("1", "bytes of Y")], w.read()


def d(spark, name="d"):
    w = expired(spark, name)
    w.clean("--blob-grace", "7d")
    completed, = w.timeline("*.clean")
    later = completed.rsplit("/", 1)[1].split("_")[0] + "_" + time.strftime("%Y%m%d%H%M%S000", time.gmtime(time.time() + 120)) + ".clean"
    os.rename(completed, completed.rsplit("/", 1)[0] + "/" + later)  # completed after the write below begins
    assert w.refused("2", "X"), "a write of X was committed although a clean was completed since it began"
    w.write("2", "Z")


def logs(spark):
    w = compacted(spark, "logs")
    w.clean("--blob-grace", "7d")
    w.inflight()
    assert w.refused("1", "X"), "an update of X in a log was committed while a clean is inflight that lets X go"
    assert w.read() == [("1", "bytes of Z")], w.read()


def alone(spark, kind):
    """The writes of a single writer that Hudi asks its validators of, and those that it doesn't."""
    with settings(spark, ALONE):
        w = compacted(spark, "alone_mor") if kind == "mor" else expired(spark, "alone_cow")
        w.clean("--blob-grace", "7d")
        w.inflight()
        for how, more in (("INSERT INTO", {}), ("INSERT INTO", INSERT), ("INSERT INTO", RECORDS), ("INSERT OVERWRITE TABLE", {})):
            assert w.refused("1", "X", how, **more), "%s %s of X was committed while a clean is inflight that lets X go" % (how, more)
            assert not w.refused("1", "Z", how, **more)
        assert w.read() == [("1", "bytes of Z")], w.read()
        spark.sql("CALL run_clustering(op => 'scheduleandexecute', table => '%s')" % w.name)
        if kind == "mor":
            w.write("1", "Z")
            spark.sql("CALL run_compaction(op => 'scheduleandexecute', table => '%s')" % w.name)
        assert w.read() == [("1", "bytes of Z")], w.read()
        assert not w.refused("2", "X", **BULK), "Hudi does ask its validators of the row writer: say so in docs/blobs.md"


def alone_later(spark):
    with settings(spark, ALONE):
        c(spark, "alone_c")
        d(spark, "alone_d")


def figures(spark):
    w = expired(spark, "figures")
    w.clean("--blob-grace", "0s", "--blobs-wait")
    with open(w.timeline("*.clean")[0], "rb") as f:
        assert b"blobCleanStats" in f.read(), "the clean says nothing of blobs"
    shown = spark.sql("CALL show_cleans(table => '%s')" % w.name).collect()
    assert len(shown) == 1 and shown[0]["total_files_deleted"] == 1, shown
    assert spark.sql("CALL show_cleans_metadata(table => '%s')" % w.name).collect()
    w.write("1", "Z")
    spark.sql("CALL create_savepoint(table => '%s', commit_time => '%s')" % (w.name, w.timeline("*.commit")[-1].rsplit("/", 1)[1].split("_")[0]))
    spark.sql("CALL run_clean(table => '%s', clean_policy => 'KEEP_LATEST_COMMITS', retain_commits => 1)" % w.name)
    w.clean("--blob-grace", "0s", "--blobs-wait")
    assert w.read() == [("1", "bytes of Z")], w.read()


def finished(spark):
    w = expired(spark, "finished")
    w.clean("--blob-grace", "7d")
    completed, = w.timeline("*.clean")
    for name in [completed] + w.timeline("*.clean.inflight") + w.timeline(".*.clean*.crc"):
        os.remove(name)  # as if we had died after we had published it
    spark.sql("CALL run_clean(table => '%s', clean_policy => 'KEEP_LATEST_COMMITS', retain_commits => 1)" % w.name)
    assert len(w.timeline("*.clean")) >= 1 and w.there() == "XYZ", (w.timeline("*.clean*"), w.there())
    w.clean("--blob-grace", "0s", "--blobs-wait")
    assert w.there() == "YZ", w.there()
    assert w.read() == [("1", "bytes of Y")], w.read()


def main():
    spark = session()
    passed = failed = 0
    for name, run in (("A: the write is committed before the clean is planned", a), ("B: the write comes while the clean is inflight", b),
                      ("C: the write comes after the delete, before the drain's end", c), ("D: the clean is completed since the write began", d),
                      ("B, in a log file", logs),
                      ("a single writer, copy on write", lambda spark: alone(spark, "cow")), ("a single writer, merge on read", lambda spark: alone(spark, "mor")),
                      ("a single writer, C and D", alone_later), ("Hudi reads a clean that tells of blobs", figures),
                      ("Hudi finishes our clean, and its blobs go all the same", finished)):
        if sys.argv[3:] and not any(word in name for word in sys.argv[3:]):
            continue
        try:
            run(spark)
            passed += 1
            print("ok   " + name, flush=True)
        except Exception as e:
            failed += 1
            print("FAIL %s: %s" % (name, str(e).split("\n\tat ")[0][:900]), flush=True)
    print("%d passed, %d failed" % (passed, failed))
    spark.stop()
    shutil.rmtree(WORK, ignore_errors=True)
    sys.exit(failed > 0)


main()
