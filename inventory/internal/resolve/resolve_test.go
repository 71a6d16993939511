package resolve

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lakesweep/lakesweep/inventory/internal/rowset"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
)

func places(t interface{ Fatal(...any) }, spelled ...string) (out []lake.Root) {
	for _, s := range spelled {
		r, err := lake.ParsePlace(s)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

// resolve returns "root index:name" for each place where a row lands.
func resolve(t interface{ Fatal(...any) }, roots []string, maps []Map, rows ...rowset.Row) ([]string, Resolved) {
	r, err := NewResolver(places(t, roots...), maps)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	err = r.Resolve(rows, func(root int, objects []store.Info) error {
		for _, o := range objects {
			out = append(out, fmt.Sprint(root, ":", o.Name))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out, r.Counts()
}

func TestResolve(t *testing.T) {
	const azure = "abfss://c@acct.dfs.core.windows.net/t"
	for _, c := range []struct {
		rule, root string
		place      string
		name       string
		want       string // "" is outside
	}{
		{"a bucket and a key", "s3://b/t", "s3://b", "t/p=1/x", "p=1/x"},
		{"an alias of the scheme", "s3a://b/t", "s3://b", "t/x", "x"},
		{"an alias of the scheme in a URI", "s3://b/t", "", "s3n://b/t/x", "x"},
		{"a scheme in capitals", "s3://b/t", "", "S3://b/t/x", "x"},
		{"a look-alike prefix", "s3://b/t", "s3://b", "t2/x", ""},
		{"another bucket", "s3://b/t", "s3://b2", "t/x", ""},
		{"another store", "s3://b/t", "gs://b", "t/x", ""},
		{"a bucket in other letters", "s3://b/t", "s3://B", "t/x", ""},
		{"above the root", "s3://b/t/u", "s3://b", "t/x", ""},
		{"names are never decoded", "s3://b/t", "s3://b", "t/p%3D1/a+b%20c", "p%3D1/a+b%20c"},
		{"a root is verbatim", "s3://b/t%20u", "s3://b", "t%20u/x", "x"},
		{"slashes are a part of a key", "s3://b/t", "s3://b", "t//x", "/x"},
		{"a list's own root", "s3://b/t", "s3://b/t", "p=1/x", "p=1/x"},
		{"a list's own root above", "s3://b/t/u", "s3://b/t", "u/x", "x"},
		{"a list's own root below", "s3://b/t", "s3://b/t/u", "x", "u/x"},
		{"a list's own root beside", "s3://b/t", "s3://b/tt", "x", ""},
		{"relative", "s3://b/t", "", "p=1/x", "p=1/x"},
		{"relative with a dot", "s3://b/t", "", "./p=1/x", "p=1/x"},
		{"relative with a colon", "s3://b/t", "", "p=1:2/x", "p=1:2/x"},
		{"relative with a time", "s3://b/t", "", "ts=2020-01-01 00:00:00/x", "ts=2020-01-01 00:00:00/x"},
		{"https of Azure's blob host (B014)", azure, "", "https://acct.blob.core.windows.net/c/t/f", "f"},
		{"https of Azure's dfs host", azure, "", "https://acct.dfs.core.windows.net/c/t/f", "f"},
		{"https of another account", azure, "", "https://other.blob.core.windows.net/c/t/f", ""},
		{"wasbs", azure, "", "wasbs://c@acct.blob.core.windows.net/t/f", "f"},
		{"a container without its account", azure, "az://c", "t/f", "f"},
		{"a root without its account", "az://c/t", "", "https://acct.blob.core.windows.net/c/t/f", "f"},
		{"another container", azure, "az://d", "t/f", ""},
		{"https of another store", "s3://b/t", "", "https://b.s3.amazonaws.com/t/f", ""},
		{"file with one slash", "/r", "", "file:/r/x", "x"},
		{"file with three slashes", "/r", "", "file:///r/x", "x"},
		{"file with localhost", "/r", "", "file://localhost/r/x", "x"},
		{"a local path", "/r", "", "/r/x", "x"},
		{"a local path with doubled slashes", "/r/s", "", "/r//s//x", "x"},
		{"a local path beside", "/r", "", "/rr/x", ""},
		{"a path of HDFS without its scheme", "hdfs://nn:8020/r", "", "/r/x", "x"},
		{"HDFS without its name node", "hdfs://nn:8020/r", "", "hdfs:///r/x", "x"},
		{"another name node", "hdfs://nn:8020/r", "", "hdfs://mm:8020/r/x", ""},
		{"an unknown scheme", "s3://b/t", "", "dbfs:/t/x", ""},
	} {
		got, counts := resolve(t, []string{c.root}, nil, rowset.Row{Place: c.place, Name: c.name})
		var want []string
		if c.want != "" {
			want = []string{"0:" + c.want}
		}
		if !cmp.Equal(got, want) || (counts.Outside == 1) != (c.want == "") {
			t.Errorf("%s: %s %s in %s: got %q, %+v; want %q", c.rule, c.place, c.name, c.root, got, counts, want)
		}
	}
}

func TestResolveLeavesOut(t *testing.T) {
	for name, want := range map[string]Resolved{
		"_delta_log/0.json":     {Metadata: 1},
		"_delta_log":            {Metadata: 1},
		"sub/_delta_log/0.json": {Inside: []int64{1}}, // tells of a table inside
		"a/../x":                {Odd: 1},
		"..":                    {Odd: 1},
		"a/.":                   {Odd: 1},
		"a./b..c/..d":           {Inside: []int64{1}},
		"":                      {}, // the root itself
	} {
		if want.Inside == nil {
			want.Inside = []int64{0}
		}
		if _, got := resolve(t, []string{"s3://b/t"}, nil, rowset.Row{Place: "s3://b", Name: "t/" + name}); !cmp.Equal(got, want) {
			t.Errorf("%q: %+v, want %+v", name, got, want)
		}
	}
}

func TestMaps(t *testing.T) {
	roots := []string{"s3://b/t", "/data/t"}
	for _, c := range []struct {
		maps []Map
		row  rowset.Row
		want string
	}{
		{[]Map{{"oss://", "s3://"}}, rowset.Row{Name: "oss://b/t/x"}, "0:x"},
		{[]Map{{"gs://old/warehouse", "s3://b"}}, rowset.Row{Place: "gs://old", Name: "warehouse/t/x"}, "0:x"},
		{[]Map{{"s3://b/t", "/data/t"}}, rowset.Row{Place: "s3://b", Name: "t/x"}, "1:x"},
		{[]Map{{"s3://b/t/", "/data/t/"}}, rowset.Row{Place: "s3://b", Name: "t/x"}, "1:x"},
		{[]Map{{"s3://b/old", "s3://b/t"}}, rowset.Row{Place: "s3://b", Name: "older/x"}, ""},
		{[]Map{{"s3://b", "s3://nowhere"}, {"s3://b/old", "s3://b/t"}}, rowset.Row{Place: "s3://b", Name: "old/x"}, "0:x"},
		{[]Map{{"s3://b/old", "s3://b/t"}, {"s3://b", "s3://nowhere"}}, rowset.Row{Place: "s3://b", Name: "old/x"}, "0:x"},
		{[]Map{{"s3://b", "s3://nowhere"}}, rowset.Row{Place: "s3://b", Name: "t/x"}, ""},
		{[]Map{{"s3://b/t", "/data/t"}}, rowset.Row{Place: "s3://b/t", Name: "x"}, "1:x"},
		{[]Map{{"s3://b/t/old", "/data/t"}}, rowset.Row{Place: "s3://b/t", Name: "old/x"}, "1:x"},
		{[]Map{{"s3://b/t/old", "/data/t"}}, rowset.Row{Place: "s3://b/t", Name: "x"}, "0:x"},
		{[]Map{{"s3://", "s3a://"}}, rowset.Row{Place: "s3://b", Name: "t/x"}, "0:x"},
		{[]Map{{"/mnt/lake", "s3://b"}}, rowset.Row{Name: "/mnt/lake/t/x"}, "0:x"},
	} {
		got, _ := resolve(t, roots, c.maps, c.row)
		if strings.Join(got, " ") != c.want {
			t.Errorf("%v %v: got %q, want %q", c.maps, c.row, got, c.want)
		}
	}
	for _, m := range []Map{{"", "s3://b"}, {"s3://b", ""}, {"s3a://", "s3://b"}} {
		if _, err := NewResolver(nil, []Map{m}); lake.KindOf(err) != lake.Invalid {
			t.Errorf("%v: %v", m, err)
		}
	}
}

// Against an oracle that tests each root by itself.
func TestResolveManyRoots(t *testing.T) {
	name := rapid.StringMatching(`[ab]{1,2}(/[ab]{1,2}){0,4}`)
	rapid.Check(t, func(t *rapid.T) {
		var roots []string
		for _, p := range rapid.SliceOfNDistinct(name, 1, 8, rapid.ID[string]).Draw(t, "roots") {
			roots = append(roots, "s3://bucket/"+p)
		}
		key := name.Draw(t, "key")
		var want []string
		for i, root := range roots {
			if rest, ok := strings.CutPrefix("s3://bucket/"+key, root+"/"); ok {
				want = append(want, fmt.Sprint(i, ":", rest))
			}
		}
		for _, row := range []rowset.Row{{Place: "s3://bucket", Name: key}, {Name: "s3a://bucket/" + key}} {
			got, _ := resolve(t, roots, nil, row)
			slices.Sort(got)
			if slices.Sort(want); !cmp.Equal(got, want) && len(got)+len(want) > 0 {
				t.Fatalf("%v in %v: got %v, want %v", row, roots, got, want)
			}
		}
	})
}

// A name in two parts, place and rest, is the same as the name in one, whatever
// maps there are.
func TestPlacesAndNamesAgree(t *testing.T) {
	part := rapid.StringMatching(`[ab]{1,2}`)
	rapid.Check(t, func(t *rapid.T) {
		path := func(label string, least int) string {
			return strings.Join(rapid.SliceOfN(part, least, 4).Draw(t, label), "/")
		}
		roots := []string{"s3://b/" + path("root", 1), "gs://b/" + path("root", 1)}
		if roots[0][2:] == roots[1][2:] {
			roots = roots[:1]
		}
		var maps []Map
		for range rapid.IntRange(0, 3).Draw(t, "maps") {
			place := rapid.SampledFrom([]string{"s3://b", "gs://b"})
			maps = append(maps, Map{strings.TrimSuffix(place.Draw(t, "from")+"/"+path("from", 0), "/"), strings.TrimSuffix(place.Draw(t, "to")+"/"+path("to", 0), "/")})
		}
		names := strings.Split(path("name", 1), "/")
		cut := rapid.IntRange(0, len(names)-1).Draw(t, "cut")
		place := strings.Join(append([]string{"s3://b"}, names[:cut]...), "/")
		got, _ := resolve(t, roots, maps, rowset.Row{Place: place, Name: strings.Join(names[cut:], "/")})
		want, _ := resolve(t, roots, maps, rowset.Row{Name: "s3://b/" + strings.Join(names, "/")})
		if !cmp.Equal(got, want) {
			t.Fatalf("%v %v: %q in two parts gives %v, in one %v", roots, maps, names, got, want)
		}
	})
}

func FuzzResolve(f *testing.F) {
	for _, s := range []string{"s3://b/t/x", "/t/x", "x", "https://a.blob.x/c/t/y", "file:/t/../x", "://", ":", "s3:", "s3://", "a:/b", "https://"} {
		f.Add("", s)
		f.Add("s3://b", s)
		f.Add("s3://b/t", s)
	}
	f.Fuzz(func(t *testing.T, place, name string) {
		got, _ := resolve(t, []string{"s3://b/t", "/t", "az://c/t"}, []Map{{"gs://", "s3://"}}, rowset.Row{Place: place, Name: name})
		for _, g := range got {
			_, key, _ := strings.Cut(g, ":")
			if key == "" || key == "_delta_log" || hasDots(key) || !strings.HasSuffix(squeeze(place+"/"+name), squeeze(key)) {
				t.Fatalf("%q %q gives %q", place, name, g)
			}
		}
	})
}
