package lake

import (
	"strings"
	"testing"
)

func root(t *testing.T, s string) Root {
	t.Helper()
	r, err := ParseRoot(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestLogPath(t *testing.T) {
	cases := []struct{ root, path, key string }{
		{"/r", "a.parquet", "a.parquet"},
		{"/r", "p=50%2525/f1.parquet", "p=50%25/f1.parquet"},
		{"/r", "p=a%20b%253Ac/x+y", "p=a b%3Ac/x+y"},
		{"/r", "a%3Db.parquet", "a=b.parquet"},
		{"/r", "caf%c3%A9.parquet", "café.parquet"},
		{"/r", "%FF.parquet", "\xff.parquet"},
		{"/r", "./x", "x"},
		{"/r", "sub//x", "sub/x"},
		{"/r", "file:/r/x", "x"},
		{"/r", "file:///r/x", "x"},
		{"/r", "/r/x", "x"},
		{"/r", "file:/a/../r/x", "x"},
		{"/r", "FILE:/r/x", "x"},
		{"/my dir#1%2Bx", "file:/my%20dir%231%252Bx/f", "f"},
		{"s3://b/t", "s3a://b/t/x%20y", "x y"},
		{"s3a://b/t/", "s3://b/t/p=1/x", "p=1/x"},
		{"abfss://c@acct.dfs.core.windows.net/t", "wasbs://c@acct.blob.core.windows.net/t/x", "x"},
		{"hdfs://nn:8020/t", "hdfs:///t/x", "x"},
	}
	for _, c := range cases {
		p, err := root(t, c.root).LogPath(c.path)
		if err != nil || p.Outside || string(p.Key) != c.key {
			t.Errorf("%s in %s: got %+v, %v; want %q", c.path, c.root, p, err, c.key)
		}
	}
}

func TestLogPathOutside(t *testing.T) {
	for _, c := range []struct{ root, path string }{
		{"/r", "/other/x"}, {"/r", "/rr/x"}, {"/r", "s3://b/r/x"}, {"s3://b/t", "s3://c/t/x"}, {"s3://b/t", "s3://b/t2/x"}, {"s3://b/t", "gs://b/t/x"},
	} {
		p, err := root(t, c.root).LogPath(c.path)
		if err != nil || !p.Outside {
			t.Errorf("%s in %s: got %+v, %v; want outside", c.path, c.root, p, err)
		}
	}
}

// What another authority names may be the table's own: nobody knows the name
// services, access points and mount tables of others.
func TestLogPathProtectsWhatIsOursByAnotherName(t *testing.T) {
	for _, c := range []struct {
		root, path string
		keys       []Key // "" is in none
	}{
		{"hdfs:///w/t", "hdfs://nn:8020/w/t/p=1/f", []Key{"p=1/f"}},
		{"hdfs://nameservice/w/t", "hdfs://nn1:8020/w/t/a%20b", []Key{"a b", "a%20b"}},
		{"hdfs://nn/w/t", "viewfs://cluster/home/t/p=1/f", []Key{"p=1/f", "f"}},
		{"hdfs://nn/w/t", "hdfs://router/other/p=1/f", []Key{"p=1/f"}},
		{"s3://bucket/t", "s3://access-point-s3alias/t/f", []Key{"f"}},
		{"abfss://c@a.dfs.core.windows.net/t", "az://c/t/f", []Key{"f"}},
		{"/r", "file://host/r/f", []Key{"f"}},
	} {
		p, err := root(t, c.root).LogPath(c.path)
		if err != nil || !p.Outside || p.Key != "" {
			t.Errorf("%s in %s: got %+v, %v; want outside", c.path, c.root, p, err)
		}
		for _, k := range c.keys {
			if !contains(p.Protect, k) {
				t.Errorf("%s in %s: protects %q, want also %q", c.path, c.root, p.Protect, k)
			}
		}
		if contains(p.Protect, "") {
			t.Errorf("%s in %s: protects the root", c.path, c.root)
		}
	}
	if p, err := root(t, "s3://bucket/t").LogPath("s3://other/u/f"); err != nil || len(p.Protect) > 0 {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestLogPathRefused(t *testing.T) {
	for path, kind := range map[string]Kind{
		"": Damaged, "100%": Damaged, "%zz": Damaged, "ab:c": Damaged, "a b": Damaged, "./": Damaged, "a|b": Damaged,
		"/r": Damaged, "/a%2Fb/c/x": Damaged, "../x": Unsupported, "dbfs:/r/x": Unsupported, "x/../../y": Unsupported,
	} {
		r := root(t, "/r")
		if strings.HasPrefix(path, "/a") {
			r = root(t, "/a/b")
		}
		if p, err := r.LogPath(path); path != "/r" && (err == nil || KindOf(err) != kind) {
			t.Errorf("%q: got %+v, %v; want kind %v", path, p, err, kind)
		}
	}
}

func TestLogPathProtectsEverySpelling(t *testing.T) {
	for path, want := range map[string][]Key{
		"a%20b":     {"a%20b"},
		"a//b":      {"a//b"},
		"a%2F%2Fb":  {"a//b", "a%2F%2Fb"},
		"a#b":       {"a"},
		"x%3Fy?z":   {"x%3Fy?z", "x?y", "x%3Fy"},
		"s3:/r/x y": nil,
	} {
		p, err := root(t, "/r").LogPath(path)
		for _, k := range want {
			if err != nil || !contains(p.Protect, k) {
				t.Errorf("%q: protects %q, want also %q (%v)", path, p.Protect, k, err)
			}
		}
	}
}

func TestPlainPathsMeanThemselves(t *testing.T) {
	for _, s := range []string{"a", "p=1/q=2/part-0.c000.snappy.parquet", "caf\u00e9/x+y_z", "a/b.c"} {
		want, err := relativePath(s, s)
		if got := plain(s); !got || err != nil || string(want.Key) != s || want.Protect != nil || want.Outside {
			t.Errorf("%q: plain %v, but the long way gives %+v, %v", s, got, want, err)
		}
	}
	for _, s := range []string{"", "/a", "./a", "a/", "a//b", "a/./b", "a/../b", "a%20b", "s3:x", "a b", "a#b", "a?b", "..", "a/.b"} {
		if plain(s) {
			t.Errorf("%q taken for plain", s)
		}
	}
}

func FuzzLogPath(f *testing.F) {
	for _, s := range []string{"a", "p=50%2525/f", "file:/r/x", "s3a://b/t/x", "..", "a//b/./c/..", "%FF", "a#b?c", "ab:c", "x:/"} {
		f.Add(s)
	}
	r := Root{Scheme: "file", Path: "r"}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := r.LogPath(s)
		if plain(s) {
			if want, err := relativePath(s, s); err != nil || want.Key != p.Key || want.Protect != nil {
				t.Fatalf("%q is no plain path: %+v, %v", s, want, err)
			}
		}
		if err != nil || p.Outside {
			return
		}
		if p.Key == "" || p.Key[0] == '/' || p.Key == ".." || Key(p.Key).Below("..") {
			t.Fatalf("%q gives the key %q", s, p.Key)
		}
		again, err := decode(s)
		if err == nil && !Key(s).Below("") && again == "" {
			t.Fatal("empty")
		}
	})
}

func TestParseRoot(t *testing.T) {
	for in, want := range map[string]string{
		"/a/b/": "/a/b", "file:///a/b": "/a/b", "file:/a//b": "/a/b", "s3://b/t/": "s3://b/t", "S3A://b/x y%20z": "s3a://b/x y%20z", "/a/./b/../c": "/a/c",
	} {
		r, err := ParseRoot(in)
		if err != nil || r.String() != want {
			t.Errorf("%s: got %s, %v; want %s", in, r, err, want)
		}
	}
	for _, in := range []string{"/", "s3://b", "s3://b/", "file:///", "rel/path", "", "nope://x/y", "s3:///x"} {
		if r, err := ParseRoot(in); err == nil || KindOf(err) != Invalid {
			t.Errorf("%q: got %v, %v; want Invalid", in, r, err)
		}
	}
}

func TestNamedKeepsBothReadings(t *testing.T) {
	r := root(t, "/r/my t")
	for s, want := range map[string][]Key{
		"a%20b":                {"a b", "a%20b"},
		"a b|c":                {"a b|c"},
		"100%":                 {"100%"},
		"/r/my t/p=1/x":        {"p=1/x"},
		"file:/r/my%20t/x%20y": {"x y", "x%20y"},
		"/elsewhere/x":         nil,
	} {
		got := r.Named(s)
		if want == nil && got != nil {
			t.Errorf("%q: got %q, want none", s, got)
		}
		for _, k := range want {
			if !contains(got, k) {
				t.Errorf("%q: got %q, want also %q", s, got, k)
			}
		}
	}
}

func BenchmarkLogPath(b *testing.B) {
	r := Root{Scheme: "file", Path: "r"}
	for b.Loop() {
		if _, err := r.LogPath("year=2023/month=07/day=01/hour=00/part-00000-97f0b460-484e-42d7-acde-65e2a4a54ffd.c000.snappy.parquet"); err != nil {
			b.Fatal(err)
		}
	}
}
