#!/usr/bin/env python3
"""Delta tables by real writers, vacuumed by lakesweep, judged by real readers.

    suite.py [NAME…]     runs the scenarios whose names contain one of the words

Last line: 'N passed, N failed'.
"""
import os
import shutil
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import tables  # its harness finds common
from common import finish, judge
from harness import (WORK, contents, forget, lakesweep, latest, logged, orphan, plan, quoted, same, spark_dry_run, sql, stop, tree, vacuum)

FULL = ["--retain", "0s", "--mode", "full"]
_made = {}


def fresh(make, name):
    """A copy of the table that make writes, which is written once. Names with spaces and signs, for the paths' sake."""
    if make not in _made:
        root = os.path.join(WORK, "made", make.__name__ + " #1")
        os.makedirs(os.path.dirname(root), exist_ok=True)
        make(root)
        _made[make] = root
    root = os.path.join(WORK, name, make.__name__ + " #1")
    os.makedirs(os.path.dirname(root), exist_ok=True)
    shutil.copytree(_made[make], root, copy_function=shutil.copy2)
    return root


def live_after_full(make):
    """Retention 0: the latest version is read in full by both; Spark would have deleted the same files."""
    root = fresh(make, "full")
    last = latest(root)
    before = contents(root, [last])
    theirs = spark_dry_run(root)
    ours = plan(root, *FULL)
    files = {p for p in ours if not p.endswith("/")}
    assert files == theirs, "only lakesweep %s, only Spark %s" % (sorted(files - theirs)[:4], sorted(theirs - files)[:4])
    assert vacuum(root, *FULL) >= files
    same(before, root, [last])
    logged(root)
    more = {p for p in plan(root, *FULL) if not p.endswith("/")}  # directories emptied by the first run are newly due
    assert not more, "a second run finds more: %s" % sorted(more)[:4]


def kept_version(make):
    """--keep-version: an old version stays readable in full."""
    root = fresh(make, "keep")
    last = latest(root)
    for version in range(1, last):
        before = contents(root, [version, last])
        if any(v == version for _, v in before):
            break
    vacuum(root, *FULL, "--keep-version", str(version))
    same(before, root, [version, last])


def lite_is_part_of_full(make):
    """LITE finds what the log knows; what it leaves, FULL finds; nothing live dies."""
    root = fresh(make, "lite")
    last = latest(root)
    before = contents(root, [last])
    full = {p for p in plan(root, *FULL) if not p.endswith("/")}
    lite = {p for p in plan(root, "--retain", "0s", "--mode", "lite") if not p.endswith("/")}
    assert lite <= full, sorted(lite - full)[:4]
    assert lite, "the log knows of nothing dead"
    vacuum(root, "--retain", "0s", "--mode", "lite")
    same(before, root, [last])
    left = {p for p in plan(root, *FULL) if not p.endswith("/")}
    assert left == full - lite, "full after lite: %s" % sorted(left ^ (full - lite))[:4]


def own_retention(make):
    """The table's own week: nothing that the last week's versions need dies, all of them stay readable."""
    root = fresh(make, "own")
    versions = sorted({1, latest(root) // 2, latest(root)})
    before = contents(root, versions)
    deleted = vacuum(root, "--mode", "full")
    assert all("orphan" in p for p in deleted), "young files died: %s" % sorted(deleted)[:4]
    same(before, root, versions)


def short_property():
    """A table whose own retention is a second: no flag is needed, and what was removed before dies."""
    root = fresh(tables.vectors, "short")
    sql("ALTER TABLE %s SET TBLPROPERTIES ('delta.deletedFileRetentionDuration' = 'interval 1 second')" % quoted(root))
    last = latest(root)
    before = contents(root, [last])
    time.sleep(2)
    tree_before = tree(root)
    lakesweep("vacuum", root, "--yes", "--mode", "full", "--unsafe-mostly-dead", root)
    gone = {p for p in tree_before if p not in tree(root) and not p.endswith((".crc", "/"))}
    assert gone and gone <= {p for p in tree_before if p.endswith((".parquet", ".bin"))}, sorted(gone)[:4]
    same(before, root, [last])
    logged(root)


def cutoff(make):
    """A cutoff between two commits: all versions since then are read in full."""
    root = os.path.join(WORK, "cutoff", make.__name__)
    os.makedirs(os.path.dirname(root), exist_ok=True)
    make(root)
    time.sleep(2)
    at = time.time()
    first = latest(root)
    time.sleep(2)
    sql("DELETE FROM %s WHERE id IN (2, 9, 102, 7)" % quoted(root))
    sql("OPTIMIZE %s" % quoted(root))
    versions = sorted({first, first + 1, latest(root)})
    before = contents(root, versions)
    vacuum(root, "--mode", "full", "--cutoff", time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at)))
    same(before, root, versions)


def writable_afterwards(make):
    """Spark goes on writing; a later vacuum spares what it wrote."""
    root = fresh(make, "write")
    vacuum(root, *FULL)
    forget()
    sql("DELETE FROM %s WHERE id IN (2, 9, 102, 7)" % quoted(root))
    last = latest(root)
    before = contents(root, [last])
    vacuum(root, *FULL)
    same(before, root, [last])
    logged(root, 2)


def where_narrows():
    """WHERE takes the matching partitions' dead files and no others."""
    root = fresh(tables.events, "where")
    last = latest(root)
    before = contents(root, [last])
    all_dead = plan(root, *FULL)
    want = {p for p in all_dead if p.startswith("year=2023/month=06/")}
    got = vacuum(root, *FULL, "--where", "year||month = '202306'")
    assert got == want and want, "got %s, want %s" % (sorted(got)[:4], sorted(want)[:4])
    same(before, root, [last])
    assert plan(root, *FULL) == all_dead - want
    assert not plan(root, *FULL, "--where", "year = '1999'")
    lakesweep("plan", root, "--where", "v = 'a'", expect=2)


def where_by_log():
    """With random prefixes directories say nothing; the log's values decide."""
    root = fresh(tables.mapped, "where")
    last = latest(root)
    before = contents(root, [last])
    all_dead = {p for p in plan(root, *FULL) if not p.endswith("/")}
    parts = [plan(root, *FULL, "--where", w) for w in ("q = 1", "q = 2", "q IS NULL")]
    assert parts[0] and parts[0] <= all_dead and not parts[0] & parts[1]
    vacuum(root, *FULL, "--where", "q = 1")
    same(before, root, [last])


def sql_statement():
    """The statement gives the plan of the flags."""
    root = fresh(tables.events, "sql")
    flags = plan(root, *FULL, "--where", "year = '2023'")
    statement = "VACUUM %s WHERE year = '2023' FULL RETAIN 0 HOURS DRY RUN" % quoted(root)
    out = lakesweep("sql", statement, "-o", "paths", "-0", "--unsafe-retain-below", root, "--unsafe-mostly-dead", root)
    assert {p for p in out.split("\0") if p} == flags
    lakesweep("sql", "VACUUM db.t DRY RUN", expect=2)


def shallow_clone():
    """A clone's files lie in its source: --protect keeps them there; the clone's own run leaves the source alone."""
    source = fresh(tables.events, "clone")
    clone = os.path.join(WORK, "clone", "copy")
    sql("CREATE TABLE %s SHALLOW CLONE %s" % (quoted(clone), quoted(source)))
    sql("DELETE FROM %s WHERE year = '2023'" % quoted(source))
    sql("UPDATE %s SET v = 'c' WHERE id = 9" % quoted(clone))
    last = latest(clone)
    rows = contents(clone, [last])
    vacuum(source, *FULL, "--protect", clone)
    same(rows, clone, [last])
    before = tree(source)
    vacuum(clone, *FULL)
    assert tree(source) == before, "a run on the clone touched its source"
    same(rows, clone, [last])


def quarantine_and_restore():
    """What was moved away can be put back, and old versions are readable again."""
    root = fresh(tables.events, "quarantine")
    versions = sorted({1, latest(root) // 2, latest(root)})
    before = contents(root, versions)
    names = set(tree(root))
    journal = os.path.join(WORK, "quarantine", "journal")
    lakesweep("vacuum", root, "--yes", *FULL, "--unsafe-retain-below", root, "--unsafe-mostly-dead", root,
              "--quarantine", os.path.join(WORK, "quarantine", "away"), "--journal", journal)
    assert names - set(tree(root)), "nothing was moved"
    lakesweep("restore", journal)
    missing = {p for p in names - set(tree(root)) if not p.endswith("/") and not p.endswith(".crc")}
    assert not missing, sorted(missing)[:4]
    same(before, root, versions)


def verify_and_inspect():
    """verify finds nothing wrong with a healthy table, and the file that is gone from a sick one."""
    root = fresh(tables.vectors, "verify")
    lakesweep("verify", root)
    lakesweep("inspect", root, "-o", "json")
    from deltalake import DeltaTable
    forget()
    live = sql("SELECT DISTINCT _metadata.file_path AS f FROM %s" % quoted(root))[0]["f"]
    from urllib.parse import unquote
    os.remove(unquote(live.split(":", 1)[1]).replace("//", "/"))
    lakesweep("verify", root, expect=4)
    lakesweep("plan", root, "--unsafe-mostly-dead", root, expect=4)


def inventory_equals_listing():
    """A list that lakesweep made of the tree gives the plan of a listing."""
    root = fresh(tables.events, "inventory")
    listed = {p for p in plan(root, *FULL) if not p.endswith("/")}
    made = os.path.join(WORK, "inventory", "list.parquet")
    time.sleep(1)
    lakesweep("inventory", "make", root, "--out", made)
    from_list = {p for p in plan(root, *FULL, "--inventory", made) if not p.endswith("/")}
    assert from_list == listed, sorted(from_list ^ listed)[:4]


def young_writer():
    """Files that a running write has put there and not committed stay."""
    root = fresh(tables.events, "young")
    orphan(root, "year=2023/month=06/part-running.parquet", days=0.01)
    deleted = vacuum(root, "--mode", "full")
    assert "year=2023/month=06/part-running.parquet" not in deleted


def scenarios():
    for make in tables.ALL:
        for check in (live_after_full, kept_version, own_retention):
            yield "%s: %s" % (make.__name__, check.__name__), lambda make=make, check=check: check(make)
    for make in (tables.events, tables.vectors, tables.classic, tables.special):
        for check in (lite_is_part_of_full, writable_afterwards):
            yield "%s: %s" % (make.__name__, check.__name__), lambda make=make, check=check: check(make)
    for make in (tables.events, tables.vectors, tables.mixed):
        yield "%s: cutoff" % make.__name__, lambda make=make: cutoff(make)
    for check in (short_property, where_narrows, where_by_log, sql_statement, shallow_clone, quarantine_and_restore, verify_and_inspect, inventory_equals_listing, young_writer):
        yield check.__name__, check


def main():
    counts = judge(scenarios(), sys.argv[1:])
    stop()
    finish(*counts)


if __name__ == "__main__":
    main()
