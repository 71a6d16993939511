#!/usr/bin/env python3
"""Tables by one version of Hudi, cleaned by lakesweep, judged by that Hudi.

    suite.py VERSION [NAME…]     the scenarios whose names contain one of the words

Last line: 'N passed, N failed'.
"""
import datetime
import os
import shutil
import subprocess
import sys

from blobs import BlobTable
from harness import WORK, Table, clean, pending, stop
from common import finish, judge, lakesweep
import tables

_made = {}


def made(name):
    """The table of that name, with the rows at each of its instants; written once."""
    if name not in _made:
        fill, kind, partitioned, props = tables.ALL[name]
        table = (BlobTable if "_blobs" in name else Table)(os.path.join(WORK, "made", name), props, kind, partitioned, create=True)
        fill(table)
        table.then = {at: table.rows(at) for at in table.instants()}
        _made[name] = table
    return _made[name]


def fresh(name, purpose):
    table = made(name).copy("%s/%s" % (purpose, name))
    table.then = made(name).then
    table.now = table.then[max(table.then)]
    return table


def flags_of(name, policy):
    if policy == "hours":
        at = datetime.datetime.strptime(sorted(made(name).then)[-2], "%Y%m%d%H%M%S%f")
        return ["--cutoff", (at - datetime.timedelta(milliseconds=1)).isoformat(timespec="milliseconds") + "Z"]
    return {"commits": ["--retain-commits", "2"], "versions": ["--retain-versions", "1"]}[policy]


def checked(table, deleted):
    """Hudi shows the newest clean, and reads the rows of now and of all retained instants."""
    assert not pending(table), "pending: %s" % pending(table)
    files, succeeded, failed, earliest, planned = table.shown(table.instants("clean")[-1])
    assert (files, succeeded, failed, earliest) == (deleted, deleted, 0, planned), "deleted %d, Hudi shows %d, %d, %d, earliest %r, planned %r" % (deleted, files, succeeded, failed, earliest, planned)
    for at, rows in table.then.items():
        if at >= (earliest or max(table.then)):
            got = table.rows(at)
            assert got == rows, "at %s Hudi reads %s, want %s" % (at, got, rows)
    table.sound(table.now)


def cleaned(name, policy):
    """What Hudi's own clean would delete goes, and nothing else."""
    table = fresh(name, policy)
    gone = clean(table, *flags_of(name, policy))
    assert gone, "nothing was deleted"
    checked(table, len(gone))
    if policy != "hours":
        twin = made(name).copy("twin_%s/%s" % (policy, name))
        before = twin.files()
        twin.clean(*{"commits": ("KEEP_LATEST_COMMITS", 2), "versions": ("KEEP_LATEST_FILE_VERSIONS", 1)}[policy])
        want = before - twin.files()
        if name == "cow_dropped":  # Hudi deletes the folder with what a savepoint holds in it
            want = {f for f in want if not f.startswith("p=p3/")}
        assert gone == want, "only lakesweep %s, only Hudi %s" % (sorted(gone - want)[:4], sorted(want - gone)[:4])


def goes_on(name):
    """After our clean Hudi writes, compacts, cleans, savepoints, archives, rolls back and restores, and we clean again."""
    table = fresh(name, "on")
    clean(table, *flags_of(name, "commits"))
    rows = dict((i, (v, p)) for i, v, p in table.now)

    def now():
        return sorted((i, v, p) for i, (v, p) in rows.items())

    def update(v, i):
        table.update(v, i)
        rows[i] = (v, rows[i][1])

    update(50, "a1")
    table.sound(now())
    if table.kind == "mor":
        table.compact("execute" if tables.ALL[name][0] is tables.pending else "scheduleandexecute")
        table.sound(now())
    update(51, "a1")
    update(52, "a1")
    gone = clean(table, *flags_of(name, "commits"))  # an incremental one, from ours before
    assert gone, "the second clean deleted nothing"
    table.sound(now())
    update(53, "a1")
    table.clean("KEEP_LATEST_COMMITS", 1)  # theirs, incremental from ours
    table.sound(now())
    if table.props.get("hoodie.write.table.version") == "6":
        return  # the procedures below don't know version 6
    last = table.instants()[-1]
    table.call("create_savepoint", commit_time=last)
    saved = now()
    for old in table.instants("savepoint"):
        if old != last:
            table.call("delete_savepoint", instant_time=old)
    update(54, "a1")
    table.call("archive_commits", min_commits=2, max_commits=3, retain_commits=1, enable_metadata=table.listed())
    table.sound(now())
    before = now()
    table.props["hoodie.metadata.compact.max.delta.commits"] = "100"  # Hudi can't roll back what came before its metadata table's compaction
    update(55, "a1")
    table.call("rollback_to_instant", instant_time=table.instants()[-1])
    rows["a1"] = (54, rows["a1"][1])
    table.sound(before)
    table.call("rollback_to_savepoint", instant_time=last)
    table.sound(saved)
    table.update(60, "a1")
    table.sound([(i, 60 if i == "a1" else v, p) for i, v, p in saved])
    clean(table, "--retain-versions", "1")
    table.sound([(i, 60 if i == "a1" else v, p) for i, v, p in saved])


def restored(name):
    """What a savepoint holds survived: Hudi restores it in full."""
    table = fresh(name, "restored")
    at = table.instants("savepoint")[0]
    clean(table, *flags_of(name, "versions"))
    table.call("rollback_to_savepoint", instant_time=at)
    table.sound(table.then[at])


def holds_back(name):
    """By versions, a clean of one partition claims the replace commit whose groups it leaves: Hudi's archiver lets that stand, and no row comes back. After a whole clean it goes."""
    table = fresh(name, "held")
    v = 80

    def archived():
        nonlocal v
        for _ in range(4):
            v += 1
            table.update(v, "a1")
        table.call("archive_commits", min_commits=2, max_commits=3, retain_commits=1, enable_metadata=table.listed())
        rows = [(i, v if i == "a1" else old, p) for i, old, p in table.now]
        table.sound(rows)
        return rows

    for old in table.instants("savepoint"):
        table.call("delete_savepoint", instant_time=old)
    table.props["hoodie.metadata.compact.max.delta.commits"] = "1"  # Hudi archives nothing later than its metadata table's last compaction
    first = table.instants("replacecommit")[0]
    config = os.path.join(WORK, "one.properties")
    with open(config, "w") as f:
        f.write("hoodie.clean.incremental.enabled=false\nhoodie.clean.partition.filter.selected=p=p1\n")
    clean(table, "--retain-versions", "1", "--config", config)
    shown = table.shown(table.instants("clean")[-1])
    assert shown[3:] == (first, first), "claims %s, planned %s, want %s" % (*shown[3:], first)
    archived()
    assert first in table.instants("replacecommit"), "Hudi archived %s" % first
    assert table.instants()[0] == first, "Hudi archived nothing: %s" % table.instants()
    saved = table.instants()[-1]
    table.call("create_savepoint", commit_time=saved)
    table.call("delete_savepoint", instant_time=saved)
    clean(table, "--retain-versions", "1")
    assert table.shown(table.instants("clean")[-1])[3:] == ("", ""), "a whole clean claims a commit"
    archived()
    assert first not in table.instants("replacecommit"), "Hudi keeps %s" % first


def archived(name):
    """Hudi archives our cleans that tell of blobs, and reads them there; their lists of blobs go with our next clean."""
    table = fresh(name, "archived")
    table.props["hoodie.metadata.compact.max.delta.commits"] = "1"
    for old in table.instants("savepoint"):
        table.call("delete_savepoint", instant_time=old)

    def cleaned_after(v):
        table.update(v, "a1")
        if table.kind == "mor":
            table.compact()
        assert clean(table, "--retain-versions", "1"), "nothing was deleted"
        rows = [(i, v if i == "a1" else old, p) for i, old, p in table.now]
        table.sound(rows)
        return rows

    for v in range(20, 25):
        rows = cleaned_after(v)
    first = min(table.sidecars())
    table.call("archive_commits", min_commits=2, max_commits=3, retain_commits=1, enable_metadata=table.listed())
    assert first not in table.instants("clean"), "Hudi archived no clean: %s" % table.instants("clean")
    table.sound(rows)
    assert table.archived_cleans().get(first, 0) > 0, "Hudi reads %s, want %s" % (table.archived_cleans(), first)
    cleaned_after(25)
    assert len(table.deleted) > 4, table.deleted


def hudi_finishes(name):
    """A clean that we died in, wherever, is finished by Hudi's next one."""
    twin = fresh(name, "whole")
    files = twin.files()
    want = clean(twin, *flags_of(name, "versions"))
    total = 0
    for n in (2, 3, 4, len(want) + 3):
        table = fresh(name, "killed_%d" % n)
        done = subprocess.run([os.environ["KILLED"], "-n", str(n), table.root], capture_output=True, text=True)
        assert done.returncode == 137, "before call %d: exit %d %s" % (n, done.returncode, done.stderr)
        left = pending(table)
        assert len(left) == 1, "before call %d: pending %s" % (n, left)
        table.sound(table.now)
        table.clean("KEEP_LATEST_FILE_VERSIONS", 1)
        assert left[0] in table.instants("clean"), "Hudi left %s pending" % left
        assert files - table.files() == want, "before call %d: gone %s, want %s" % (n, sorted(files - table.files())[:4], sorted(want)[:4])
        table.sound(table.now)
        total += 1
    assert total == 4


def we_finish(name, crash):
    """A clean that Hudi died in is finished by ours."""
    table = fresh(name, "theirs_" + crash)
    before = os.path.join(WORK, "before")
    shutil.copytree(table.root, before, copy_function=shutil.copy2)
    files = table.files()
    table.clean("KEEP_LATEST_FILE_VERSIONS", 1)
    gone = files - table.files()
    instant = table.instants("clean")[-1]
    folder = table.timeline()
    if crash == "completing":  # all is done but the last file
        for file in os.listdir(folder):
            if file.startswith((instant, "." + instant)) and file.endswith((".clean", ".clean.crc")):
                os.remove(os.path.join(folder, file))
    else:
        keep = {f: open(os.path.join(folder, f), "rb").read() for f in os.listdir(folder) if f.startswith(instant) and f.endswith((".requested", crash))}
        shutil.rmtree(table.root)
        shutil.copytree(before, table.root, copy_function=shutil.copy2)
        for file, data in keep.items():
            with open(os.path.join(folder, file), "wb") as f:
                f.write(data)
    shutil.rmtree(before)
    assert pending(table) == [instant], pending(table)
    clean(table, *flags_of(name, "versions"))
    assert instant in table.instants("clean"), "the clean is still pending"
    assert files - table.files() == gone, "gone %s, want %s" % (sorted(files - table.files())[:4], sorted(gone)[:4])
    table.sound(table.now)
    table.update(70, table.now[0][0])
    table.sound([(i, 70 if i == table.now[0][0] else v, p) for i, v, p in table.now])


def looked_at(name):
    """verify finds nothing wrong before and after; inspect and usage open it."""
    table = fresh(name, "looked")
    zone = ["--timeline-zone", "UTC"]
    lakesweep("inspect", table.root, "-o", "json", *zone)
    lakesweep("usage", table.root, "-o", "json", *zone)
    lakesweep("verify", table.root, *zone)
    clean(table, *flags_of(name, "versions"))
    lakesweep("verify", table.root, *zone)


def scenarios():
    for name in tables.ALL:
        main = name in ("cow", "mor")
        for policy in ("commits", "versions", "hours") if main else ("commits", "versions"):
            yield "%s: %s" % (name, policy), lambda name=name, policy=policy: cleaned(name, policy)
        if name == "cow_dropped":
            yield "%s: restored" % name, lambda name=name: restored(name)
            continue
        yield "%s: goes on" % name, lambda name=name: goes_on(name)
        if "_blobs" in name:
            yield "%s: archived" % name, lambda name=name: archived(name)
            continue
        yield "%s: looked at" % name, lambda name=name: looked_at(name)
        if name == "cow":
            yield "%s: holds back" % name, lambda name=name: holds_back(name)
        if main or name in ("mor_v6", "mor_v8"):
            yield "%s: Hudi finishes" % name, lambda name=name: hudi_finishes(name)
        if main:
            yield "%s: restored" % name, lambda name=name: restored(name)
            for crash in ("requested", "inflight", "completing"):
                yield "%s: we finish %s" % (name, crash), lambda name=name, crash=crash: we_finish(name, crash)


def main():
    version = sys.argv[1]
    counts = judge((("%s %s" % (version, name), run) for name, run in scenarios()), sys.argv[2:])
    stop()
    finish(*counts)


if __name__ == "__main__":
    main()
