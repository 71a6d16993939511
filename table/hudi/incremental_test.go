package hudi

import (
	"path"
	"strings"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table/hudi/retain"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// commit writes to groups, "p=1/f" each: a new one as an insert, another as an update.
func (s *scenario) commit(h int, operation string, refs ...string) {
	at, st, a := s.hour(h), stats{}, timeline.Commit
	if s.mor {
		a = timeline.DeltaCommit
	}
	for _, ref := range refs {
		g := s.group(strings.TrimSuffix(path.Dir(ref), "."), path.Base(ref))
		prev := "null"
		if n := len(g.slices); n > 0 {
			prev = g.slices[n-1].instant
		}
		st.add(g, s.base(g, at).base, prev)
	}
	s.done(at, a, nil, s.commitData(st, operation), st)
}

// cleanedTo records a clean that claims the commit of an hour and knew the
// savepoints of some.
func (s *scenario) cleanedTo(h, earliest int, saved ...int) {
	meta := timeline.CleanMetadata{Earliest: s.hour(earliest), LastCompleted: s.hour(earliest)}
	var known []string
	for _, at := range saved {
		known = append(known, s.hour(at))
	}
	if len(known) > 0 {
		meta.Extra = map[string]string{"savepointed_timestamps": strings.Join(known, ",")}
	}
	meta.StartTime = s.hour(h)
	data, err := meta.Encode()
	if err != nil {
		s.t.Fatal(err)
	}
	plan, err := timeline.CleanPlan{LastCompleted: meta.LastCompleted, Policy: string(retain.LatestCommits)}.Encode()
	if err != nil {
		s.t.Fatal(err)
	}
	s.complete(meta.StartTime, timeline.Clean, plan, data)
}

// looksAt returns the partitions that a plan looks at, "all" or their names.
func (s *scenario) looksAt(c retain.Config) string {
	s.t.Helper()
	p, err := openAt(s.t, s.store, s.now).Plan(s.t.Context(), c)
	switch {
	case err != nil:
		s.t.Fatal(err)
	case p.Nothing:
		return "none"
	case !p.Incremental:
		return "all"
	}
	return strings.Join(p.Partitions(), " ")
}

// Hudi's choice of partitions: spec/hudi-clean.md section 8.3.
func TestWhichPartitionsAreLookedAt(t *testing.T) {
	before := func(s *scenario) {
		s.commit(1, "UPSERT", "p=1/f")
		s.commit(2, "UPSERT", "p=1/f")
		s.commit(3, "UPSERT", "p=2/g")
	}
	after := func(s *scenario) {
		s.commit(5, "UPSERT", "p=2/g")
		s.commit(6, "UPSERT", "p=1/f")
	}
	for rule, c := range map[string]struct {
		write func(s *scenario)
		want  string
	}{
		"C1 C9 those of the commits between, though the last clean was empty": {func(s *scenario) { before(s); s.cleanedTo(4, 3); after(s) }, "p=2"},
		"C2 a savepoint came":       {func(s *scenario) { before(s); s.cleanedTo(4, 3); after(s); s.hold(1, "f") }, "p=2"},
		"C3 a savepoint stands":     {func(s *scenario) { before(s); s.hold(1, "f"); s.cleanedTo(4, 3, 1); after(s) }, "p=2"},
		"C4 a savepoint went":       {func(s *scenario) { before(s); s.cleanedTo(4, 3, 1); after(s) }, "all"},
		"C5 one of two savepoints":  {func(s *scenario) { before(s); s.hold(1, "f"); s.cleanedTo(4, 3, 1, 2); after(s) }, "all"},
		"C10 the claim is archived": {func(s *scenario) { before(s); s.cleanedTo(4, 0); after(s) }, "all"},
		"C12 the first clean":       {func(s *scenario) { before(s); after(s) }, "all"},
		"C11 inserts alone": {func(s *scenario) {
			before(s)
			s.cleanedTo(4, 3)
			s.commit(5, "INSERT", "p=10/n")
			s.commit(6, "UPSERT", "p=1/f")
		}, ""},
		"C11 inserts and updates": {func(s *scenario) {
			before(s)
			s.cleanedTo(4, 3)
			s.commit(5, "UPSERT", "p=10/n", "p=1/f")
			s.commit(6, "UPSERT", "p=1/f")
		}, "p=1"},
		"replaced groups' partitions": {func(s *scenario) { before(s); s.cleanedTo(4, 3); s.replaced(5, "f"); s.commit(6, "UPSERT", "p=2/g") }, "p=1 p=2"},
	} {
		for _, version := range []int{6, 9} {
			s := newScenario(t, version, false)
			c.write(s)
			s.hour(49)
			if got := s.looksAt(commits(1)); got != c.want {
				t.Errorf("%s, version %d: %q, want %q", rule, version, got, c.want)
			}
		}
	}
	s := newScenario(t, 9, true)
	before(s)
	s.cleanedTo(4, 3)
	s.commit(5, "INSERT", "p=10/n")
	s.commit(6, "UPSERT", "p=1/f")
	if got := s.looksAt(commits(1)); got != "p=10 p=2" {
		t.Errorf("C11 delta commits, whatever they write: %q", got)
	}
}

// C7: a savepoint may outlive its commit's time on the active timeline.
func TestSavepointOfAnArchivedCommit(t *testing.T) {
	s := newScenario(t, 9, false)
	s.upsert(1, "f")
	s.hold(1, "f")
	first := s.hour(1)
	s.upsert(2, "f")
	s.upsert(3, "f")
	s.cleanedTo(4, 2, 1)
	s.upsert(5, "f")
	s.upsert(6, "f")
	for _, name := range s.store.Names() {
		if strings.HasPrefix(name, ".hoodie/timeline/"+first) && !strings.HasSuffix(name, ".savepoint") {
			if err := s.store.Remove(t.Context(), name, ""); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := s.dies(commits(1), 49); got != "f@2 f@3" {
		t.Errorf("%q dies", got)
	}
}

// C8: a clean records the savepoints; Hudi's only that of a partitioned table.
// When one of them goes, writers archive no replace commit whose groups it held
// until the next clean has taken them.
func TestSavepointsAreRecorded(t *testing.T) {
	for parted, want := range map[bool]int{true: 1, false: 1} {
		s := newScenario(t, 9, false)
		if !parted {
			p := string(contents(t, s.store, ".hoodie/hoodie.properties"))
			s.put(".hoodie/hoodie.properties", []byte(strings.ReplaceAll(p, "hoodie.table.partition.fields=p\n", "")), s.now)
		}
		s.upsert(1, "f")
		s.upsert(2, "f")
		s.hold(1, "f")
		p, err := openAt(t, s.store, s.now).Plan(t.Context(), versions(1))
		if err != nil || len(p.Extra) != want {
			t.Errorf("partitioned %v: %v, %v", parted, p.Extra, err)
		}
	}
}

// D3: a clean goes at most so many commits beyond the one before.
func TestMaxCommitsToClean(t *testing.T) {
	for rule, c := range map[string]struct {
		cleaned bool
		max     int64
		want    int
	}{
		"capped":                     {true, 2, 5}, // the commits of hours 2 and 4 are two
		"few enough":                 {true, 9, 7},
		"no clean before, so no cap": {false, 2, 7},
	} {
		s := newScenario(t, 9, false)
		s.upsert(1, "f")
		s.upsert(2, "f")
		if c.cleaned {
			s.cleanedTo(3, 2)
		}
		for h := 4; h < 8; h++ {
			s.upsert(h, "f")
		}
		config := commits(1)
		config.MaxCommits = c.max
		p, err := openAt(t, s.store, s.now).Plan(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		if p.Earliest == nil || p.Earliest.Time != s.hour(c.want) {
			t.Errorf("%s: earliest %+v, want hour %d", rule, p.Earliest, c.want)
		}
	}
}

// E8: too few commits since the last clean.
func TestTrigger(t *testing.T) {
	s := newScenario(t, 9, false)
	s.upsert(1, "f")
	s.upsert(2, "f")
	s.cleanedTo(3, 2)
	s.upsert(4, "f")
	s.upsert(5, "f")
	for least, want := range map[int]string{1: "p=1", 2: "p=1", 3: "none"} {
		c := commits(1)
		c.TriggerCommits = least
		if got := s.looksAt(c); got != want {
			t.Errorf("trigger %d: %q", least, got)
		}
	}
}

// H2, B068: a clean of some partitions claims no more than the one before.
func TestFilteredCleanClaimsNothing(t *testing.T) {
	for _, cleaned := range []bool{false, true} {
		s := newScenario(t, 9, false)
		s.commit(1, "UPSERT", "p=1/f", "p=2/g", "p=10/h")
		s.commit(2, "UPSERT", "p=1/f", "p=2/g", "p=10/h")
		want := ""
		if cleaned {
			s.cleanedTo(3, 1)
			want = s.hour(1)
		}
		s.commit(4, "UPSERT", "p=1/f", "p=2/g", "p=10/h")
		c := commits(1)
		c.Incremental, c.Selected = false, []string{"p=1"}
		p, err := openAt(t, s.store, s.now).Plan(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		files, _ := dead(t, p)
		claim, err := p.Claim()
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if claim != nil {
			got = claim.Time
		}
		if len(files) != 1 || !strings.HasPrefix(files[0], "p=1/") || got != want {
			t.Errorf("cleaned before %v: %q dies, claims %q, want %q", cleaned, files, got, want)
		}
		if got := s.dies(commits(1), 49); got != "f@1 g@1 h@1" {
			t.Errorf("cleaned before %v: later %q dies", cleaned, got)
		}
	}
}

// H8: the hours count in the table's zone, whatever the host's is.
func TestHoursInTheTablesZone(t *testing.T) {
	west, err := time.LoadLocation("America/Los_Angeles")
	if err != nil {
		t.Fatal(err)
	}
	s := newScenario(t, 9, false)
	s.upsert(1, "f")
	s.upsert(41, "f")
	s.upsert(48, "f")
	for _, zone := range []*time.Location{time.UTC, west} {
		tab := openAt(t, s.store, modelStart.Add(49*time.Hour).In(zone))
		p, err := tab.Plan(t.Context(), hours(6))
		if err != nil {
			t.Fatal(err)
		}
		if p.Earliest == nil || p.Earliest.Time != s.hour(48) {
			t.Errorf("%s: earliest %+v", zone, p.Earliest)
		}
	}
}

// B102: the same history makes the same plan in each layout; an unknown version is refused.
func TestVersionsMakeOnePlan(t *testing.T) {
	for _, version := range []int{6, 8, 9} {
		s := newScenario(t, version, false)
		s.commit(1, "UPSERT", "p=1/f", "p=2/g")
		s.commit(2, "UPSERT", "p=1/f")
		s.commit(3, "UPSERT", "p=1/f", "p=2/g")
		if got := s.dies(commits(1), 49); got != "f@1" {
			t.Errorf("version %d: %q dies", version, got)
		}
		p := string(contents(t, s.store, ".hoodie/hoodie.properties"))
		for _, unknown := range []string{"5", "7", "10"} {
			s.put(".hoodie/hoodie.properties", []byte(strings.Replace(p, "hoodie.table.version="+string(rune('0'+version)), "hoodie.table.version="+unknown, 1)), s.now)
			if _, err := Open(t.Context(), s.store, lake.Root{Scheme: "mem", Path: "t"}, Options{Zone: time.UTC, Now: func() time.Time { return s.now }}); lake.KindOf(err) != lake.Unsupported && lake.KindOf(err) != lake.Refused {
				t.Errorf("version %s opens: %v", unknown, err)
			}
		}
	}
}
