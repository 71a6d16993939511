package hudi

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// archived makes an archived timeline of layout 2 that holds instants.
func (s *scenario) archived(times ...string) {
	s.t.Helper()
	type row struct {
		Time       string `parquet:"instantTime"`
		Completion string `parquet:"completionTime,optional"`
	}
	var data bytes.Buffer
	w := parquet.NewGenericWriter[row](&data)
	for _, at := range times {
		if _, err := w.Write([]row{{at, at}}); err != nil {
			s.t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		s.t.Fatal(err)
	}
	dir := ".hoodie/timeline/history/"
	s.put(dir+"1_2_0.parquet", data.Bytes(), s.now)
	s.put(dir+"manifest_1", []byte(`{"files":[{"fileName":"1_2_0.parquet","fileLen":1}]}`), s.now)
	s.put(dir+"_version_", []byte("1"), s.now)
}

// forgets removes an hour's instants of some actions from the timeline.
func (s *scenario) forgets(h int, actions ...timeline.Action) {
	s.t.Helper()
	at := s.hour(h)
	for _, name := range s.store.Names() {
		i, ok := timeline.ParseName(timeline.Layout2, strings.TrimPrefix(name, ".hoodie/timeline/"))
		if !ok || i.Time != at || !slices.Contains(actions, i.Action) {
			continue
		}
		if err := s.store.Remove(s.t.Context(), name, ""); err != nil {
			s.t.Fatal(err)
		}
	}
}

// orphaned returns the leftovers that a plan finds a month later.
func (s *scenario) orphaned() (names []string) {
	s.t.Helper()
	c := commits(100)
	c.Orphans = true
	p, err := openAt(s.t, s.store, modelStart.Add(30*24*time.Hour)).Plan(s.t.Context(), c)
	if err != nil {
		s.t.Fatal(err)
	}
	files, _ := dead(s.t, p)
	for _, f := range files {
		names = append(names, lake.Key(f).Base())
	}
	return names
}

// What was committed is no leftover, whatever the timelines still know of it.
func TestCommittedFilesAreNoOrphans(t *testing.T) {
	for rule, history := range map[string]func(s *scenario){
		"restored to the oldest savepoint, all before it archived": func(s *scenario) {
			s.upsert(1, "old")
			s.upsert(2, "f")
			s.hold(2, "f")
			s.forgets(1, timeline.Commit)
			s.archived(s.hour(1))
		},
		"the archive's oldest files removed": func(s *scenario) {
			s.upsert(1, "old")
			s.upsert(2, "f")
			s.upsert(3, "f")
			s.forgets(1, timeline.Commit)
			s.forgets(2, timeline.Commit)
			s.archived(s.hour(2))
		},
		"archived between two savepoints": func(s *scenario) {
			s.upsert(1, "f")
			s.hold(1, "f")
			s.upsert(2, "old")
			s.upsert(3, "f")
			s.hold(3, "f")
			s.forgets(2, timeline.Commit)
			s.archived(s.hour(2))
		},
		"archived while the timeline was listed": func(s *scenario) {
			s.upsert(1, "f")
			s.upsert(2, "old")
			s.upsert(3, "f")
			s.forgets(2, timeline.Commit) // the listing had passed hour 1 before
			s.archived(s.hour(1), s.hour(2))
		},
		"no archive any more": func(s *scenario) {
			s.upsert(1, "old")
			s.upsert(2, "f")
			s.forgets(1, timeline.Commit)
		},
	} {
		s := newScenario(t, 9, false)
		history(s)
		if got := s.orphaned(); len(got) > 0 {
			t.Errorf("%s: %q are orphans", rule, got)
		}
	}
}
