"""Tables as Hudi's writers and services leave them. Each function fills an empty table; its docstring says how it differs."""
from harness import HUDI

LEAN = {"hoodie.metadata.index.column.stats.enable": "false", "hoodie.metadata.index.partition.stats.enable": "false"}
INDEXED = {"hoodie.metadata.record.index.enable": "true", "hoodie.metadata.global.record.level.index.enable": "true"}
BLOOM = {"hoodie.metadata.index.bloom.filter.enable": "true", "hoodie.metadata.index.column.stats.enable": "true"}
BLOB_INDEXED = {**INDEXED, **LEAN, "hoodie.metadata.index.secondary.column": "v.reference.external_path", "hoodie.index.name": "blobpath"}
OLD = {"hoodie.write.auto.upgrade": "false"}
V6 = {"hoodie.write.table.version": "6", **OLD, **LEAN, "hoodie.compact.inline": "true"}
FIRST = [("a1", 1, 1, "p1"), ("a2", 1, 1, "p1"), ("b1", 1, 1, "p2"), ("c1", 1, 1, "p3")]
BEFORE_C, C = FIRST[:3], FIRST[3:]


def copy_on_write(t):
    """Updates, a savepoint, INSERT OVERWRITE of a partition, clustering, a delete, a dropped partition."""
    t.upsert(*BEFORE_C)
    t.update(2, "a1", "b1")
    t.call("create_savepoint", commit_time=t.instants()[-1])
    t.upsert(*C, ("a1", 3, 3, "p1"))
    t.overwrite("p2", ("b2", 1, 4), ("b3", 1, 4))
    t.upsert(("a3", 1, 5, "p1"))
    t.cluster()
    t.delete("a2")
    t.drop("p3")
    t.update(4, "a1", "b2")
    t.update(5, "a1")


def merge_on_read(t):
    """Log files, a savepoint within a log chain, two compactions, a delete, a rolled-back write, clustering."""
    t.upsert(*FIRST)
    t.update(2, "a1", "b1")
    t.call("create_savepoint", commit_time=t.instants()[-1])
    t.update(3, "a1")
    t.compact()
    t.update(4, "a1", "b1")
    t.delete("a2")
    t.update(99, "a1", "c1")
    t.call("rollback_to_instant", instant_time=t.instants()[-1])
    t.update(5, "b1")
    t.compact()
    t.cluster()
    t.update(6, "a1", "c1")
    t.update(7, "a1")


def dropped(t):
    """A savepoint, then one of its partitions is dropped."""
    t.upsert(*FIRST)
    t.call("create_savepoint", commit_time=t.instants()[-1])
    t.drop("p3")
    for v in range(2, 6):
        t.update(v, "a1")


def pending(t):
    """A compaction that is requested and not done, with writes after it."""
    t.upsert(*FIRST)
    t.update(2, "a1", "b1")
    t.compact()
    t.update(3, "a1", "b1")
    t.compact()
    t.update(4, "a1", "b1")
    t.compact("schedule")
    t.update(5, "a1", "c1")


def old(t):
    """Version 6, which Hudi's procedures don't know well: a savepoint, updates with compactions between them, a delete."""
    t.upsert(*FIRST)
    t.update(2, "a1", "b1")
    t.call("create_savepoint", commit_time=t.instants()[-1])
    for v in range(3, 6):
        t.update(v, "a1", "c1")
    t.delete("a2")


def plain(t):
    """Not partitioned, without a metadata table."""
    t.upsert(*FIRST[:2])
    for v in range(2, 6):
        t.update(v, "a1")
    t.delete("a2")


def updates(t):
    """Inserts, updates and a delete over two partitions."""
    t.upsert(*FIRST[:3])
    for v in range(2, 5):
        t.update(v, "a1", "b1")
    t.delete("a2")


def come_and_go(t):
    """Values that come back, and values that go."""
    for v in (6, 1, 7, 6, 8, 9):
        t.update(v, "a1")
    t.update(10, "b2")
    t.update(10, "a1")
    t.update(11, "b2")


def cow_blobs(t):
    """As copy_on_write, then values that come and go."""
    copy_on_write(t)
    come_and_go(t)


def cow_blobs_indexed(t):
    """The same without an overwritten partition, which Hudi 1.2.0 refuses where there is a secondary index."""
    t.upsert(*FIRST)
    t.update(2, "a1", "b1")
    t.call("create_savepoint", commit_time=t.instants()[-1])
    t.upsert(("a1", 3, 3, "p1"), ("b2", 1, 4, "p2"))
    t.cluster()
    t.delete("a2")
    come_and_go(t)


def mor_blobs(t):
    """As merge_on_read, then values that come and go in log files and compacted ones."""
    merge_on_read(t)
    for v in (8, 1, 9):
        t.update(v, "a1")
        t.update(v + 10, "c1")
        t.compact()
    t.update(12, "a1", "b1")
    t.update(8, "a1")


# Hudi 1.2.0 can't overwrite a partition of a table with these indexes (a NullPointerException).
# name: (fill, type, partitioned, settings)
ALL = {
    "1.2.0": {
        "cow": (copy_on_write, "cow", True, {**INDEXED, **LEAN}),
        "mor": (merge_on_read, "mor", True, {**INDEXED, **LEAN}),
        "mor_pending": (pending, "mor", True, LEAN),
        "mor_v6": (old, "mor", True, V6),
        "cow_dropped": (dropped, "cow", True, LEAN),
        "cow_stats": (updates, "cow", True, BLOOM),
        "cow_plain": (plain, "cow", False, {"hoodie.metadata.enable": "false"}),
        "cow_blobs": (cow_blobs, "cow", True, LEAN),
        "mor_blobs": (mor_blobs, "mor", True, LEAN),
        "cow_blobs_indexed": (cow_blobs_indexed, "cow", True, BLOB_INDEXED),
        "mor_blobs_indexed": (mor_blobs, "mor", True, BLOB_INDEXED),
    },
    "1.1.1": {
        "cow": (copy_on_write, "cow", True, LEAN),
        "mor": (merge_on_read, "mor", True, {**INDEXED, **LEAN}),
        "mor_v8": (pending, "mor", True, {"hoodie.write.table.version": "8", **OLD, **LEAN}),
    },
    "1.0.2": {
        "cow": (copy_on_write, "cow", True, {**INDEXED, **LEAN}),
        "mor": (merge_on_read, "mor", True, LEAN),
        "mor_v6": (old, "mor", True, V6),
    },
}[HUDI]
