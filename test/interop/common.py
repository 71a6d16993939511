"""What the suites share: lakesweep's binary, the tree on disk, and the count of scenarios."""
import os
import subprocess
import sys
import time
import traceback

os.environ["TZ"] = "UTC"
time.tzset()

CACHE = os.environ["INTEROP_CACHE"]
BINARY = os.environ["LAKESWEEP"]
# Variables LAKESWEEP_… are flags to the binary, and those of the suites are none.
PLAIN = {k: v for k, v in os.environ.items() if not k.startswith("LAKESWEEP")}


def lakesweep(*args, expect=0):
    done = subprocess.run([BINARY, *args, "--progress", "none"], capture_output=True, text=True, timeout=300, env=PLAIN)
    if done.returncode != expect:
        raise AssertionError("lakesweep %s: exit %d, want %d\n%s\n%s" % (" ".join(args), done.returncode, expect, done.stdout[-2000:], done.stderr[-2000:]))
    return done.stdout


def tree(root):
    """{path below root: (size, mtime in ns)} of all files and directories."""
    out = {}
    for folder, folders, files in os.walk(root):
        for name in folders + files:
            path = os.path.join(folder, name)
            stat = os.lstat(path)
            is_dir = os.path.isdir(path)
            out[os.path.relpath(path, root) + ("/" if is_dir else "")] = (0 if is_dir else stat.st_size, 0 if is_dir else stat.st_mtime_ns)
    return out


def told(e):
    """What an exception says; of one of Java's, the causes without their stacks."""
    lines = str(e).strip().split("\n")
    if any(line.startswith("\tat ") for line in lines):
        lines = [line for line in lines if not line.startswith(("\tat ", "\t..."))]
    return "\n".join(lines)[:1500] or type(e).__name__


def judge(scenarios, words):
    """Runs the (name, function) pairs whose names contain one of the words, all without words. Returns how many passed and failed."""
    passed = failed = 0
    for name, run in scenarios:
        if words and not any(word in name for word in words):
            continue
        start = time.time()
        try:
            run()
        except Exception as e:
            failed += 1
            where = traceback.extract_tb(e.__traceback__)[-1]
            print("FAIL %s: %s (%s:%d)" % (name, told(e), os.path.basename(where.filename), where.lineno), flush=True)
        else:
            passed += 1
            print("ok   %s, %.1f s" % (name, time.time() - start), flush=True)
    return passed, failed


def finish(passed, failed):
    print("%d passed, %d failed" % (passed, failed))
    sys.exit(1 if failed else 0)
