package lake

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func blobNames(t testing.TB, table string, maps ...BlobMap) *BlobNames {
	t.Helper()
	root, err := ParseRoot(table)
	if err != nil {
		t.Fatal(err)
	}
	n, err := NewBlobNames(BlobOptions{Table: root, Maps: maps, Roots: []Root{{Scheme: "s3", Authority: "media", Path: "v"}, {Scheme: "file", Path: "data/blobs"}}})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func sameBlob(n *BlobNames, a, b string) bool {
	for _, x := range n.Forms(BlobID(a)) {
		for _, y := range n.Forms(BlobID(b)) {
			if x == y {
				return true
			}
		}
	}
	return false
}

// Spellings that might name one object count as one on the keeping side.
func TestSpellingsOfOneBlob(t *testing.T) {
	plain := blobNames(t, "s3://lake/t")
	maps := blobNames(t, "s3://lake/t", BlobMap{"s3://old", "s3://other"}, BlobMap{"s3://old/a/", "s3://new"}, BlobMap{"OSS://", "s3://"}, BlobMap{"s3://x", "s3://y"}, BlobMap{"s3://y", "s3://z"}, BlobMap{"s3://p", "s3://q"}, BlobMap{"s3://q", "s3://p"})
	disk := blobNames(t, "s3://lake/t", BlobMap{"s3://media/", "file:///data/"})
	local, hdfs := blobNames(t, "/lake/t"), blobNames(t, "hdfs://nn/lake/t")
	schemes := blobNames(t, "s3://lake/t", BlobMap{"foo://", "hdfs://"}, BlobMap{"bar://", "abfss://"}, BlobMap{"baz://", "file://"})
	for _, c := range []struct {
		n    *BlobNames
		a, b string
		same bool
	}{
		{plain, "s3://b/k", "s3a://b/k", true},
		{plain, "s3://b/k", "S3N://B/k", true},
		{plain, "s3://b/k", "s3://b/K", false},
		{plain, "s3://b/k", "s3://b2/k", false},
		{plain, "s3://b/a b", "s3://b/a%20b", true},
		{plain, "s3://b/a%20b", "s3://b/a%2520b", true},
		{plain, "s3://b/a%2", "s3://b/a%2", true},
		{plain, "s3://b/a/b", "s3://b//a///b", true},
		{plain, "s3://b/a/b", "s3://b/a/./c/../b", true},
		{plain, "s3://b/a", "https://b.s3.eu-west-1.amazonaws.com/a?X-Amz-Signature=1", true},
		{plain, "s3://b/a", "https://s3.amazonaws.com/b/a", true},
		{plain, "s3://b/a", "http://s3-eu-west-1.amazonaws.com/b/a", true},
		{plain, "s3://b/a", "https://b.s3-eu-west-1.amazonaws.com/a", true},
		{plain, "gs://b/a", "https://storage.googleapis.com/b/a", true},
		{plain, "gs://b/a", "https://b.storage.googleapis.com/a", true},
		{plain, "gs://b/a", "s3://b/a", false},
		{plain, "gs://b/a", "gcs://B/a", true}, // other clients' words
		{plain, "abfss://c@acc.dfs.core.windows.net/a", "azure://c/a", true},
		{hdfs, "hdfs://nn:8020/a", "webhdfs://nn:9870/a", true},
		{hdfs, "hdfs://nn:8020/a", "swebhdfs://nn:9871/a", true},
		{plain, "s3://b/a", "s3a://key:secret@b/a", true}, // as Hadoop took them before 3.2
		{plain, "s3://b/a", "https://b.s3.amazonaws.com:443/a", true},
		{plain, "gs://b/a", "https://storage.googleapis.com:443/b/a", true},
		{plain, "az://c/a", "https://acc.z13.blob.storage.azure.net/c/a", true},
		{plain, "abfss://c@acc.dfs.core.windows.net/a", "wasbs://c@acc.blob.core.windows.net/a", true},
		{plain, "abfss://c@acc.dfs.core.windows.net/a", "az://c/a", true},
		{plain, "abfss://c@acc.dfs.core.windows.net/a", "https://acc.blob.core.windows.net/c/a", true},
		{plain, "az://c/a", "https://acc.dfs.core.windows.net/c/a", true},
		{plain, "/a/b", "s3://lake/a/b", true},
		{plain, "/a/b", "file:///a/b", true},
		{plain, "a/b", "s3://lake/t/a/b", true},
		{plain, "/a/b", "s3a://media/a/b", true}, // a file system of the roots may be the default one
		{plain, "a/b", "s3://media/v/a/b", true},
		{plain, "a/b", "s3://media/a/b", true},
		{plain, "/a/b", "s3://other/a/b", false},
		{plain, "file:///data/Blobs/\u00e9", "/data/blobs/e\u0301", true}, // disks may fold
		{plain, "file:///data/\u1fb4", "/data/\u03b1\u0345\u0301", true},
		{plain, "s3://media/A", "s3://media/a", false},
		{disk, "s3://media/A", "file:///Data/a", true},
		{disk, "s3://media/A", "file:///data/A", true},
		{plain, "gs://b/a", "https://storage.cloud.google.com/b/a", true},
		{plain, "abfss://ws@onelake.dfs.fabric.microsoft.com/i/a", "https://onelake.blob.fabric.microsoft.com/ws/i/a", true},
		{local, "/a/b", "file:/a/b", true},
		{local, "file:/a/b", "file://host/a/b", true},
		{local, "/a/b", "hdfs://nn/a/b", false},
		{hdfs, "/a/b", "hdfs://nn:8020/a/b", true},
		{hdfs, "hdfs:///a/b", "hdfs://other/a/b", true},
		{maps, "s3://old/a/k", "s3a://NEW/k", true},
		{maps, "s3://old/ab/k", "s3://newb/k", false},
		{maps, "s3://old/ab/k", "s3://other/ab/k", true},
		{maps, "oss://b/k", "s3://b/k", true},
		{maps, "s3://x/k", "s3://z/k", true},
		{maps, "s3://p/k", "s3://q/k", true},
		{maps, "s3://old%2Fa/k", "s3://new/k", true},
		{schemes, "foo://nn/b/x", "hdfs://other/b/x", true},
		{schemes, "bar://c@account.dfs.core.windows.net/x", "wasbs://c@account.blob.core.windows.net/x", true},
		{schemes, "baz://host/b/x", "file:/b/x", true},
	} {
		if got := sameBlob(c.n, c.a, c.b); got != c.same {
			t.Errorf("%q and %q are one: %t, want %t (%q, %q)", c.a, c.b, got, c.same, c.n.Forms(BlobID(c.a)), c.n.Forms(BlobID(c.b)))
		}
	}
}

func TestPlaceOfBlobs(t *testing.T) {
	n := blobNames(t, "s3://media/v/lake/t", BlobMap{"s3://alias/", "s3://media/v/"})
	for id, want := range map[string]Standing{
		"s3://media/v/a": MayDie, "s3a://media/v/a/b%20c": MayDie, "s3://alias/a": MayDie, "file:///data/blobs/x": MayDie,
		"s3://media/v": OutsideRoots, "s3://media/w/a": OutsideRoots, "s3://media/va": OutsideRoots, "s3://MEDIA/v/a": OutsideRoots, "gs://media/v/a": OutsideRoots,
		"s3://media/v/lake/t/p=1/f": InsideTable, "s3://media/v/lake/t": InsideTable, "s3a://Media//v/lake/%74/.hoodie/x": InsideTable, "s3://alias/lake/t/x": InsideTable,
		"s3://media/v/../w": OddSpelling, "s3://media/v//a": OddSpelling, "s3://media/v/./a": OddSpelling, "s3://media/v/a/": OddSpelling, "/data/blobs/x": OddSpelling, "x": InsideTable,
		"gopher://media/v/a": OddSpelling, "s3://media/v/a\n": OddSpelling, "s3://media/v/a\x01b": OddSpelling, "s3://media/v/a ": OddSpelling, " s3://media/v/a": InsideTable, "s3://media/v/\xff": OddSpelling, "s3:media/v/a": OddSpelling, "": OddSpelling,
	} {
		if _, got := n.Place(BlobID(id)); got != want && !(id == "" && got == InsideTable) {
			t.Errorf("%q: %v, want %v", id, got, want)
		}
	}
	if at, _ := n.Place("s3://alias/a%20b"); at.String() != "s3://media/v/a%20b" {
		t.Errorf("%v", at)
	}
	n = blobNames(t, "s3://lake/t", BlobMap{"s3://alias/", "s3://media/v/"}, BlobMap{"s3://alias/c", "s3://media/v/" + ClaimName})
	for _, id := range []BlobID{"s3://media/v/" + ClaimName, "s3://alias/a/" + ClaimName, "s3://alias/c"} {
		if _, s := n.Place(id); s == MayDie {
			t.Errorf("the claim %s may die", id)
		}
	}
	others, err := NewBlobNames(BlobOptions{Table: Root{Scheme: "s3", Authority: "lake", Path: "t"}, Aliases: []Root{{Scheme: "s3", Authority: "media", Path: "real"}},
		Others: []Root{{Scheme: "s3", Authority: "media", Path: "b"}}, Roots: []Root{{Scheme: "s3", Authority: "media"}}, Maps: []BlobMap{{"s3://lake", "s3://media/lake"}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []BlobID{"s3a://media/b/p/f.parquet", "s3://media/real/p/f.parquet", "s3://lake/t/p/f.parquet", "s3://media/lake/t/p/f.parquet"} {
		if _, s := others.Place(id); s != InsideTable {
			t.Errorf("%s, which lies in a table by one of its names: %v", id, s)
		}
	}
	local := blobNames(t, "/lake/t")
	if at, s := local.Place("/data/blobs/x y"); s != MayDie || at.String() != "/data/blobs/x y" {
		t.Errorf("%v %v", at, s)
	}
	if _, err := NewBlobNames(BlobOptions{Maps: []BlobMap{{"s3a://", "s3://bucket"}}}); KindOf(err) != Invalid {
		t.Errorf("%v", err)
	}
}

// A least value that writers cut short before the bucket's end says nothing.
func TestAuthorityOfBoundsCutShort(t *testing.T) {
	n := blobNames(t, "s3://lake/t")
	for least, want := range map[string]bool{"s3://media/a": true, "s3://media/": true, "s3://media": false, "s3://me": false, "s3://": false, "s3:": false, "s": false, "": false} {
		if form, ok := n.Authority(least, "s3://media/b"); ok != want || ok && form != "s3://media" {
			t.Errorf("%q: %q, %t", least, form, ok)
		}
	}
}

// Where a map leads out of a bucket, not all values between two of its are in it.
func TestAuthorityUnderMaps(t *testing.T) {
	for m, want := range map[BlobMap]bool{{"s3://media", "s3://other"}: false, {"s3a://Media/a/", "gs://other"}: false, {"s3a://", "gs://"}: false, {"s3://other", "s3://media"}: true} {
		if form, ok := blobNames(t, "s3://lake/t", m).Authority("s3://media/a", "s3://media/b"); ok != want || ok && form != "s3://media" {
			t.Errorf("%v: %q, %t", m, form, ok)
		}
	}
}

// Where two ways of comparing differ, their rules do.
func TestRulesOfSpellings(t *testing.T) {
	of := func(o BlobOptions) string {
		n, err := NewBlobNames(o)
		if err != nil {
			t.Fatal(err)
		}
		return n.Rules()
	}
	a, b := Root{Scheme: "s3", Authority: "a", Path: "t"}, Root{Scheme: "s3", Authority: "b", Path: "t"}
	seen := map[string]bool{}
	for _, o := range []BlobOptions{{Table: a}, {Table: b}, {Table: a, Roots: []Root{a}}, {Table: a, Roots: []Root{b}}, {Table: a, Roots: []Root{a, b}},
		{Table: a, Maps: []BlobMap{{"s3://a", "s3://b"}}}, {Table: a, Maps: []BlobMap{{"s3://b", "s3://a"}}}, {Table: a, Maps: []BlobMap{{"s3://", "s3://"}}}} {
		if seen[of(o)] {
			t.Errorf("%+v has the rules of another", o)
		}
		seen[of(o)] = true
	}
}

// Escaping any bytes, doubling any slash or spelling the scheme otherwise never
// leaves the form, and what lies between a column's bounds has its authority,
// whatever the maps.
func TestFormsProperty(t *testing.T) {
	every := []BlobMap{{"s3://media", "s3://other"}, {"s3a://", "gs://"}, {"s3://media/a", "gs://media"}, {"gs://other/", "s3://media/"}, {"file:///media", "s3://media"}, {"s3://other", "file:///b"}}
	rapid.Check(t, func(rt *rapid.T) {
		n := blobNames(t, "s3://lake/t", rapid.SliceOfN(rapid.SampledFrom(every), 0, 2).Draw(rt, "maps")...)
		path := rapid.StringOfN(rapid.RuneFrom([]rune("ab%/ .é#?")), 1, 12, -1).Draw(rt, "path")
		spelled := strings.Builder{}
		for i := range len(path) {
			switch rapid.IntRange(0, 4).Draw(rt, "how") {
			case 0:
				if path[i] != '%' { // a literal escape is another matter
					const hex = "0123456789abcdefABCDEF"
					spelled.WriteString("%" + string(hex[path[i]>>4]) + string(hex[path[i]&15]))
					continue
				}
			case 1:
				if path[i] == '/' {
					spelled.WriteString("//")
					continue
				}
			}
			spelled.WriteByte(path[i])
		}
		a := "s3://media/" + path
		b := rapid.SampledFrom([]string{"s3", "s3a", "S3", "s3n"}).Draw(rt, "scheme") + "://" + rapid.SampledFrom([]string{"media", "MEDIA", "other"}).Draw(rt, "bucket") + "/" + spelled.String()
		if !strings.Contains(path, "%") && !strings.Contains(b, "://other/") && !sameBlob(n, a, b) {
			rt.Fatalf("%q and %q: %q, %q", a, b, n.Forms(BlobID(a)), n.Forms(BlobID(b)))
		}
		if rapid.Bool().Draw(rt, "file") {
			host := rapid.SampledFrom([]string{"", "localhost", "h%41"}).Draw(rt, "host")
			a, b = "file://"+host+"/media/"+path, "file://"+host+"/media/"+spelled.String()
		}
		least, greatest := min(a, b), max(a, b)
		if form, ok := n.Authority(least, greatest); ok && (AuthorityOf(n.Forms(BlobID(a))[0]) != form || AuthorityOf(n.Forms(BlobID(b))[0]) != form) {
			rt.Fatalf("%q..%q: %q", least, greatest, form)
		}
	})
}

func FuzzBlobForms(f *testing.F) {
	for _, s := range []string{"s3://media/v/a", "file:/a//b/../c", "%2e%2E/", "https://b.s3.amazonaws.com/k?q", "az://c@a/x", "", "s3a://x/%25%32%35"} {
		f.Add(s)
	}
	n := blobNames(f, "s3://media/v/lake/t", BlobMap{"s3://x/", "s3://y/x/"}, BlobMap{"s3://y", "s3://x"})
	f.Fuzz(func(t *testing.T, s string) {
		forms := n.Forms(BlobID(s))
		if len(forms) == 0 {
			t.Fatal("no form")
		}
		if _, standing := n.Place(BlobID(s)); standing == MayDie && len(forms) != 1 {
			t.Fatalf("%q may die and has the forms %q", s, forms)
		}
	})
}
