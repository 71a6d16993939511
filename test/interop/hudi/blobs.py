"""A table of BLOBs, judged by every blob that its files refer to."""
import io
import os
import re
import shutil
import time

from harness import WORK, Table, spark
from common import lakesweep


class BlobTable(Table):
    """A table whose v is a managed blob that holds the number: whoever reads its rows reads its blobs, with Hudi's read_blob.

    Its copies share one folder of blobs, which the newest copy has for itself."""
    columns = "id STRING, v BLOB, ts BIGINT, p STRING"

    def __init__(self, root, *args, **more):
        self.blobs = os.path.join(WORK, "blobs", os.path.basename(root))
        self.flags = ("--blobs", "delete", "--blob-root", self.blobs, "--blob-min-age", "0s", "--blob-grace", "7d")
        self.uploaded, self.known, self.deleted = set(), {}, set()
        os.makedirs(self.blobs, exist_ok=True)
        super().__init__(root, *args, **more)

    def value(self, v):
        self.upload(v)
        return ("named_struct('type', 'OUT_OF_LINE', 'data', CAST(NULL AS BINARY), 'reference', named_struct('external_path', '%s/%04d', 'offset', CAST(NULL AS BIGINT), 'length', CAST(NULL AS BIGINT), 'managed', true))"
                % (self.blobs, v))

    def upload(self, v):
        """Puts a blob where it belongs, once: one that lakesweep deleted stays away."""
        if v in self.uploaded:
            return
        self.uploaded.add(v)
        path = "%s/%04d" % (self.blobs, v)
        with open(path, "w") as f:
            f.write(str(v))
        os.utime(path, (time.time() - 90000,) * 2)

    def copy(self, name):
        other = super().copy(name)
        shutil.rmtree(self.blobs)
        os.makedirs(self.blobs)
        for v in self.uploaded:
            other.upload(v)
        return other

    def numbers(self, frame):
        frame.createOrReplaceTempView("numbers")
        return sorted((r["id"], int(bytes(r["v"])), r["p"]) for r in spark().sql("SELECT id, read_blob(v) AS v, p FROM numbers").collect())

    def there(self):
        return {int(name) for name in os.listdir(self.blobs) if name.isdigit()}

    def refers(self, file):
        """The blobs in a base or log file, read without Hudi and without lakesweep."""
        if file not in self.known:
            import pyarrow.parquet
            with open(os.path.join(self.root, file), "rb") as f:
                data = f.read()
            if file.endswith(".parquet"):
                data = repr(pyarrow.parquet.ParquetFile(io.BytesIO(data)).read(columns=["v"]).to_pylist()).encode()
            self.known[file] = {int(v) for v in re.findall(re.escape(self.blobs.encode()) + rb"/(\d{4})", data)}
        return self.known[file]

    def referred(self, files):
        return set().union(*(self.refers(f) for f in files))

    def files(self):
        files = super().files()
        self.referred(files)  # while they are there
        return files

    def cleaned(self, args, before):
        """The clean has only queued blobs; a later run deletes exactly those that it was the last to refer to."""
        assert self.there() == self.uploaded - self.deleted, "the clean itself deleted %s" % (self.uploaded - self.deleted - self.there())
        stay = self.files()
        self.deleted |= self.referred(before - stay) - self.referred(stay)
        lakesweep(*args, "--blob-grace", "0s")
        assert self.files() == stay, "the drain deleted %s" % sorted(stay - self.files())[:4]
        assert self.sidecars() <= set(self.instants("clean")), "lists of blobs without a clean: %s" % sorted(self.sidecars() - set(self.instants("clean")))
        assert self.there() == self.uploaded - self.deleted, "deleted %s, want %s" % (sorted(self.uploaded - self.there()), sorted(self.deleted))

    def sound(self, rows):
        super().sound(rows)
        missing = self.referred(self.files()) - self.there()
        assert not missing, "files refer to %s, which are gone" % sorted(missing)

    def sidecars(self):
        """The cleans whose lists of blobs are there."""
        aux = self.root + "/.hoodie/.aux/clean"
        return {f[:17] for f in os.listdir(aux) if f.endswith(".blob_deletes.parquet")} if os.path.isdir(aux) else set()
