package mdt

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/avro"
	"github.com/twmb/avro/ocf"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/mem"
	"github.com/lakesweep/lakesweep/table/hudi/hfile"
	"github.com/lakesweep/lakesweep/table/hudi/internal/fixture"
	"github.com/lakesweep/lakesweep/table/hudi/logblock"
	"github.com/lakesweep/lakesweep/table/hudi/mdttest"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

func writing(s *mem.Store, at string) Writing {
	return Writing{
		Writer: s, Now: time.Unix(1, 0),
		Completion: func(context.Context) (string, error) { return at[:14] + "999", nil },
		Verify:     func(context.Context) error { return nil },
	}
}

func cleanOf(p fixture.Policy) Clean {
	c := Clean{Instant: p.Clean.Instant, Files: map[string][]string{}, DeadPartitions: p.Plan.DeadPartitions}
	for _, f := range p.Deleted {
		dir := string(lake.Key(f).Dir())
		c.Files[dir] = append(c.Files[dir], lake.Key(f).Base())
	}
	return c
}

// publish makes the clean complete on the data table's timeline: only then its
// delta commit counts.
func publish(t *testing.T, s *mem.Store, m *Table, instant string) {
	t.Helper()
	for _, state := range []timeline.State{timeline.Requested, timeline.Inflight, timeline.Completed} {
		s.Put(m.data.Timeline.Dir+"/"+timeline.Name(m.data.Timeline.Layout, instant, timeline.Clean, state, instant[:14]+"999"), []byte("x"), time.Time{})
	}
}

// After our commit of each real clean the listing is the folder; before the
// clean completes it is what it was.
func TestCommitOfRealCleans(t *testing.T) {
	fixture.Each(t, func(t *testing.T, c *fixture.Case) {
		for policy, p := range c.Expected.Policies {
			if p.Clean == nil {
				continue
			}
			after := mem.New(mem.Options{})
			copyMeta(t, after, c.Table)
			m := open(t, after)
			before := listing(t, m)
			after.Put(m.data.Timeline.Dir+"/"+p.Clean.Instant+".clean.requested", []byte("x"), time.Time{})
			m = open(t, after)
			if err := m.Commit(t.Context(), writing(after, p.Clean.Instant), cleanOf(p)); err != nil {
				t.Fatal(policy, err)
			}
			if diff := cmp.Diff(before, listing(t, open(t, after))); diff != "" {
				t.Errorf("%s: visible before the clean completes: %s", policy, diff)
			}
			publish(t, after, m, p.Clean.Instant)
			for _, f := range p.Deleted {
				delete(before, f)
			}
			m = open(t, after)
			if err := m.Trust(); err != nil {
				t.Error(policy, err)
			}
			if diff := cmp.Diff(before, listing(t, m)); diff != "" {
				t.Errorf("after %s: %s", policy, diff)
			}
			names := after.Names()
			if err := m.Commit(t.Context(), writing(after, p.Clean.Instant), cleanOf(p)); err != nil || !slices.Equal(names, after.Names()) {
				t.Errorf("%s: a second commit of the same clean: %v", policy, err)
			}
			compareTombstones(t, after, c.Answers[policy])
		}
	})
}

// compareTombstones compares the delete blocks of all partitions with Hudi's.
func compareTombstones(t *testing.T, got, want *mem.Store) {
	t.Helper()
	for _, name := range want.Names() {
		dir := lake.Key(name).Dir()
		if !strings.Contains(name, ".log.") || !strings.HasPrefix(name, Dir) {
			continue
		}
		id, _, _ := strings.Cut(lake.Key(name).Base(), "_")
		keys := deletedKeys(t, want, name)
		for _, ours := range got.Names() {
			if lake.Key(ours).Dir() == dir && strings.HasPrefix(lake.Key(ours).Base(), id+"_") && strings.HasSuffix(ours, "_"+writeToken) {
				if mine := deletedKeys(t, got, ours); len(keys) > 0 && slices.Equal(mine, keys) {
					keys = nil
				}
			}
		}
		if len(keys) > 0 {
			t.Errorf("%s: no log of ours deletes the same %d keys", name, len(keys))
		}
	}
}

func deletedKeys(t *testing.T, s *mem.Store, name string) []string {
	t.Helper()
	d, err := logblock.NewDeletions()
	if err != nil {
		t.Fatal(err)
	}
	data := read(t, s, name)
	var out []string
	for b, err := range logblock.Blocks(strings.NewReader(string(data)), int64(len(data))) {
		if err != nil {
			t.Fatal(err)
		}
		if b.Type != logblock.Delete {
			continue
		}
		content, err := b.Content()
		if err != nil {
			t.Fatal(err)
		}
		keys, err := d.Keys(content)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range keys {
			out = append(out, k.RecordKey)
		}
	}
	slices.Sort(out)
	return out
}

// Killed at any write, the next try ends with the same listing.
func TestCommitAfterACrash(t *testing.T) {
	for _, file := range fixture.Files(t) {
		if !strings.Contains(file, "cow_v9_bloom") && !strings.Contains(file, "mor_v6_120") {
			continue
		}
		c := fixture.Load(t, file)
		p := c.Expected.Policies["commits"]
		for n := 1; ; n++ {
			s := mem.New(mem.Options{})
			copyMeta(t, s, c.Table)
			want := listing(t, open(t, s))
			for _, f := range p.Deleted {
				delete(want, f)
			}
			s.Put(open(t, s).data.Timeline.Dir+"/"+p.Clean.Instant+".clean.requested", []byte("x"), time.Time{})
			w := writing(s, p.Clean.Instant)
			w.Writer = &dying{Writer: s, left: n}
			err := open(t, s).Commit(t.Context(), w, cleanOf(p))
			if err != nil {
				if err := open(t, s).Commit(t.Context(), writing(s, p.Clean.Instant), cleanOf(p)); err != nil {
					t.Fatalf("killed at write %d: %v", n, err)
				}
			}
			m := open(t, s)
			publish(t, s, m, p.Clean.Instant)
			if diff := cmp.Diff(want, listing(t, open(t, s))); diff != "" {
				t.Fatalf("killed at write %d: %s", n, diff)
			}
			if err == nil {
				break
			}
		}
	}
}

// A clean writes no second tombstone of a file that the log deletes already:
// with it, Hudi up to 1.2 would list the file again.
func TestCommitDeletesNoFileTwice(t *testing.T) {
	s, table := smallTable(t, mdttest.Files{"": {"a": 1, "b": 1, "c": 1}})
	if err := table.Write("20260103000000000", "20260103000000009", mdttest.Change{Gone: mdttest.Files{"": {"a": 0}}}); err != nil {
		t.Fatal(err)
	}
	const at = "20260102000000000" // requested before
	s.Put(".hoodie/timeline/"+at+".clean.requested", []byte("x"), time.Time{})
	if err := open(t, s).Commit(t.Context(), writing(s, at), Clean{Instant: at, Files: map[string][]string{"": {"a", "b"}}}); err != nil {
		t.Fatal(err)
	}
	m := open(t, s)
	publish(t, s, m, at)
	if diff := cmp.Diff(map[string]int64{"c": 1}, listing(t, open(t, s))); diff != "" {
		t.Error(diff)
	}
	name := Dir + "/files/.files-0000-0_" + at + ".log.1_" + writeToken
	data := read(t, s, name)
	for b, err := range logblock.Blocks(bytes.NewReader(data), int64(len(data))) {
		if err != nil {
			t.Fatal(err)
		}
		schema, err := avro.Parse(b.Header[logblock.Schema])
		if err != nil {
			t.Fatal(err)
		}
		err = eachEntry(b, func(e hfile.Entry) error {
			r, err := decodeRecord(schema, e.Key, e.Value)
			if diff := cmp.Diff(map[string]fileInfo{"b": {Deleted: true}}, r.Files); e.Key == unpartitioned && diff != "" {
				t.Error(diff)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

var errKilled = errors.New("killed")

// dying fails every write from the n-th on.
type dying struct {
	store.Writer
	left int
}

func (d *dying) PutIfAbsent(ctx context.Context, name string, data []byte) error {
	if d.left--; d.left < 0 {
		return errKilled
	}
	return d.Writer.PutIfAbsent(ctx, name, data)
}

func TestShard(t *testing.T) {
	// "polygenelubricants" hashes to the least int32, which Java's abs leaves negative.
	for key, want := range map[string]int{"": 0, "a": 7, "ab": 5, "polygenelubricants": 8} {
		if got := shard(key, 10); got != want {
			t.Errorf("%q: %d, want %d", key, got, want)
		}
	}
	if shard("polygenelubricants", 1) != 0 {
		t.Error("one shard holds all")
	}
}

const compactionSchema = `{"type":"record","name":"HoodieCompactionPlan","fields":[{"name":"operations","type":{"type":"array","items":{"type":"record","name":"o","fields":[
{"name":"baseInstantTime","type":"string"},{"name":"fileId","type":"string"},{"name":"partitionPath","type":"string"}]}}}]}`

// While a compaction of the metadata table is pending, version 6 names the logs
// of the groups in its plan by its instant, and of no others: those have no slice there.
func TestLogsBesideAPendingCompaction(t *testing.T) {
	seen := 0
	fixture.Each(t, func(t *testing.T, c *fixture.Case) {
		if c.Expected.TableVersion != 6 || !slices.Contains(c.Expected.MetadataPartitions, columnStats) {
			return
		}
		for _, p := range c.Expected.Policies {
			if p.Clean == nil || len(p.Deleted) == 0 {
				continue
			}
			s := mem.New(mem.Options{})
			copyMeta(t, s, c.Table)
			schema, err := avro.Parse(compactionSchema)
			if err != nil {
				t.Fatal(err)
			}
			var plan bytes.Buffer
			w, err := ocf.NewWriter(&plan, schema)
			if err == nil {
				err = w.Encode(map[string]any{"operations": []map[string]any{{"baseInstantTime": "1", "fileId": "files-0000-0", "partitionPath": FilesPartition}}})
			}
			if err = errors.Join(err, w.Close()); err != nil {
				t.Fatal(err)
			}
			at := p.Clean.Instant + "001"
			s.Put(Dir+"/.hoodie/"+at+".compaction.requested", plan.Bytes(), time.Time{})
			if err := open(t, s).Commit(t.Context(), writing(s, p.Clean.Instant), cleanOf(p)); err != nil {
				t.Fatal(err)
			}
			for _, name := range s.Names() {
				if strings.HasPrefix(name, Dir+"/"+columnStats+"/.") && strings.Contains(name, "_"+at+".log.") {
					t.Errorf("%s lies in a slice that isn't there", name)
				}
			}
			if !slices.Contains(s.Names(), Dir+"/files/.files-0000-0_"+at+".log.1_0-0-0") {
				t.Error("the log of files doesn't lie in the new slice")
			}
			seen++
		}
	})
	if seen == 0 {
		t.Skip("no table of version 6 with column statistics")
	}
}
