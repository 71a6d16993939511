package delta_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table/delta"
	"github.com/lakesweep/lakesweep/table/delta/deltatest"
)

// TestCleanedLogsProtectOrSayWhyNot cleans the beginning of random logs, as a
// log retention shorter than the wished one does. Either every file that was
// live since the cutoff is protected, or HistoryGap says that this can't be
// proved. Checkpoints forget removals older than the property, and some
// removals are dated hours before their commit.
func TestCleanedLogsProtectOrSayWhyNot(t *testing.T) {
	proved, gaps := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		f := newFixture(rt)
		f.now = day(30)
		retain := float64(rapid.IntRange(1, 10).Draw(rt, "property"))
		f.Configure("delta.deletedFileRetentionDuration", fmt.Sprintf("interval %v days", retain))
		cutoff := day(float64(rapid.IntRange(5, 30).Draw(rt, "cutoff")))
		needed, live := map[lake.Key]bool{}, map[string]bool{}
		last, checkpoint := int64(0), int64(-1)
		for v := range rapid.IntRange(2, 14).Draw(rt, "versions") {
			at := day(float64(2*v) + 0.5)
			var actions []deltatest.Action
			for _, path := range slices.Sorted(maps.Keys(live)) {
				if rapid.IntRange(0, 2).Draw(rt, "remove") == 0 {
					early := time.Duration(rapid.IntRange(0, 30).Draw(rt, "hours early")) * time.Hour
					actions = append(actions, deltatest.NewRemove(path, at.Add(-early)))
					delete(live, path)
					if !at.Before(cutoff) {
						needed[lake.Key(path)] = true
					}
				}
			}
			for i := range rapid.IntRange(0, 3).Draw(rt, "adds") {
				path := fmt.Sprintf("f%d-%d", v, i)
				actions = append(actions, deltatest.NewAdd(path, 1))
				live[path] = true
			}
			last = f.Commit(at, actions...)
			if rapid.IntRange(0, 2).Draw(rt, "checkpoint") == 0 {
				written := at.Add(time.Minute)
				f.Checkpoint(last, written, deltatest.Checkpoint{Keep: written.Add(-time.Duration(retain*24) * time.Hour)})
				checkpoint = last
			}
		}
		for path := range live {
			needed[lake.Key(path)] = true
		}
		if checkpoint > 0 {
			for v := range rapid.Int64Range(0, checkpoint).Draw(rt, "cleaned") {
				f.remove(t, deltatest.Name(v))
			}
		}
		p, err := f.mustOpen(t).Protect(t.Context(), delta.ProtectRequest{Cutoff: cutoff})
		if err != nil {
			rt.Fatal(err)
		}
		if p.HistoryGap != "" {
			gaps++
			return
		}
		proved++
		for k := range needed {
			if !p.Set.Has(k) {
				rt.Errorf("%q was live since %v and isn't protected", k, cutoff)
			}
		}
	})
	if (proved == 0 || gaps == 0) && !testing.Short() { // a tenth has a gap
		t.Errorf("%d proved, %d gaps: the test shows nothing", proved, gaps)
	}
}

// counting counts the bytes read of Parquet files.
type counting struct {
	store.Reader
	bytes, opens atomic.Int64
}

func (c *counting) Open(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	rc, err := c.Reader.Open(ctx, name, offset, length)
	if err != nil || !strings.HasSuffix(name, ".parquet") {
		return rc, err
	}
	c.opens.Add(1)
	return &countingBody{rc, c}, nil
}

type countingBody struct {
	io.ReadCloser
	c *counting
}

func (b *countingBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.c.bytes.Add(int64(n))
	return n, err
}

// A checkpoint's statistics, by far most of it, are never read.
func TestOnlyTheColumnsWantedAreRead(t *testing.T) {
	f := newFixture(t)
	var actions []deltatest.Action
	seed := uint64(1)
	for i := range 2000 {
		a := deltatest.NewAdd(fmt.Sprintf("part-%05d.parquet", i), 1)
		var stats strings.Builder
		for range 40 { // doesn't compress
			seed = seed*6364136223846793005 + 1442695040888963407
			fmt.Fprintf(&stats, "%016x", seed)
		}
		a.Add.Stats = stats.String()
		actions = append(actions, a)
	}
	f.Commit(day(0), actions...)
	name := f.Checkpoint(0, day(1), deltatest.Checkpoint{RowGroup: 500})[0]
	f.Commit(day(2))
	size := int64(len(f.read(t, name)))
	c := &counting{Reader: f.s}
	tab, err := delta.Open(t.Context(), c, f.root, delta.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := tab.Protect(t.Context(), delta.ProtectRequest{Cutoff: day(50)})
	if err != nil || p.LiveFiles != 2000 {
		t.Fatal(p, err)
	}
	if got := c.bytes.Load(); got > size/5 {
		t.Errorf("%d bytes read of %d", got, size)
	}
	if got := c.opens.Load(); got > 4*8+4 {
		t.Errorf("%d requests for 4 row groups", got)
	}
}

// Protocol and metadata of a checkpoint, a dozen columns, take one request
// after the footer's.
func TestTheHeadOfACheckpointIsOneRequest(t *testing.T) {
	f := newFixture(t)
	f.Features([]string{"deletionVectors"}, []string{"appendOnly"}).Configure("a", "b").Configure("c", "d").Partition("p")
	f.Commit(day(0), filler("a", 1100)...)
	f.Checkpoint(0, day(1), deltatest.Checkpoint{RowGroup: 10})
	f.Commit(day(2))
	c := &counting{Reader: f.s}
	tab, err := delta.Open(t.Context(), c, f.root, delta.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := c.opens.Load(); got > 3 {
		t.Errorf("%d requests", got)
	}
	if m := tab.Metadata(); m.Configuration["a"] != "b" || m.Configuration["c"] != "d" || len(m.PartitionColumns) != 1 || len(tab.Info().Features) != 2 {
		t.Errorf("%+v %+v", m, tab.Info())
	}
}
