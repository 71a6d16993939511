package hudi

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lock"
	"github.com/lakesweep/lakesweep/store/mem"
	"github.com/lakesweep/lakesweep/table"
	"github.com/lakesweep/lakesweep/table/hudi/cleandoc"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// A clean with too many files is split: each part leaves the claim and the
// last commit where they were, and the last one moves them.
func TestLargeCleansAreSplit(t *testing.T) {
	c := load(t, "cow_v9_replace")
	p := c.Expected.Policies["commits"]
	s := mem.New(mem.Options{})
	clone(t, s, c.Table)
	config := configOf(t, p)
	config.MaxFiles = 4
	var gone []string
	for part := 1; ; part++ {
		e, err := prepare(t, s, s, config, p.Now.Add(time.Duration(part)*time.Minute), lock.None{})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, v := range e.rows {
			if !v.Directory {
				gone = append(gone, string(v.Key))
				n++
			}
		}
		if err := e.carryOut(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		tab := openAt(t, s, p.Now)
		last, err := cleandoc.Last(t.Context(), tab.Timeline())
		if err != nil {
			t.Fatal(err)
		}
		if done := len(gone) == len(p.Deleted)+len(p.OtherRemoved); done {
			if last.Meta.Earliest != p.Earliest || last.Meta.LastCompleted != p.LastComplete || part == 1 {
				t.Errorf("part %d claims %q, %q", part, last.Meta.Earliest, last.Meta.LastCompleted)
			}
			break
		}
		if n == 0 || last.Meta.Earliest != tab.snap.Services.OldestReplace() || last.Meta.LastCompleted != "" {
			t.Fatalf("part %d: %d files, claims %q, %q", part, n, last.Meta.Earliest, last.Meta.LastCompleted)
		}
	}
	slices.Sort(gone)
	want := slices.Concat(p.Deleted, p.OtherRemoved)
	slices.Sort(want)
	if !slices.Equal(gone, want) {
		t.Errorf("%q", gone)
	}
	checkCleaned(t, s, p, want)
}

// B123: a clean without files is recorded once an interval, and only if asked for.
func TestEmptyClean(t *testing.T) {
	for hours, want := range map[int][]bool{-1: {false, false, false}, 24: {true, false, true}} {
		s := newScenario(t, 9, false)
		s.upsert(1, "f")
		s.upsert(2, "g")
		s.upsert(3, "h")
		c := commits(1)
		c.EmptyCleanHours = hours
		for i, clock := range []int{4, 10, 40} {
			before := cleans(t, s)
			e, err := prepare(t, s.store, s.store, c, modelStart.Add(time.Duration(clock)*time.Hour), lock.None{})
			if err != nil {
				t.Fatal(err)
			}
			if err := e.carryOut(t.Context(), s.store); err != nil || len(e.rows) > 0 {
				t.Fatal(e.rows, err)
			}
			if got := cleans(t, s) > before; got != want[i] {
				t.Errorf("interval %d, run %d: recorded %v", hours, i, got)
			}
			s.upsert(clock+1, fmt.Sprintf("n%d", i)) // else nothing triggers the next
		}
		last, err := cleandoc.Last(t.Context(), openAt(t, s.store, s.now).Timeline())
		if err != nil {
			t.Fatal(err)
		}
		if hours > 0 && (last.Meta.Earliest == "" || last.Meta.TotalDeleted != 0 || len(last.Meta.Partitions) != 0) {
			t.Errorf("%+v", last.Meta)
		}
	}
}

func cleans(t *testing.T, s *scenario) int {
	return len(openAt(t, s.store, s.now).Timeline().Filter(func(i timeline.Instant) bool { return i.Action == timeline.Clean }))
}

// B153: of many partitions only those touched since the last clean are listed.
func TestIncrementalPlanListsFewPartitions(t *testing.T) {
	s := newScenario(t, 9, false)
	for p := range 3000 {
		s.put(fmt.Sprintf("p=x%d/.hoodie_partition_metadata", p), []byte("x"), s.now)
	}
	s.upsert(1, "f")
	s.upsert(2, "f")
	meta, err := timeline.CleanMetadata{StartTime: s.hour(3), Earliest: s.writes[1].time, LastCompleted: s.writes[1].time}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	s.complete(s.hour(3), timeline.Clean, nil, meta)
	s.upsert(4, "f")
	s.upsert(5, "f")
	p, err := openAt(t, s.store, s.now).Plan(t.Context(), commits(1))
	if err != nil {
		t.Fatal(err)
	}
	if files, _ := dead(t, p); len(files) != 2 || !p.Incremental || p.Summary.ListRequests != 1 {
		t.Errorf("%q, incremental %v, %d requests", files, p.Incremental, p.Summary.ListRequests)
	}
}

// Only what no timeline knows is an orphan, and only once it is old.
func TestOrphans(t *testing.T) {
	s := newScenario(t, 9, false)
	s.upsert(1, "f")
	s.upsert(5, "f")
	g := s.group("p=1", "f")
	orphan := s.base(g, s.hour(3)).base // rolled back: its instant is gone
	s.instant(s.hour(4), timeline.Commit, timeline.Inflight, "", nil)
	s.base(g, s.hour(4)) // in flight
	before := s.base(g, s.hour(0)).base
	earlier := []string{timeline.FormatTime(modelStart.Add(-time.Hour), time.UTC), timeline.FormatTime(modelStart.Add(time.Minute), time.UTC)}
	at := s.hour(30)
	s.base(g, at) // of an instant after all, just written
	for _, c := range []struct {
		rule    string
		clock   int
		archive []string // instants
		pending bool
		want    []string
	}{
		{"young", 20, nil, false, nil},
		{"old", 48, nil, false, []string{orphan}},
		{"before the timeline and its archive", 48, []string{earlier[1]}, false, []string{orphan}},
		{"before the timeline, not archived", 48, earlier, false, []string{before, orphan}},
		{"while a rollback is pending", 48, earlier, true, nil},
	} {
		if c.archive != nil {
			s.archived(c.archive...)
		}
		if c.pending {
			s.instant(s.hour(6), timeline.Rollback, timeline.Requested, "", nil)
		}
		config := commits(10) // nothing else is cleaned
		config.Orphans = true
		p, err := openAt(t, s.store, modelStart.Add(time.Duration(c.clock)*time.Hour)).Plan(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for v, err := range p.Verdicts(t.Context()) {
			if err != nil || v.Reason != lake.FailedWrite {
				t.Fatal(v, err)
			}
			got = append(got, v.Key.Base())
		}
		slices.Sort(got)
		slices.Sort(c.want)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.rule, got, c.want)
		}
		if c.clock == 48 && !c.pending {
			e, err := prepare(t, s.store, s.store, config, modelStart.Add(48*time.Hour), lock.None{})
			if err != nil {
				t.Fatal(err)
			}
			if err := e.run.Begin(t.Context(), table.Intent{}); err != nil || e.run.Instant() != "" {
				t.Errorf("%s: makes the instant %q for orphans: %v", c.rule, e.run.Instant(), err)
			}
		}
	}
}
