package leaf_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"

	"github.com/lakesweep/lakesweep/store/mem"
	"github.com/lakesweep/lakesweep/table/internal/leaf"
)

type inner struct {
	Name  string             `parquet:"name,optional,dict"`
	Plain *string            `parquet:"plain,optional"`
	Size  *int64             `parquet:"size,optional"`
	Small *int32             `parquet:"small,optional,dict"`
	Map   map[string]*string `parquet:"map,optional" parquet-value:",optional"`
	List  []string           `parquet:"list,list"`
}

type row struct {
	Inner *inner `parquet:"inner,optional"`
	Need  int64  `parquet:"need"`
}

// seen is what the columns give of a row.
type seen struct {
	Name, Plain       string
	Size, Small, Need int64
	Pairs, List       []string
}

// TestColumnsAgreeWithTheRowsWritten reads random rows back, column by column,
// skipping some, over pages and row groups of all sizes.
func TestColumnsAgreeWithTheRowsWritten(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("abé")), 0, 5, -1)
		rows := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) row {
			r := row{Need: rapid.Int64().Draw(rt, "need")}
			if rapid.IntRange(0, 3).Draw(rt, "none") == 0 {
				return r
			}
			r.Inner = &inner{Name: text.Draw(rt, "name"), List: rapid.SliceOfN(text, 0, 3).Draw(rt, "list")}
			if rapid.Bool().Draw(rt, "plain") {
				s := text.Draw(rt, "text")
				r.Inner.Plain = &s
			}
			if rapid.Bool().Draw(rt, "size") {
				n, m := rapid.Int64().Draw(rt, "n"), rapid.Int32().Draw(rt, "m")
				r.Inner.Size, r.Inner.Small = &n, &m
			}
			for k := range rapid.IntRange(0, 2).Draw(rt, "pairs") {
				if r.Inner.Map == nil {
					r.Inner.Map = map[string]*string{}
				}
				r.Inner.Map[fmt.Sprint(k)] = nil
				if rapid.Bool().Draw(rt, "value") {
					s := text.Draw(rt, "v")
					r.Inner.Map[fmt.Sprint(k)] = &s
				}
			}
			return r
		}), 1, 60).Draw(rt, "rows")
		var buf bytes.Buffer
		w := parquet.NewGenericWriter[row](&buf, parquet.PageBufferSize(rapid.IntRange(16, 400).Draw(rt, "page")),
			parquet.MaxRowsPerRowGroup(rapid.Int64Range(1, 60).Draw(rt, "row group")), parquet.DataPageVersion(rapid.IntRange(1, 2).Draw(rt, "version")))
		if _, err := w.Write(rows); err != nil {
			rt.Fatal(err)
		}
		if err := w.Close(); err != nil {
			rt.Fatal(err)
		}
		at := 0
		f, err := parquet.OpenFile(bytes.NewReader(buf.Bytes()), int64(buf.Len()))
		if err != nil {
			rt.Fatal(err)
		}
		s := mem.New(mem.Options{})
		s.Put("f", buf.Bytes(), time.Time{})
		for _, group := range f.RowGroups() {
			open := func(c *leaf.Column, path ...string) *leaf.Column {
				node := f.Root()
				for _, name := range path {
					node = node.Column(name)
				}
				c.Leaf, c.Chunk = node, group.ColumnChunks()[node.Index()]
				c.Source = leaf.NewRange(t.Context(), s, "f", int64(buf.Len()))
				return c
			}
			name, plain := open(&leaf.Column{}, "inner", "name"), open(&leaf.Column{}, "inner", "plain")
			size, small, need := open(&leaf.Column{}, "inner", "size"), open(&leaf.Column{}, "inner", "small"), open(&leaf.Column{}, "need")
			keys, values, list := &leaf.Repeated{Level: 3}, &leaf.Repeated{Level: 3}, &leaf.Repeated{Level: 2}
			open(&keys.Column, "inner", "map", "key_value", "key")
			open(&values.Column, "inner", "map", "key_value", "value")
			open(&list.Column, "inner", "list", "list", "element")
			for n := range group.NumRows() {
				want := rows[at]
				at++
				if rapid.IntRange(0, 2).Draw(rt, "skip") == 0 {
					continue
				}
				if d := cmp.Diff(expected(want), found(rt, n, name, plain, size, small, need, keys, values, list)); d != "" {
					rt.Fatalf("row %d (-want +got)\n%s", at-1, d)
				}
			}
			for _, c := range []*leaf.Column{name, plain, size, small, need, &keys.Column, &values.Column, &list.Column} {
				c.Close()
			}
		}
	})
}

func expected(r row) (s seen) {
	s.Need = r.Need
	if r.Inner == nil {
		return s
	}
	s.Name = r.Inner.Name
	if r.Inner.Plain != nil {
		s.Plain = *r.Inner.Plain
	}
	if r.Inner.Size != nil {
		s.Size, s.Small = *r.Inner.Size, int64(*r.Inner.Small)
	}
	for k := range len(r.Inner.Map) {
		v := "null"
		if p := r.Inner.Map[fmt.Sprint(k)]; p != nil {
			v = "=" + *p
		}
		s.Pairs = append(s.Pairs, fmt.Sprint(k, v))
	}
	s.List = append(s.List, r.Inner.List...)
	return s
}

func found(rt *rapid.T, n int64, name, plain, size, small, need *leaf.Column, keys, values, list *leaf.Repeated) (s seen) {
	for c, to := range map[*leaf.Column]*string{name: &s.Name, plain: &s.Plain} {
		ok, err := c.At(n)
		if ok && err == nil {
			*to, err = c.Text()
		}
		if err != nil {
			rt.Fatal(err)
		}
	}
	for c, to := range map[*leaf.Column]*int64{size: &s.Size, small: &s.Small, need: &s.Need} {
		if err := c.IntAt(n, to); err != nil {
			rt.Fatal(err)
		}
	}
	var ks, vs []string
	gather := func(r *leaf.Repeated, to *[]string, prefix string) {
		_, err := r.Each(n, func(i int, null bool) error {
			text := "null"
			if !null {
				v, err := r.TextAt(i)
				if err != nil {
					return err
				}
				text = prefix + v
			}
			*to = append(*to, text)
			return nil
		})
		if err != nil {
			rt.Fatal(err)
		}
	}
	gather(keys, &ks, "")
	gather(values, &vs, "=")
	gather(list, &s.List, "")
	pairs := map[string]string{}
	for i, k := range ks {
		pairs[k] = vs[i]
	}
	for k := range len(pairs) {
		s.Pairs = append(s.Pairs, fmt.Sprint(k, pairs[fmt.Sprint(k)]))
	}
	return s
}
