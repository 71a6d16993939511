package blobqueue

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/mem"
)

func epoch() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// ids returns a namer of parts.
func ids() func() string {
	n := 0
	return func() string { n++; return fmt.Sprintf("id%d", n) }
}

func entry(path string, hour int) Entry {
	at := epoch().Add(time.Duration(hour) * time.Hour)
	return Entry{Path: path, Enqueued: at.Format("20060102150405") + "000", Source: "20260301000000000", At: at, Size: -1}
}

func sequence(entries ...Entry) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for _, e := range entries {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func collect(t interface {
	Helper()
	Fatal(...any)
}, it iter.Seq2[Entry, error]) []Entry {
	t.Helper()
	var out []Entry
	for e, err := range it {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, e)
	}
	return out
}

func add(entries ...Entry) Change {
	return func(old *Snapshot) (iter.Seq2[Entry, error], Stats, error) {
		return Merge(old.Entries(context.Background()), sequence(entries...)), Stats{}, nil
	}
}

func TestQueueRemembersWhatItWasGiven(t *testing.T) {
	s := mem.New(mem.Options{})
	q := New(s, s, ids(), Tuning{})
	if got, err := q.Load(t.Context()); err != nil || got.Number != 0 || len(collect(t, got.Entries(t.Context()))) > 0 {
		t.Fatalf("an empty queue: %+v, %v", got, err)
	}
	full := entry("s3://b/x y%20.bin", 1)
	full.ETag, full.Size, full.Modified = `"abc"`, 7, epoch()
	want := []Entry{full, entry("s3://b/z", 1)}
	if _, err := q.Update(t.Context(), epoch(), add(want...)); err != nil {
		t.Fatal(err)
	}
	got, err := New(s, nil, nil, Tuning{}).Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, collect(t, got.Entries(t.Context()))); diff != "" {
		t.Error(diff)
	}
}

// A path that is let go once more waits from then on.
func TestMergeKeepsTheLaterOfTwoEntries(t *testing.T) {
	got := collect(t, Merge(sequence(entry("a", 1), entry("b", 1), entry("d", 1)), sequence(entry("b", 2), entry("c", 2), entry("e", 2))))
	if diff := cmp.Diff([]Entry{entry("a", 1), entry("b", 2), entry("c", 2), entry("d", 1), entry("e", 2)}, got); diff != "" {
		t.Error(diff)
	}
	broken := func(yield func(Entry, error) bool) { yield(Entry{}, errors.New("broken")) }
	for _, it := range []iter.Seq2[Entry, error]{Merge(broken, sequence(entry("a", 1))), Merge(sequence(entry("a", 1)), broken), Merge(sequence(), broken)} {
		var failed error
		for _, err := range it {
			failed = err
		}
		if failed == nil {
			t.Error("the end of a broken sequence is no error")
		}
	}
}

// A run that takes so long that others go several snapshots further, and remove
// the one of its number, loses nothing: what it hands over is in the queue.
func TestAnUpdateThatOthersOvertakeIsInTheQueue(t *testing.T) {
	for n := range 5 { // how many they go further
		s := mem.New(mem.Options{})
		q, other := New(s, s, ids(), Tuning{}), New(s, s, ids(), Tuning{})
		if _, err := q.Update(t.Context(), epoch(), add(entry("a", 1))); err != nil {
			t.Fatal(err)
		}
		again := false
		if _, err := q.Update(t.Context(), epoch(), func(old *Snapshot) (iter.Seq2[Entry, error], Stats, error) {
			for i := range n {
				if again {
					break
				}
				if _, err := other.Update(t.Context(), epoch(), add(entry(fmt.Sprintf("b%d", i), 2))); err != nil {
					t.Fatal(err)
				}
			}
			again = true
			entries, _, err := add(entry("c", 3))(old)
			return entries, Stats{Deleted: 1}, err
		}); err != nil {
			t.Fatal(err)
		}
		got, err := q.Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if list := collect(t, got.Entries(t.Context())); len(list) != n+2 || list[n+1].Path != "c" || got.Meta.Stats.Deleted > 1 {
			t.Errorf("%d further: the queue holds %v and tells of %d", n, list, got.Meta.Stats.Deleted)
		}
	}
}

func TestQueueIsWrittenInParts(t *testing.T) {
	s := mem.New(mem.Options{})
	q := New(s, s, ids(), Tuning{PartRows: 10})
	var want []Entry
	for i := range 95 {
		want = append(want, entry(fmt.Sprintf("s3://b/%04d", i), i))
	}
	snap, err := q.Update(t.Context(), epoch(), add(want...))
	if err != nil || len(snap.Meta.Parts) != 9 {
		t.Fatalf("%+v, %v", snap, err)
	}
	got, err := q.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, collect(t, got.Entries(t.Context()))); diff != "" {
		t.Error(diff)
	}
	// Parts that are old and not needed go, with the snapshots before the last two.
	for range 3 {
		if _, err := q.Update(t.Context(), epoch(), func(*Snapshot) (iter.Seq2[Entry, error], Stats, error) { return sequence(want[:3]...), Stats{}, nil }); err != nil {
			t.Fatal(err)
		}
	}
	names, err := q.list(t.Context())
	if err != nil || len(names) != 2 {
		t.Errorf("%d files are left: %v", len(names), err)
	}
}

// A part that is gone is an error, never a shorter queue.
func TestQueueWithoutAPartIsNoQueue(t *testing.T) {
	s := mem.New(mem.Options{})
	q := New(s, s, ids(), Tuning{PartRows: 1})
	if _, err := q.Update(t.Context(), epoch(), add(entry("a", 1), entry("b", 1), entry("c", 1))); err != nil {
		t.Fatal(err)
	}
	snap, err := q.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Remove(t.Context(), queueDir+"/"+snap.Meta.Parts[1], ""); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, err := range snap.Entries(t.Context()) {
		if err == nil {
			n++
		} else if lake.KindOf(err) != lake.Transient {
			t.Error(err)
		} else {
			n += 100
		}
	}
	if n != 101 {
		t.Error(n)
	}
}

// Another run's snapshot that came between is never overwritten.
func TestTwoRunsLoseNothing(t *testing.T) {
	s := mem.New(mem.Options{})
	a, b := New(s, s, ids(), Tuning{}), New(s, s, ids(), Tuning{})
	first := true
	_, err := a.Update(t.Context(), epoch(), func(old *Snapshot) (iter.Seq2[Entry, error], Stats, error) {
		if first {
			first = false
			if _, err := b.Update(t.Context(), epoch(), add(entry("of-b", 1))); err != nil {
				t.Fatal(err)
			}
		}
		return add(entry("of-a", 1))(old)
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := a.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if es := collect(t, got.Entries(t.Context())); len(es) != 2 || es[0].Path != "of-a" || es[1].Path != "of-b" {
		t.Errorf("%+v", es)
	}
}

// Random updates with a failure or a kill at any call: what an update that
// returned nil wrote is there, and one that failed took effect whole or not at all.
func TestQueueSurvivesCrashes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := mem.New(mem.Options{})
		known := map[string]Entry{}
		for step := range rapid.IntRange(1, 6).Draw(rt, "updates") {
			kill := int64(rapid.IntRange(0, 12).Draw(rt, "fault"))
			when := store.Moment(rapid.IntRange(0, 2).Draw(rt, "when"))
			faults := store.NewFaults(store.FailNth(kill, store.Injection{Err: errors.New("fault"), When: when, Kill: rapid.Bool().Draw(rt, "kill")}))
			w := faults.Wrap(s)
			q := New(w, w, func() string { return fmt.Sprint("run", step) }, Tuning{PartRows: rapid.IntRange(1, 4).Draw(rt, "rows")})
			next := maps.Clone(known)
			for range rapid.IntRange(0, 5).Draw(rt, "changes") {
				p := rapid.StringMatching(`[a-f]`).Draw(rt, "path")
				if _, ok := next[p]; ok {
					delete(next, p)
				} else {
					next[p] = entry(p, step)
				}
			}
			sorted := func(m map[string]Entry) []Entry {
				out := slices.SortedFunc(maps.Values(m), func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
				return out
			}
			_, err := q.Update(context.Background(), epoch(), func(*Snapshot) (iter.Seq2[Entry, error], Stats, error) {
				return sequence(sorted(next)...), Stats{}, nil
			})
			snap, lerr := New(s, s, ids(), Tuning{}).Load(context.Background())
			if lerr != nil {
				rt.Fatal(lerr)
			}
			have := collect(rt, snap.Entries(context.Background()))
			switch {
			case cmp.Equal(have, sorted(next)):
				known = next
			case err != nil && cmp.Equal(have, sorted(known)):
			default:
				rt.Fatalf("after %v: %+v", err, have)
			}
		}
	})
}

func FuzzQueue(f *testing.F) {
	s := mem.New(mem.Options{})
	q := New(s, s, ids(), Tuning{})
	snap, err := q.Update(context.Background(), epoch(), add(entry("a", 1), entry("b", 2)))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(snap.last)
	f.Add([]byte("PAR1PAR1"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := mem.New(mem.Options{})
		s.Put(queueDir+"/"+fmt.Sprintf(snapshotName, 1), data, time.Time{})
		snap, err := New(s, nil, nil, Tuning{}).Load(t.Context())
		if err != nil {
			return
		}
		last := ""
		for e, err := range snap.Entries(t.Context()) {
			if err == nil && e.Path <= last {
				t.Fatalf("%q after %q", e.Path, last)
			}
			last = e.Path
		}
	})
}
