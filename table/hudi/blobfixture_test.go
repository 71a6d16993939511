package hudi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table/hudi/blob"
	"github.com/lakesweep/lakesweep/table/hudi/blob/shape"
	"github.com/lakesweep/lakesweep/table/hudi/datafile"
	"github.com/lakesweep/lakesweep/table/hudi/internal/fixture"
)

// Of every file of every real table exactly the references are found that an
// independent reader finds, with and without the logical type, in every
// version; files and their state are those of the real table.
func TestReferencesOfFixtures(t *testing.T) {
	fixture.Each(t, func(t *testing.T, c *fixture.Case) {
		table := openAt(t, c.Table, modelStart)
		var columns shape.Columns
		var err error
		if c.Expected.BlobColumn != "" {
			if columns, err = table.BlobColumns(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			if typed := c.Expected.BlobKind == "blob"; typed != (len(columns) > 0) && c.Expected.BlobKind != "nested" {
				t.Errorf("blob columns %q of a table of kind %q", columns, c.Expected.BlobKind)
			}
		}
		got := map[string][]string{}
		o := table.BlobOptions()
		seen := map[string]bool{}
		files := func(yield func(blob.File, error) bool) {
			for f, err := range table.DataFiles(t.Context()) {
				if err == nil {
					seen[string(f.Key)] = true
				}
				if !yield(f, err) {
					return
				}
			}
		}
		err = blob.References(t.Context(), o, columns, files, func(f blob.File, r shape.Reference, _ bool) error {
			if r.OutOfLine && !r.Pending {
				text := fmt.Sprint(r.Path, " ", r.Managed)
				if k := string(f.Key); !slices.Contains(got[k], text) {
					got[k] = append(got[k], text)
				}
			}
			return nil
		}, func(f blob.File, err error) error { return err })
		if err != nil {
			t.Fatal(err)
		}
		want := map[string][]string{}
		for name, f := range c.Expected.DataFiles {
			if !seen[name] {
				t.Errorf("%s is not seen", name)
			}
			for _, r := range f.Refs {
				want[name] = append(want[name], fmt.Sprint(r[0], " ", r[1]))
			}
			slices.Sort(want[name])
			slices.Sort(got[name])
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if len(seen) != len(c.Expected.DataFiles) {
			t.Errorf("%d files seen of %d", len(seen), len(c.Expected.DataFiles))
		}
	})
}

// Of every real table exactly the blobs lose their last reference that an
// independent computation over the raw files names: with the index, without,
// while it is being built, and with one that is damaged (H5, B138). None of
// those is listed that RFC-100's own text would delete wrongly.
func TestDeletableOfFixtures(t *testing.T) {
	broken := map[string]func(*fixture.Case){
		"as it is": func(*fixture.Case) {},
		"without":  func(c *fixture.Case) { setProperty(c, "hoodie.table.metadata.partitions", "files") },
		"being built": func(c *fixture.Case) {
			setProperty(c, "hoodie.table.metadata.partitions.inflight", c.Expected.Secondary.Partition)
		},
		"damaged": func(c *fixture.Case) {
			for _, name := range c.Table.Names() {
				if strings.HasPrefix(name, ".hoodie/metadata/"+c.Expected.Secondary.Partition) || strings.HasPrefix(name, ".hoodie/metadata/record_index") {
					if _, ok := datafile.Parse(lake.Key(name).Base()); ok {
						c.Table.Put(name, []byte("#HUDI#damaged"), modelStart)
					}
				}
			}
		},
	}
	for _, file := range fixture.Files(t) {
		for how, change := range broken {
			c := fixture.Load(t, file)
			if c.Expected.BlobColumn == "" || c.Expected.Secondary == nil && how != "as it is" {
				continue
			}
			t.Run(c.Name+"/"+how, func(t *testing.T) {
				change(c)
				for name, p := range c.Expected.Policies {
					if p.Error != nil || p.Clean == nil {
						continue
					}
					got, candidates := deletable(t, c, p)
					if !slices.Equal(got, p.Blobs.Deletable) {
						t.Errorf("%s: %q, want %q", name, got, p.Blobs.Deletable)
					}
					if want := slices.Compact(slices.Sorted(slices.Values(p.Blobs.Candidates))); !slices.Equal(candidates, want) {
						t.Errorf("%s: candidates %q, want %q", name, candidates, want)
					}
					for _, lost := range p.Blobs.Literal {
						if slices.Contains(got, lost) {
							t.Errorf("%s: %s is referred to", name, lost)
						}
					}
				}
			})
		}
	}
}

func setProperty(c *fixture.Case, key, value string) {
	name := Dir + "/hoodie.properties"
	data, err := readAll(c.Table, name)
	if err != nil {
		panic(err)
	}
	var lines []string
	for line := range strings.Lines(string(data)) {
		if !strings.HasPrefix(line, key+"=") {
			lines = append(lines, line)
		}
	}
	c.Table.Put(name, []byte(strings.Join(lines, "")+key+"="+value+"\n"), modelStart)
}

func readAll(s store.Reader, name string) ([]byte, error) {
	rc, err := s.Open(context.Background(), name, 0, -1)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(rc)
	return data, errors.Join(err, rc.Close())
}

// deletable plans a clean and returns the candidates, and those that no
// committed file that stays refers to.
func deletable(t *testing.T, c *fixture.Case, p fixture.Policy) (gone, candidates []string) {
	t.Helper()
	table := openAt(t, c.Table, p.Now)
	plan, err := table.Plan(t.Context(), configOf(t, p))
	if err != nil {
		t.Fatal(err)
	}
	files, _ := dead(t, plan)
	more := c.Expected.BlobColumns
	if c.Expected.BlobKind != "blob" && len(more) == 0 {
		more = []string{c.Expected.BlobColumn}
	}
	columns, err := table.BlobColumns(t.Context(), more)
	if err != nil {
		t.Fatal(err)
	}
	split := func(expired bool) func(func(blob.File, error) bool) {
		return func(yield func(blob.File, error) bool) {
			for f, err := range table.DataFiles(t.Context()) {
				if err == nil && slices.Contains(files, string(f.Key)) != expired {
					continue
				}
				if !yield(f, err) {
					return
				}
			}
		}
	}
	o := table.BlobOptions()
	if o.Names, err = lake.NewBlobNames(lake.BlobOptions{}); err != nil {
		t.Fatal(err)
	}
	set := map[string]bool{}
	err = blob.References(t.Context(), o, columns, split(true), func(_ blob.File, r shape.Reference, column bool) error {
		if column && r.Managed && r.OutOfLine {
			set[r.Path] = true
		}
		return nil
	}, func(_ blob.File, err error) error { return err })
	if err != nil {
		t.Fatal(err)
	}
	candidates = slices.Sorted(maps.Keys(set))
	ids := func(yield func(lake.BlobID, error) bool) {
		for _, c := range candidates {
			if !yield(lake.BlobID(c), nil) {
				return
			}
		}
	}
	round, err := blob.NewJudge(o).Judge(t.Context(), ids, split(false))
	if err != nil || round.UnreadFiles > 0 {
		t.Fatal(err, round)
	}
	gone = []string{}
	for _, id := range candidates {
		if f := round.Of(lake.BlobID(id)).Fate; f == blob.Unreferenced || f == blob.Pending {
			gone = append(gone, id)
		}
	}
	return gone, candidates
}
