"""A Hudi of one version on Spark: its writers, readers, table services and judges."""
import glob
import json
import os
import re
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from common import CACHE, lakesweep, tree

HUDI = sys.argv[1]
DATA = r"\.parquet$|(^|/)\.[^/.][^/]*\.log\.[^/]*(?<!\.crc)$"  # paths of base and log files
WORK = tempfile.mkdtemp(prefix="lakesweep-hudi-")
_spark = None

# Hudi cleans, compacts, clusters and archives only when told to, and makes a new file group for new rows.
COMMON = {
    "hoodie.clean.automatic": "false", "hoodie.clean.async.enabled": "false", "hoodie.archive.automatic": "false", "hoodie.compact.inline": "false",
    "hoodie.compact.inline.max.delta.commits": "1", "hoodie.compact.schedule.inline": "false", "hoodie.datasource.compaction.async.enable": "false",
    "hoodie.parquet.small.file.limit": "0", "hoodie.merge.small.file.group.candidates.limit": "0", "hoodie.embed.timeline.server": "false",
    "hoodie.insert.shuffle.parallelism": "1", "hoodie.upsert.shuffle.parallelism": "1", "hoodie.delete.shuffle.parallelism": "1", "hoodie.bulkinsert.shuffle.parallelism": "1",
    "hoodie.index.bloom.num_entries": "50", "hoodie.bloom.index.filter.dynamic.max.entries": "200", "hoodie.bloom.index.filter.type": "SIMPLE",
    "hoodie.metadata.index.bloom.filter.file.group.count": "1", "hoodie.metadata.index.column.stats.file.group.count": "1",
    "hoodie.metadata.record.index.min.filegroup.count": "1", "hoodie.metadata.record.index.max.filegroup.count": "1",
    "hoodie.metadata.global.record.level.index.min.filegroup.count": "1", "hoodie.metadata.global.record.level.index.max.filegroup.count": "1",
    "hoodie.keep.min.commits": "200", "hoodie.keep.max.commits": "300", "hoodie.spark.sql.insert.into.operation": "upsert",
    "hoodie.metadata.compact.max.delta.commits": "6",
    "hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.InProcessLockProvider",
}


def spark():
    """The one Spark session, made when first needed."""
    global _spark
    if _spark is None:
        from pyspark.sql import SparkSession
        options = {
            "spark.jars": "%s/jars/hudi-spark3.5-bundle_2.12-%s.jar" % (CACHE, HUDI), "spark.driver.memory": "2g", "spark.ui.enabled": "false",
            "spark.serializer": "org.apache.spark.serializer.KryoSerializer", "spark.kryo.registrator": "org.apache.spark.HoodieSparkKryoRegistrar",
            "spark.sql.extensions": "org.apache.spark.sql.hudi.HoodieSparkSessionExtension",
            "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.hudi.catalog.HoodieCatalog",
            "spark.sql.shuffle.partitions": "1", "spark.default.parallelism": "1", "spark.sql.session.timeZone": "UTC",
            "spark.sql.warehouse.dir": WORK + "/warehouse", "spark.sql.adaptive.enabled": "false", "spark.ui.showConsoleProgress": "false",
            "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -Duser.timezone=UTC -Dderby.system.home=" + WORK,
            "spark.sql.codegen.wholeStage": "false",
        }
        builder = SparkSession.builder.master("local[2]")
        for key, value in options.items():
            builder = builder.config(key, value)
        _spark = builder.getOrCreate()
        _spark.sparkContext.setLogLevel("OFF")
    return _spark


def stop():
    if _spark is not None:
        _spark.stop()
    shutil.rmtree(WORK, ignore_errors=True)


_set = set()


def settings(props):
    """Makes props, over COMMON, the session's Hudi settings."""
    for key in _set:
        spark().conf.unset(key)
    _set.clear()
    for key, value in {**COMMON, **props}.items():
        spark().conf.set(key, value)
        _set.add(key)


class Table:
    """A Hudi table on disk, under a name in Spark's catalog."""
    columns = "id STRING, v INT, ts BIGINT, p STRING"
    flags = ()  # of each clean

    def __init__(self, root, props, kind, partitioned=True, create=False):
        self.root, self.props, self.kind, self.partitioned = root, dict(props), kind, partitioned
        self.name = "t_" + re.sub(r"\W", "_", os.path.relpath(root, WORK))
        if create:
            own = {"type": kind, "primaryKey": "id", "preCombineField": "ts", **{k: v for k, v in {**COMMON, **props}.items() if k.startswith(("hoodie.metadata.", "hoodie.write.table", "hoodie.write.auto", "hoodie.table."))}}
            listed = ", ".join("'%s'='%s'" % pair for pair in own.items())
            self.sql("CREATE TABLE %s (%s) USING hudi TBLPROPERTIES (%s) %s LOCATION '%s'" % (self.name, self.columns, listed, "PARTITIONED BY (p)" if partitioned else "", root))
        else:
            self.sql("CREATE TABLE %s USING hudi LOCATION '%s'" % (self.name, root))

    def sql(self, text):
        settings(self.props)
        return spark().sql(text)

    def call(self, procedure, **args):
        text = ", ".join("%s => %s" % (k, "'%s'" % v if isinstance(v, str) else str(v).lower()) for k, v in {"table": self.name, **args}.items())
        return [row.asDict() for row in self.sql("CALL %s(%s)" % (procedure, text)).collect()]

    # --- writes

    def value(self, v):
        """A number in SQL, as the column v holds it."""
        return "%d" % v

    def upsert(self, *rows):
        self.sql("INSERT INTO %s %s" % (self.name, " UNION ALL ".join("SELECT '%s', %s, CAST(%d AS BIGINT), '%s'" % (i, self.value(v), ts, p) for i, v, ts, p in rows)))

    def update(self, v, *ids):
        self.sql("UPDATE %s SET v = %s, ts = ts + 1 WHERE id IN (%s)" % (self.name, self.value(v), ", ".join("'%s'" % i for i in ids)))

    def delete(self, *ids):
        self.sql("DELETE FROM %s WHERE id IN (%s)" % (self.name, ", ".join("'%s'" % i for i in ids)))

    def overwrite(self, p, *rows):
        self.sql("INSERT OVERWRITE TABLE %s PARTITION (p = '%s') %s" % (self.name, p, " UNION ALL ".join("SELECT '%s', %s, CAST(%d AS BIGINT)" % (i, self.value(v), ts) for i, v, ts in rows)))

    def drop(self, p):
        self.sql("ALTER TABLE %s DROP PARTITION (p = '%s')" % (self.name, p))

    def compact(self, op="scheduleandexecute"):
        version = self.props.get("hoodie.write.table.version")
        options = {"options": "hoodie.write.table.version=%s,hoodie.write.auto.upgrade=false,hoodie.compact.inline.max.delta.commits=1" % version} if version else {}
        return self.call("run_compaction", op=op, **options)

    def cluster(self):
        return self.call("run_clustering", op="scheduleandexecute")

    def clean(self, policy, n):
        """Hudi's own clean."""
        arg = {"KEEP_LATEST_COMMITS": "retain_commits", "KEEP_LATEST_FILE_VERSIONS": "file_versions_retained", "KEEP_LATEST_BY_HOURS": "hours_retained"}[policy]
        return self.call("run_clean", clean_policy=policy, **{arg: n})

    # --- reads

    def rows(self, at=None):
        """All rows, as of an instant if one is given, past every cache."""
        settings(self.props)
        reader = spark().read.format("hudi").option("hoodie.metadata.enable", str(self.listed()).lower())
        if at:
            reader = reader.option("as.of.instant", at)
        return self.numbers(reader.load(self.root))

    def numbers(self, frame):
        return sorted((r["id"], r["v"], r["p"]) for r in frame.select("id", "v", "p").collect())

    def listed(self):
        """Whether the metadata table lists the table."""
        with open(self.root + "/.hoodie/hoodie.properties") as f:
            return bool(re.search(r"^hoodie\.table\.metadata\.partitions=.*\bfiles\b", f.read(), re.M))

    # --- the timeline, by its names

    def timeline(self):
        folder = self.root + "/.hoodie/timeline"
        return folder if os.path.isdir(folder) else self.root + "/.hoodie"

    def instants(self, *actions):
        """Requested times of completed instants, in order."""
        out = []
        for name in os.listdir(self.timeline()):
            match = re.match(r"(\d{17})(_\d+)?\.(commit|deltacommit|replacecommit|clean|savepoint|rollback|restore)$", name)
            if match and match[3] in (actions or ("commit", "deltacommit", "replacecommit")):
                out.append(match[1])
        return sorted(out)

    def files(self):
        """Base and log files."""
        return {p for p in tree(self.root) if not p.startswith(".hoodie/") and re.search(DATA, p)}

    # --- judges

    def shown(self, instant):
        """A clean as Hudi shows it: files deleted, of them with success and without, earliest commit to retain by result and by plan."""
        if HUDI.startswith("1.0."):
            return self.read_clean(instant)  # these procedures came with 1.1
        clean, = [r for r in self.call("show_cleans") if r["clean_time"] == instant]
        plan, = [r for r in self.call("show_clean_plans") if r["plan_time"] == instant]
        parts = [r for r in self.call("show_cleans_metadata") if r["clean_time"] == instant]
        return (clean["total_files_deleted"], sum(r["success_delete_files"] for r in parts), sum(r["failed_delete_files"] for r in parts),
                clean["earliest_commit_to_retain"], plan["earliest_instant_to_retain"] or "")

    def client(self):
        """Hudi's own view of the table."""
        hudi = spark()._jvm.org.apache.hudi
        conf = hudi.hadoop.fs.HadoopFSUtils.getStorageConf(spark()._jsc.hadoopConfiguration())
        return hudi, hudi.common.table.HoodieTableMetaClient.builder().setConf(conf).setBasePath(self.root).build()

    def archived_cleans(self):
        """{instant: files deleted} of cleans on the archived timeline, as Hudi reads them."""
        timeline = self.client()[1].getArchivedTimeline()
        timeline.loadCompletedInstantDetailsInMemory()
        return {i.requestedTime(): timeline.readCleanMetadata(i).getTotalFilesDeleted() for i in timeline.getInstants() if i.getAction() == "clean" and i.isCompleted()}

    def read_clean(self, instant):
        """shown, by the classes that read cleans in Hudi."""
        hudi, client = self.client()
        at = client.getActiveTimeline().getCleanerTimeline().filterCompletedInstants().lastInstant().get()
        assert at.requestedTime() == instant, at.requestedTime()
        utils = hudi.common.util.CleanerUtils
        clean, plan = utils.getCleanerMetadata(client, at), utils.getCleanerPlan(client, client.getInstantGenerator().getCleanRequestedInstant(instant))
        parts = list(clean.getPartitionMetadata().values())
        earliest = plan.getEarliestInstantToRetain()
        return (clean.getTotalFilesDeleted(), sum(len(p.getSuccessDeleteFiles()) for p in parts), sum(len(p.getFailedDeleteFiles()) for p in parts),
                clean.getEarliestCommitToRetain(), earliest.getTimestamp() if earliest else "")

    def sound(self, rows):
        """Hudi reads these rows, and its metadata table lists what is in the folders."""
        got = self.rows()
        assert got == rows, "Hudi reads %s, want %s" % (got, rows)
        if not self.listed():
            return
        bad = []
        for r in self.call("validate_metadata_table_files", verbose=True):
            listed = r.get("is_present_in_metadata", r.get("is_resent_in_metadata"))
            if listed != r["is_present_in_fs"]:
                bad.append(r)
        assert not bad, "metadata table and folder differ: %s" % bad[:3]

    def copy(self, name):
        """The table in another place, with times: version 6 goes by those of timeline files."""
        root = os.path.join(WORK, name)
        shutil.copytree(self.root, root, copy_function=shutil.copy2)
        return type(self)(root, self.props, self.kind, self.partitioned)

    def cleaned(self, args, before):
        """Called after each clean of ours, with its arguments and the files that were there before."""


def clean(table, *flags, expect=0):
    """Cleans by lakesweep; returns the files that it says it deleted, checked against the disk."""
    before = table.files()
    args = ["clean", table.root, "--yes", "-o", "jsonl", "--timeline-zone", "UTC", "--no-other-writers", "--unsafe-mostly-dead", table.root, *table.flags, *flags]
    out = lakesweep(*args, expect=expect)
    said = {r["path"] for r in map(json.loads, out.splitlines()) if r.get("message_type") == "outcome" and r["outcome"] == "deleted" and re.search(DATA, r["path"])}
    gone = before - table.files()
    assert gone == said, "gone %s, said %s" % (sorted(gone - said)[:4], sorted(said - gone)[:4])
    table.cleaned(args, before)
    return gone


def pending(table):
    """Requested times of cleans that aren't complete."""
    names = [os.path.basename(p) for p in glob.glob(table.timeline() + "/*.clean*")]
    return sorted({n[:17] for n in names} - {n[:17] for n in names if n.endswith(".clean")})
