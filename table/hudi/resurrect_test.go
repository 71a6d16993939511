package hudi

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lock"
	"github.com/lakesweep/lakesweep/table"
	"github.com/lakesweep/lakesweep/table/hudi/blobtest"
	"github.com/lakesweep/lakesweep/table/hudi/cleandoc"
	"github.com/lakesweep/lakesweep/table/hudi/retain"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// unpartitioned takes the partition columns off the table.
func (s *scenario) unpartitioned() {
	p := string(contents(s.t, s.store, ".hoodie/hoodie.properties"))
	s.put(".hoodie/hoodie.properties", []byte(strings.ReplaceAll(p, "hoodie.table.partition.fields=p\n", "")), s.now)
	s.put(".hoodie_partition_metadata", []byte("commitTime=1\npartitionDepth=0\n"), s.now)
}

// replacing completes a replace commit of an hour only at a later one.
func (s *scenario) replacing(h, completed int, ids ...string) {
	gone := map[string][]string{}
	for _, id := range ids {
		g := s.group("p=1", id)
		g.replaced = s.hour(h)
		gone["p=1"] = append(gone["p=1"], id)
	}
	at := s.hour(h)
	s.instant(at, timeline.ReplaceCommit, timeline.Requested, "", nil)
	s.instant(at, timeline.ReplaceCommit, timeline.Inflight, "", nil)
	done := s.hour(completed)
	s.instant(at, timeline.ReplaceCommit, timeline.Completed, done, s.replaceData(stats{}, gone, "INSERT_OVERWRITE"))
}

// A replaced group that no clean took comes back to life when writers archive
// its replace commit, which they do once a clean claims to have passed it. So
// it dies in the first clean that may take it, wherever the last clean ended.
func TestReplacedGroupsAreNeverPassedBy(t *testing.T) {
	for rule, c := range map[string]struct {
		write func(s *scenario)
		c     retain.Config
		clock int
	}{
		"completed after a clean that claims more": {func(s *scenario) {
			s.upsert(1, "f")
			s.commit(3, "INSERT", "p=2/g")
			s.commit(5, "INSERT", "p=2/h")
			s.cleanedTo(6, 3)
			s.replacing(2, 7, "f")
			s.commit(8, "INSERT", "p=2/i")
			s.commit(9, "INSERT", "p=2/j")
		}, commits(1), 49},
		"passed by a clean of other partitions": {func(s *scenario) {
			s.upsert(1, "f")
			s.replaced(2, "f")
			s.commit(3, "INSERT", "p=10/g")
			s.cleanedTo(4, 3)
			s.commit(5, "INSERT", "p=10/h")
			s.commit(6, "INSERT", "p=10/i")
		}, commits(1), 49},
	} {
		for _, version := range []int{6, 9} {
			s := newScenario(t, version, false)
			c.write(s)
			if got := s.dies(c.c, c.clock); got != "f@1" {
				t.Errorf("%s, version %d: %q dies", rule, version, got)
			}
		}
	}
}

// The same where a savepoint held the group and went: an unpartitioned table's
// clean doesn't say which savepoints it saw.
func TestReplacedGroupOfASavepointThatWent(t *testing.T) {
	s := newScenario(t, 9, false)
	s.unpartitioned()
	s.commit(1, "UPSERT", "f")
	s.replace(s.hour(2), []*modelGroup{s.group("", "f")}, "", timeline.ReplaceCommit, nil, "INSERT_OVERWRITE")
	s.commit(3, "INSERT", "g")
	s.cleanedTo(4, 3) // with a savepoint of hour 1
	s.commit(5, "INSERT", "h")
	s.commit(6, "INSERT", "i")
	if got := s.dies(commits(1), 49); got != "f@1" {
		t.Errorf("%q dies", got)
	}
}

// What a failed write left in a group that was replaced goes with the group,
// though the archived timeline doesn't know its instant.
func TestLeftoversOfAReplacedGroupGoToo(t *testing.T) {
	for _, archived := range []bool{false, true} {
		s := newScenario(t, 9, false)
		s.upsert(1, "f")
		s.base(s.group("p=1", "f"), s.hour(2)) // rolled back, not whole
		s.replaced(3, "f")
		s.upsert(4, "g")
		s.upsert(5, "g")
		if archived {
			s.forgets(1, timeline.Commit)
			s.archived(s.hour(1))
		}
		if got := s.dies(commits(1), 49); got != "f@1 f@2" {
			t.Errorf("archived %v: %q dies", archived, got)
		}
	}
}

// While no clean is complete, writers archive no replace commit. So the first
// one, if it doesn't look at all partitions, claims the oldest of them, and the
// next looks at all again.
func TestFirstPartialCleanHoldsReplaceCommits(t *testing.T) {
	for rule, change := range map[string]func(c *retain.Config){
		"filtered": func(c *retain.Config) { c.Incremental, c.Selected = false, []string{"p=10"} },
		"split":    func(c *retain.Config) { c.MaxFiles = 1 },
	} {
		s := newScenario(t, 9, false)
		s.commit(1, "UPSERT", "p=1/f", "p=2/g", "p=10/h")
		s.commit(2, "UPSERT", "p=1/f", "p=2/g", "p=10/h")
		s.replaced(3, "f")
		s.commit(4, "UPSERT", "p=10/h")
		s.commit(5, "UPSERT", "p=10/h")
		c := commits(1)
		change(&c)
		e, err := prepare(t, s.store, s.store, c, s.hourAt(6), lock.None{})
		if err == nil {
			err = e.carryOut(t.Context(), s.store)
		}
		if err != nil {
			t.Fatal(rule, err)
		}
		last, err := cleandoc.Last(t.Context(), openAt(t, s.store, s.hourAt(7)).Timeline())
		if err != nil || last == nil || last.Meta.Earliest != s.hourText(3) {
			t.Errorf("%s: claims %+v, %v", rule, last, err)
		}
		s.commit(8, "UPSERT", "p=10/h")
		if got := s.looksAt(commits(1)); got != "all" {
			t.Errorf("%s: the next clean looks at %q", rule, got)
		}
	}
}

// By versions a clean claims no commit, and writers archive up to the clean
// itself: so one that leaves replaced groups behind claims their replace commit.
func TestPartialCleanByVersionsHoldsReplaceCommits(t *testing.T) {
	for rule, c := range map[string]struct {
		change func(c *retain.Config)
		pend   bool
		held   bool
	}{
		"whole":      {func(*retain.Config) {}, false, false},
		"filtered":   {func(c *retain.Config) { c.Incremental, c.Selected = false, []string{"p=10"} }, false, true},
		"split":      {func(c *retain.Config) { c.MaxFiles = 1 }, false, true},
		"a plan has": {func(*retain.Config) {}, true, true},
	} {
		s := newScenario(t, 9, false)
		s.commit(1, "UPSERT", "p=1/f", "p=2/g", "p=10/h")
		s.replaced(2, "f")
		s.replace(s.hour(3), []*modelGroup{s.group("p=2", "g")}, "p=2", timeline.ReplaceCommit, nil, "INSERT_OVERWRITE")
		if c.pend {
			s.instant(s.hour(4), timeline.Clustering, timeline.Requested, "", s.clusteringPlan(s.groups[:1]))
		}
		config := versions(1)
		c.change(&config)
		p, err := openAt(t, s.store, s.hourAt(49)).Plan(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		dead(t, p)
		claim, err := p.Claim()
		if err != nil {
			t.Fatal(err)
		}
		if held := claim != nil && claim.Time == s.hour(2); held != c.held || claim != nil && !held {
			t.Errorf("%s: claims %+v", rule, claim)
		}
	}
}

// What a clean by versions claims is for the archiver: it leaves older slices
// than those of that commit, so one by commits looks at all partitions after it.
func TestAfterACleanByVersionsThatClaimsAllIsLookedAt(t *testing.T) {
	for rule, late := range map[string]bool{"planned over a clustering": false, "published over one": true} {
		s := newScenario(t, 9, false)
		for h := 1; h < 5; h++ {
			s.commit(h, "UPSERT", "p=1/f", "p=2/g", "p=10/h")
		}
		cluster := func() {
			s.instant(s.hour(5), timeline.Clustering, timeline.Requested, "", s.clusteringPlan(s.groups[:1]))
		}
		if !late {
			s.replaced(3, "f")
			cluster()
		}
		e, err := prepare(t, s.store, s.store, versions(2), s.hourAt(6), lock.None{})
		if err == nil && late {
			cluster()
		}
		if err == nil {
			err = e.carryOut(t.Context(), s.store)
		}
		if err != nil {
			t.Fatal(rule, err)
		}
		last, err := cleandoc.Last(t.Context(), openAt(t, s.store, s.hourAt(7)).Timeline())
		if err != nil || last == nil || last.Meta.Earliest == "" {
			t.Fatalf("%s: claims %+v, %v", rule, last, err)
		}
		s.commit(8, "UPSERT", "p=10/h")
		if got := s.looksAt(commits(1)); got != "all" {
			t.Errorf("%s: the next clean looks at %q", rule, got)
		}
	}
}

// A clean of some partitions claims what the clean before does, though that
// commit is archived: with none, replace commits of all partitions would be.
func TestPartialCleanClaimsAnArchivedCommitAgain(t *testing.T) {
	s := newScenario(t, 9, false)
	s.commit(1, "UPSERT", "p=1/f", "p=2/g")
	s.commit(2, "UPSERT", "p=1/f", "p=2/g")
	s.cleanedTo(3, 1)
	s.commit(4, "UPSERT", "p=1/f", "p=2/g")
	s.forgets(1, timeline.Commit)
	c := commits(1)
	c.Incremental, c.Selected = false, []string{"p=1"}
	p, err := openAt(t, s.store, s.hourAt(49)).Plan(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	dead(t, p)
	if claim, err := p.Claim(); err != nil || claim == nil || claim.Time != s.hour(1) {
		t.Errorf("claims %+v, %v", claim, err)
	}
}

// D1, B111, B115 by hours: what was read until a commit was complete stays for
// the hours since then, and a pending commit holds the earliest one back.
func TestHoursCountFromCompletion(t *testing.T) {
	s := newScenario(t, 9, false)
	s.upsert(1, "f")
	s.now = s.hourAt(10)
	at := s.hour(10)
	g := s.group("p=1", "f")
	st := stats{}
	st.add(g, s.base(g, at).base, s.hourText(1))
	s.instant(at, timeline.Commit, timeline.Requested, "", nil)
	s.instant(at, timeline.Commit, timeline.Inflight, "", nil)
	s.upsert(41, "g")
	if got := s.dies(hours(24), 49); got != "" {
		t.Errorf("while it is pending %q dies", got)
	}
	s.instant(at, timeline.Commit, timeline.Completed, s.hour(40), s.commitData(st, "UPSERT"))
	if got := s.dies(hours(24), 49); got != "" {
		t.Errorf("nine hours after it was complete %q dies", got)
	}
	s.upsert(50, "g")
	if got := s.dies(hours(8), 51); got != "f@1" {
		t.Errorf("eleven hours after it was complete %q dies", got)
	}
}

func (s *scenario) hourText(h int) string { return timeline.FormatTime(s.hourAt(h), time.UTC) }

// While a restore is pending, slices that it comes back to look superseded.
func TestNothingIsPlannedWhileARestoreIsPending(t *testing.T) {
	for _, version := range []int{6, 9} {
		s := newScenario(t, version, false)
		s.upsert(1, "f")
		s.upsert(2, "f")
		s.instant(s.hour(3), timeline.Restore, timeline.Requested, "", nil)
		if _, err := openAt(t, s.store, s.hourAt(9)).Plan(t.Context(), versions(1)); lake.KindOf(err) != lake.Refused {
			t.Errorf("version %d: %v", version, err)
		}
	}
}

// A rollback of a complete write that is only requested: what the write
// superseded is needed again, and Hudi's next writer takes the write back. Of
// one that isn't complete nothing is superseded.
func TestNothingIsPlannedWhileACompleteWriteIsBeingRolledBack(t *testing.T) {
	for rule, c := range map[string]struct {
		plan  func(s *scenario) []byte
		state timeline.State
		kind  lake.Kind
	}{
		"of the newest write":          {func(s *scenario) []byte { return blobtest.RollbackPlan(t, s.hourText(2), timeline.Commit) }, timeline.Requested, lake.Refused},
		"begun":                        {func(s *scenario) []byte { return blobtest.RollbackPlan(t, s.hourText(2), timeline.Commit) }, timeline.Inflight, lake.Refused},
		"of a write in flight":         {func(s *scenario) []byte { return blobtest.RollbackPlan(t, s.hourText(3), timeline.Commit) }, timeline.Requested, 0},
		"of a write that is gone":      {func(s *scenario) []byte { return blobtest.RollbackPlan(t, s.hourText(5), timeline.Commit) }, timeline.Inflight, 0},
		"of a crash that left no plan": {func(*scenario) []byte { return nil }, timeline.Requested, 0},
		"begun, of what isn't known":   {func(*scenario) []byte { return nil }, timeline.Inflight, lake.Refused},
	} {
		for _, version := range []int{6, 9} {
			s := newScenario(t, version, false)
			s.upsert(1, "f")
			s.upsert(2, "f")
			s.instant(s.hour(3), timeline.Commit, timeline.Inflight, "", nil)
			at := s.hour(4)
			for state := timeline.Requested; state <= c.state; state++ {
				s.instant(at, timeline.Rollback, state, "", c.plan(s))
			}
			p, err := openAt(t, s.store, s.hourAt(9)).Plan(t.Context(), versions(1))
			if lake.KindOf(err) != c.kind {
				t.Errorf("%s, version %d: %v", rule, version, err)
			} else if err == nil {
				if files, _ := dead(t, p); len(files) != 1 {
					t.Errorf("%s, version %d: %q dies", rule, version, files)
				}
			}
		}
	}
}

// Looking at such a table goes on, and says that nothing dies now.
func TestATableIsLookedAtWhileWritesAreTakenBack(t *testing.T) {
	for _, action := range []timeline.Action{timeline.Restore, timeline.Rollback} {
		s := newScenario(t, 9, false)
		s.upsert(1, "f")
		s.upsert(2, "f")
		s.instant(s.hour(3), action, timeline.Requested, "", blobtest.RollbackPlan(t, s.hourText(2), timeline.Commit))
		tab := openAt(t, s.store, s.hourAt(9))
		var sum table.Usage
		add := func(u table.Usage) error { // partitions come in no order
			sum.Live[0], sum.History[0], sum.Dead[0] = sum.Live[0]+u.Live[0], sum.History[0]+u.History[0], sum.Dead[0]+u.Dead[0]
			return nil
		}
		if err := tab.Usage(t.Context(), versions(1), add); err != nil {
			t.Fatal(err)
		}
		if sum.Live[0] != 1 || sum.History[0] != 1 || sum.Dead[0] != 0 {
			t.Errorf("%s: %+v", action, sum)
		}
		for _, name := range s.store.Names() {
			if !strings.HasSuffix(name, ".parquet") {
				continue
			}
			x, err := tab.Explain(t.Context(), lake.Key(name), versions(1))
			if err != nil || x.Verdict == "dead" || !strings.Contains(fmt.Sprint(x.Because), "is pending") {
				t.Errorf("%s: %s: %+v, %v", action, name, x, err)
			}
		}
		if err := tab.Unwinding(t.Context()); lake.KindOf(err) != lake.Refused {
			t.Errorf("%s: %v", action, err)
		}
	}
}

// A completed name without a completion time tells only when its file was
// written, in no zone of the table's: its logs count for the newest slice.
func TestLogsOfALegacyNameStay(t *testing.T) {
	s := newScenario(t, 9, true)
	s.upsert(1, "f")
	s.upsert(4, "f")
	s.delta(5, "f")
	at := s.hour(5)
	for _, name := range s.store.Names() {
		if strings.HasPrefix(name, ".hoodie/timeline/"+at+"_") {
			data := contents(t, s.store, name)
			if err := s.store.Remove(t.Context(), name, ""); err != nil {
				t.Fatal(err)
			}
			s.put(".hoodie/timeline/"+at+".deltacommit", data, s.hourAt(3)) // as a host in the west renders it
		}
	}
	if got := s.dies(versions(1), 49); got != "f@1" {
		t.Errorf("%q dies", got)
	}
}
