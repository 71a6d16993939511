package hudi

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store/mem"
	"github.com/lakesweep/lakesweep/table/hudi/datafile"
	"github.com/lakesweep/lakesweep/table/hudi/retain"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// scenario is a model writer that does what a test says, hour by hour.
type scenario struct {
	*model
	store *mem.Store
	t     *testing.T
}

func newScenario(t *testing.T, version int, mor bool) *scenario {
	s := mem.New(mem.Options{})
	m := &model{t: t, rng: rand.New(rand.NewPCG(1, 1)), version: version, mor: mor, parted: true, put: s.Put, now: modelStart}
	for seed := uint64(0); ; seed++ { // take the properties of a random table of this kind
		probe := newModel(t, seed, func(string, []byte, time.Time) {})
		if probe.version == version && probe.mor == mor && probe.parted {
			newModel(t, seed, s.Put)
			return &scenario{m, s, t}
		}
	}
}

// hour sets the clock: the next thing happens then.
func (s *scenario) hour(h int) string {
	s.now = modelStart.Add(time.Duration(h) * time.Hour)
	return timeline.FormatTime(s.now, time.UTC)
}

func (s *scenario) group(partition, id string) *modelGroup {
	for _, g := range s.groups {
		if g.id == id && g.partition == partition {
			return g
		}
	}
	g := &modelGroup{partition: partition, id: id}
	s.groups = append(s.groups, g)
	return g
}

// upsert commits a new base file of each group.
func (s *scenario) upsert(h int, ids ...string) {
	at, st := s.hour(h), stats{}
	for _, id := range ids {
		g := s.group("p=1", id)
		prev := "null"
		if n := len(g.slices); n > 0 {
			prev = g.slices[n-1].instant
		}
		st.add(g, s.base(g, at).base, prev)
	}
	s.done(at, timeline.Commit, nil, s.commitData(st, "UPSERT"), st)
}

// delta commits a log file of each group.
func (s *scenario) delta(h int, ids ...string) {
	at, st := s.hour(h), stats{}
	for _, id := range ids {
		g := s.group("p=1", id)
		st.add(g, s.log(g, at), "null")
	}
	s.done(at, timeline.DeltaCommit, nil, s.commitData(st, "UPSERT"), st)
}

func (s *scenario) replaced(h int, ids ...string) {
	var list []*modelGroup
	for _, id := range ids {
		list = append(list, s.group("p=1", id))
	}
	s.replace(s.hour(h), list, "p=2", timeline.ReplaceCommit, nil, "INSERT_OVERWRITE")
}

// hold makes a savepoint that names the files of one slice.
func (s *scenario) hold(h int, id string) {
	at := s.hour(h)
	for _, sl := range s.group("p=1", id).slices {
		if sl.instant == at {
			names := append(slices.Clone(sl.logs), sl.base)
			data := s.avro(savepointSchema, map[string]any{"savepointedBy": "", "savepointedAt": int64(1), "comments": "", "version": int32(1),
				"partitionMetadata": map[string]any{"p=1": map[string]any{"partitionPath": "p=1", "savepointDataFile": names}}})
			s.instant(at, timeline.Savepoint, timeline.Completed, at, data)
		}
	}
}

// dies plans and returns what dies, as "id@hour" of base files and "id+hour" of logs.
func (s *scenario) dies(c retain.Config, clock int) string {
	s.t.Helper()
	s.hour(clock)
	tab := openAt(s.t, s.store, s.now)
	p, err := tab.Plan(s.t.Context(), c)
	if err != nil {
		s.t.Fatal(err)
	}
	files, _ := dead(s.t, p)
	var out []string
	for _, f := range files {
		d, ok := datafile.Parse(lake.Key(f).Base())
		if !ok {
			continue
		}
		at, err := timeline.ParseTime(d.Instant, time.UTC)
		if err != nil {
			s.t.Fatal(err)
		}
		sign := "@"
		if d.Log {
			sign = "+"
		}
		out = append(out, fmt.Sprintf("%s%s%d", d.FileID, sign, int(at.Sub(modelStart)/time.Hour)))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func commits(n int) retain.Config { c := retain.NewConfig(); c.Commits = n; return c }
func hours(n int) retain.Config {
	c := retain.NewConfig()
	c.Policy, c.Hours = retain.LatestHours, n
	return c
}
func versions(n int) retain.Config {
	c := retain.NewConfig()
	c.Policy, c.Versions = retain.LatestVersions, n
	return c
}

// Hudi's own planner tests as scenarios: spec/hudi-clean.md section 8.
func TestHudisScenarios(t *testing.T) {
	for rule, c := range map[string]struct {
		write func(s *scenario)
		c     retain.Config
		want  string
	}{
		"A1 one old slice alone":                   {func(s *scenario) { s.upsert(1, "f"); s.upsert(2, "g"); s.upsert(3, "g") }, commits(1), ""},
		"A2 two slices before the earliest commit": {func(s *scenario) { s.upsert(1, "f"); s.upsert(2, "f"); s.upsert(3, "g") }, commits(1), "f@1"},
		"A3 one before, one after":                 {func(s *scenario) { s.upsert(1, "f"); s.upsert(2, "g"); s.upsert(3, "f") }, commits(2), ""},
		"A4 two before, one after":                 {func(s *scenario) { s.upsert(1, "f"); s.upsert(2, "f"); s.upsert(3, "f") }, commits(1), "f@1"},
		"A5 the oldest savepointed":                {func(s *scenario) { s.upsert(1, "f"); s.upsert(2, "f"); s.upsert(3, "f"); s.hold(1, "f") }, commits(1), ""},
		"A6 replaced before":                       {func(s *scenario) { s.upsert(1, "f"); s.upsert(2, "f"); s.replaced(3, "f"); s.upsert(4, "g") }, commits(1), "f@1 f@2"},
		"A7 replaced, savepointed": {func(s *scenario) {
			s.upsert(1, "f")
			s.upsert(2, "f")
			s.replaced(3, "f")
			s.upsert(4, "g")
			s.hold(2, "f")
		}, commits(1), "f@1"},
		"A8 no more commits than retained":     {func(s *scenario) { s.upsert(1, "f"); s.upsert(2, "f") }, commits(2), ""},
		"A9 one slice per commit, two of four": {func(s *scenario) { s.upsert(1, "f"); s.upsert(2, "f"); s.upsert(3, "f"); s.upsert(4, "f") }, commits(2), "f@1"},
		"replaced at the earliest commit":      {func(s *scenario) { s.upsert(1, "f"); s.replaced(2, "f") }, commits(1), ""},
		"B1 as many versions as retained":      {func(s *scenario) { s.upsert(1, "f"); s.upsert(2, "f") }, versions(2), ""},
		"B2 two versions of four":              {func(s *scenario) { s.upsert(1, "f"); s.upsert(2, "f"); s.upsert(3, "f"); s.upsert(4, "f") }, versions(2), "f@1 f@2"},
		"B3 the oldest savepointed": {func(s *scenario) {
			s.upsert(1, "f")
			s.upsert(2, "f")
			s.upsert(3, "f")
			s.upsert(4, "f")
			s.hold(1, "f")
		}, versions(2), "f@2"},
		"B3 a savepointed one uses up a place":   {func(s *scenario) { s.upsert(1, "f"); s.upsert(2, "f"); s.upsert(3, "f"); s.hold(2, "f") }, versions(2), "f@1"},
		"B4 a replaced group at once":            {func(s *scenario) { s.upsert(1, "f"); s.replaced(2, "f") }, versions(2), "f@1"},
		"B5 replaced and savepointed":            {func(s *scenario) { s.upsert(1, "f"); s.replaced(2, "f"); s.hold(1, "f") }, versions(2), ""},
		"B109 the newest slice before the hours": {func(s *scenario) { s.upsert(1, "f"); s.upsert(41, "f"); s.upsert(48, "f") }, hours(6), "f@1"},
		"D4 a commit at the cutoff is retained":  {func(s *scenario) { s.upsert(1, "f"); s.upsert(2, "f"); s.upsert(43, "f"); s.upsert(45, "f") }, hours(6), "f@1"},
		"D4 no commit within the hours":          {func(s *scenario) { s.upsert(1, "f"); s.upsert(2, "f"); s.upsert(3, "f") }, hours(6), ""},
		"D1 a pending commit pulls the earliest back": {func(s *scenario) {
			s.upsert(1, "f")
			s.upsert(2, "f")
			s.instant(s.hour(3), timeline.Commit, timeline.Inflight, "", nil)
			s.upsert(4, "f")
			s.upsert(5, "f")
		}, commits(1), ""},
		"D2 a pending commit before all": {func(s *scenario) {
			s.instant(s.hour(0), timeline.Commit, timeline.Requested, "", nil)
			s.upsert(1, "f")
			s.upsert(2, "f")
			s.upsert(3, "f")
		}, commits(1), ""},
		"E7 a file of a write in flight is never the newest version": {func(s *scenario) {
			s.upsert(1, "f")
			s.upsert(2, "f")
			s.instant(s.hour(3), timeline.Commit, timeline.Inflight, "", nil)
			s.base(s.group("p=1", "f"), s.hour(3))
		}, versions(1), "f@1"},
	} {
		for _, version := range []int{6, 9} {
			s := newScenario(t, version, false)
			c.write(s)
			if got := s.dies(c.c, 49); got != c.want {
				t.Errorf("%s, version %d: %q dies, want %q", rule, version, got, c.want)
			}
		}
	}
}

// F2: base and logs of a slice go together; a log goes with the slice that it
// completed into, or that its name says.
func TestLogsGoWithTheirSlice(t *testing.T) {
	for _, version := range []int{6, 9} {
		s := newScenario(t, version, true)
		s.upsert(1, "f")
		s.delta(2, "f")
		s.delta(3, "f")
		s.upsert(4, "f") // as a compaction does
		s.delta(5, "f")
		want := "f+2 f+3 f@1"
		if version == 6 {
			want = "f+1 f+1 f@1" // the slice's instant is in the name
		}
		if got := s.dies(versions(1), 49); got != want {
			t.Errorf("version %d: %q", version, got)
		}
	}
}

// H5: in version 6 file times play no part, whatever Hudi makes of them.
func TestCopiedVersion6KeepsLiveLogs(t *testing.T) {
	s := newScenario(t, 6, true)
	s.upsert(1, "f")
	s.delta(2, "f")
	s.upsert(4, "f")
	s.delta(5, "f")
	want := s.dies(versions(1), 49)
	touched := &scenario{s.model, mem.New(mem.Options{Now: func() time.Time { return modelStart.Add(1000 * time.Hour) }}), t}
	for _, name := range s.store.Names() {
		touched.store.Put(name, contents(t, s.store, name), time.Time{})
	}
	if got := touched.dies(versions(1), 49); got != want || got == "" {
		t.Errorf("%q dies, with true times %q", got, want)
	}
}

// A log whose delta commit neither timeline knows may have completed after any
// slice began: it stays with the newest one, as Hudi has it.
func TestLogsOfUnknownCommitsStay(t *testing.T) {
	s := newScenario(t, 9, true)
	s.upsert(1, "f")
	s.delta(2, "f")
	s.upsert(4, "f")
	s.upsert(6, "f")
	if got := s.dies(versions(1), 49); got != "f+2 f@1 f@4" {
		t.Errorf("%q dies", got)
	}
	for _, name := range s.store.Names() {
		if base := lake.Key(name).Base(); strings.HasPrefix(base, s.hour(1)) || strings.HasPrefix(base, s.hour(2)) {
			dropFrom(t, s.store)(name)
		}
	}
	if got := s.dies(versions(1), 49); got != "f@1 f@4" {
		t.Errorf("%q dies once the delta commit is unknown", got)
	}
}

// B117, B107: what a pending plan names stays.
func TestPendingPlansHold(t *testing.T) {
	for rule, pend := range map[string]func(s *scenario) bool{
		"clustering": func(s *scenario) bool {
			s.instant(s.hour(3), timeline.Clustering, timeline.Requested, "", s.clusteringPlan(s.groups[:1]))
			return false
		},
		"clustering, and then replaced": func(s *scenario) bool {
			s.instant(s.hour(3), timeline.Clustering, timeline.Requested, "", s.clusteringPlan(s.groups[:1]))
			s.replaced(4, "f")
			return false
		},
		"nothing": func(s *scenario) bool { return true },
	} {
		s := newScenario(t, 9, false)
		s.upsert(1, "f")
		held := pend(s)
		if !held {
			s.groups[0].busy = true
		}
		s.upsert(5, "f")
		s.upsert(6, "f")
		if got := s.dies(versions(1), 49); strings.Contains(got, "f@1") != held {
			t.Errorf("%s: %q dies", rule, got)
		}
	}
}

// H4: a user's file in a dead partition keeps the folder.
func TestForeignFileKeepsADeadPartition(t *testing.T) {
	for _, foreign := range []string{"", "p=1/notes.txt", "p=1/sub/x.parquet", "p=1/_SUCCESS"} {
		s := newScenario(t, 9, false)
		s.upsert(1, "f")
		s.replace(s.hour(2), []*modelGroup{s.group("p=1", "f")}, "none", timeline.ReplaceCommit, nil, "DELETE_PARTITION")
		if foreign != "" {
			s.put(foreign, []byte("x"), s.now)
		}
		p, err := openAt(t, s.store, s.now).Plan(t.Context(), versions(1))
		if err != nil {
			t.Fatal(err)
		}
		files, dirs := dead(t, p)
		if whole := foreign == ""; len(dirs) > 0 != whole || slices.Contains(files, "p=1/.hoodie_partition_metadata") != whole || len(files) == 0 {
			t.Errorf("with %q: %q, %q", foreign, files, dirs)
		}
	}
}

// B104: files of a rolled-back write whose rollback is archived are not taken
// for a slice, so they don't push a true one out.
func TestArchivedRollbackLeavesNoSlice(t *testing.T) {
	s := newScenario(t, 9, false)
	s.upsert(1, "f")
	old := s.store.Names()
	s.base(s.group("p=1", "f"), s.hour(2)) // rolled back, its rollback archived
	s.upsert(3, "g")
	for _, name := range old {
		if strings.HasPrefix(name, ".hoodie/timeline/") {
			if err := s.store.Remove(t.Context(), name, ""); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := s.dies(versions(1), 49); got != "f@1" {
		t.Fatalf("without an archive Hudi's rule holds, but %q dies", got)
	}
	s.put(".hoodie/timeline/history/_version_", []byte("1"), s.now)
	s.put(".hoodie/timeline/history/manifest_1", []byte(`{"files":[]}`), s.now)
	if got := s.dies(versions(1), 49); got != "" {
		t.Errorf("%q dies", got)
	}
}

// A replace commit whose groups partly stay bounds what the clean claims.
func TestClaimNeverPassesWhatStays(t *testing.T) {
	s := newScenario(t, 9, false)
	s.upsert(1, "f", "g")
	s.instant(s.hour(2), timeline.LogCompaction, timeline.Requested, "", s.compactionPlan(s.groups[:1]))
	s.replaced(3, "f")
	for h := 4; h < 9; h++ {
		s.upsert(h, "g")
	}
	c := hours(2)
	c.Cutoff = modelStart.Add(8 * time.Hour)
	p, err := openAt(t, s.store, s.now).Plan(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	files, _ := dead(t, p)
	claim, err := p.Claim()
	if err != nil || claim == nil || len(files) == 0 {
		t.Fatal(files, claim, err)
	}
	if at := timeline.FormatTime(modelStart.Add(3*time.Hour), time.UTC); claim.Time != at || p.Earliest.Time <= at {
		t.Errorf("claims %s, the policy's is %s", claim.Time, p.Earliest.Time)
	}
}

// A table inside the table, even one that looks like a partition, is left alone.
func TestNestedTableIsLeftAlone(t *testing.T) {
	for _, marker := range []string{"inner/.hoodie/hoodie.properties", "inner/_delta_log/0.json"} {
		s := newScenario(t, 9, false)
		s.upsert(1, "f")
		s.upsert(2, "f")
		at1, at2 := s.hour(1), s.hour(2)
		s.put(marker, []byte("x"), s.now)
		s.put("inner/.hoodie_partition_metadata", []byte("x"), s.now)
		for _, at := range []string{at1, at2} {
			s.put("inner/g_0-0-0_"+at+".parquet", nil, s.now)
		}
		if got := s.dies(versions(1), 49); got != "f@1" {
			t.Errorf("with %s %q dies", marker, got)
		}
	}
}

// CDC logs go with their slice, on copy-on-write tables too (F10, B120).
func TestChangeLogsGoWithTheirSlice(t *testing.T) {
	for _, version := range []int{6, 9} {
		s := newScenario(t, version, false)
		s.upsert(1, "f")
		s.upsert(2, "f")
		s.put("p=1/.f_"+s.hour(1)+".log.1_0-1-2.cdc", nil, s.now)
		s.put("p=1/.f_"+s.hour(2)+".log.1_0-1-2.cdc", nil, s.now)
		s.upsert(3, "f")
		// In version 9 the log of commit 2 lies on top of slice 2, which it completed into.
		if got := s.dies(versions(1), 49); got != "f+1 f+2 f@1 f@2" {
			t.Errorf("version %d: %q", version, got)
		}
	}
}
