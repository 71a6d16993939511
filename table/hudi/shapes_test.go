package hudi

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lock"
	"github.com/lakesweep/lakesweep/store/mem"
	"github.com/lakesweep/lakesweep/table"
	"github.com/lakesweep/lakesweep/table/hudi/blobtest"
	"github.com/lakesweep/lakesweep/table/hudi/cleanplan"
	"github.com/lakesweep/lakesweep/table/hudi/retain"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// F6, B121: a dropped partition goes with its folder once no retained commit
// reads it, and not while a savepoint holds a file in it.
func TestDroppedPartition(t *testing.T) {
	for rule, c := range map[string]struct {
		c     retain.Config
		clock int
		saved bool
		want  string // what dies besides f's slices
	}{
		"versions, at once":      {versions(1), 3, false, "g@1 folder"},
		"commits, outside":       {commits(1), 5, false, "g@1 folder"},
		"commits, still within":  {commits(9), 5, false, ""},
		"hours, outside":         {hours(2), 5, false, "g@1 folder"},
		"hours, still within":    {hours(24), 5, false, ""},
		"versions, savepointed":  {versions(1), 5, true, ""},
		"commits, savepointed":   {commits(1), 5, true, ""},
		"replaced at the border": {commits(3), 5, false, ""},
	} {
		s := newScenario(t, 9, false)
		s.commit(1, "UPSERT", "p=1/f", "p=2/g")
		if c.saved {
			s.savepoint("")
		}
		s.replace(s.hour(2), []*modelGroup{s.group("p=2", "g")}, "none", timeline.ReplaceCommit, nil, "DELETE_PARTITION")
		s.commit(3, "UPSERT", "p=1/f")
		s.commit(4, "UPSERT", "p=1/f")
		p, err := openAt(t, s.store, modelStart.Add(time.Duration(c.clock)*time.Hour)).Plan(t.Context(), c.c)
		if err != nil {
			t.Fatal(err)
		}
		files, dirs := dead(t, p)
		files = slices.DeleteFunc(files, func(f string) bool { return strings.HasPrefix(f, "p=1/") })
		var got []string
		if slices.ContainsFunc(files, func(f string) bool { return strings.HasPrefix(f, "p=2/g_") }) {
			got = append(got, "g@1")
		}
		if slices.Equal(dirs, []string{"p=2"}) && slices.Contains(files, "p=2/.hoodie_partition_metadata") {
			got = append(got, "folder")
		}
		if strings.Join(got, " ") != c.want || len(files) > 2 {
			t.Errorf("%s: %q and %q die", rule, files, dirs)
		}
	}
}

// F7, B095: an unpartitioned table's folder stays though all its groups are
// replaced, and even if a pending clean says that it goes.
func TestTheTableItselfStays(t *testing.T) {
	s := newScenario(t, 9, false)
	p := string(contents(t, s.store, ".hoodie/hoodie.properties"))
	s.put(".hoodie/hoodie.properties", []byte(strings.ReplaceAll(p, "hoodie.table.partition.fields=p\n", "")), s.now)
	s.put(".hoodie_partition_metadata", []byte("commitTime=1\npartitionDepth=0\n"), s.now)
	s.commit(1, "UPSERT", "f")
	s.replace(s.hour(2), []*modelGroup{s.group("", "f")}, "none", timeline.ReplaceCommit, nil, "DELETE_PARTITION")
	check := func(what string) {
		t.Helper()
		plan, err := openAt(t, s.store, s.hourAt(9)).Plan(t.Context(), versions(1))
		if err != nil {
			t.Fatal(err)
		}
		files, dirs := dead(t, plan)
		if len(files) != 1 || !strings.HasPrefix(files[0], "f_") || len(dirs) > 0 {
			t.Errorf("%s: %q and %q die", what, files, dirs)
		}
	}
	check("replaced")
	data, err := timeline.CleanPlan{Policy: string(retain.LatestVersions), DeadPartitions: []string{""}, Files: map[string][]timeline.CleanFile{"": {s.planned("", s.groups[0].slices[0].base)}}}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	s.instant(s.hour(3), timeline.Clean, timeline.Requested, "", data)
	check("pending")
}

// hourAt is the time of an hour of the scenario.
func (s *scenario) hourAt(h int) time.Time { return modelStart.Add(time.Duration(h) * time.Hour) }

// planned is a file in a clean's plan.
func (s *scenario) planned(partition, name string) timeline.CleanFile {
	path, no := "mem:///t/"+join(partition, name), false
	return timeline.CleanFile{Path: &path, Bootstrap: &no}
}

// finishes has a run finish a clean of p=1, by versions, that somebody left at
// hour 7 with a plan of files.
func (s *scenario) finishes(t *testing.T, files ...timeline.CleanFile) error {
	t.Helper()
	data, err := timeline.CleanPlan{Policy: string(retain.LatestVersions), Files: map[string][]timeline.CleanFile{"p=1": files}}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	s.instant(s.hour(7), timeline.Clean, timeline.Requested, "", data)
	e, err := prepareAt(t, s.store, lake.Root{Scheme: "mem", Path: "t"}, s.store, versions(1), s.hourAt(9), lock.None{})
	if err == nil {
		err = e.carryOut(t.Context(), s.store)
	}
	return err
}

// F8: a table that was never written has nothing to clean.
func TestNoCommitNoPlan(t *testing.T) {
	s := newScenario(t, 9, false)
	for _, c := range []retain.Config{commits(1), hours(1), versions(1)} {
		if p, err := openAt(t, s.store, s.now).Plan(t.Context(), c); err != nil || !p.Nothing {
			t.Errorf("%s: %+v, %v", c.Policy, p, err)
		}
	}
}

// F9: a partition in which only a write in flight has files isn't dead.
func TestPartitionOfAWriteInFlightStays(t *testing.T) {
	s := newScenario(t, 9, false)
	s.commit(1, "UPSERT", "p=2/g")
	s.replace(s.hour(2), []*modelGroup{s.group("p=2", "g")}, "none", timeline.ReplaceCommit, nil, "DELETE_PARTITION")
	s.instant(s.hour(3), timeline.Commit, timeline.Inflight, "", nil)
	s.base(s.group("p=2", "new"), s.hour(3))
	s.base(s.group("p=10", "new"), s.hour(3))
	p, err := openAt(t, s.store, s.hourAt(9)).Plan(t.Context(), versions(1))
	if err != nil {
		t.Fatal(err)
	}
	if files, dirs := dead(t, p); len(files) != 1 || !strings.HasPrefix(files[0], "p=2/g_") || len(dirs) > 0 {
		t.Errorf("%q and %q die", files, dirs)
	}
}

// F4: what a pending compaction starts from stays, under each policy.
func TestPendingCompactionHolds(t *testing.T) {
	s := newScenario(t, 9, true)
	s.upsert(1, "f", "g")
	s.delta(2, "f", "g")
	s.upsert(3, "f", "g")
	s.delta(4, "f", "g")
	plan := s.compactionPlan(s.groups[:1])
	s.instant(s.hour(5), timeline.Compaction, timeline.Requested, "", plan)
	s.groups[0].busy = true
	for h := 6; h < 9; h++ {
		s.delta(h, "f")
	}
	// The compaction's result will be one of f's versions; what it starts from is none.
	for _, c := range []struct {
		c    retain.Config
		want string
	}{{versions(1), "f+2 f@1 g+2 g@1"}, {versions(2), ""}, {commits(1), "f+2 f@1 g+2 g@1"}} {
		if got := s.dies(c.c, 49); got != c.want {
			t.Errorf("%s: %q dies, want %q", c.c.Policy, got, c.want)
		}
	}
}

// B106: the groups of a replace commit that was archived before they were
// cleaned count as live, to Hudi as well: nothing of them dies as replaced.
func TestArchivedReplaceCommitFreesNothing(t *testing.T) {
	s := newScenario(t, 9, false)
	s.upsert(1, "f")
	s.replaced(2, "f")
	gone := s.store.Names()
	s.upsert(3, "g")
	s.upsert(4, "g")
	s.upsert(5, "g")
	for _, name := range gone {
		if strings.HasPrefix(name, ".hoodie/timeline/") {
			if err := s.store.Remove(t.Context(), name, ""); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := s.dies(versions(1), 49); got != "g@3 g@4" {
		t.Errorf("%q dies", got)
	}
}

// E2, E3, E4, E5: a pending clean is finished before another is planned; one
// whose plan has no bytes is passed over, however many there are; one whose
// plan can't be read, and a completed one without bytes, stop the run.
func TestPendingCleans(t *testing.T) {
	scene := func() *scenario {
		s := newScenario(t, 9, false)
		s.upsert(1, "f")
		s.upsert(2, "f")
		s.upsert(3, "f")
		return s
	}
	plan := func(s *scenario) (*cleanplan.Plan, error) {
		return openAt(t, s.store, s.hourAt(49)).Plan(t.Context(), versions(1))
	}
	s := scene()
	data, err := timeline.CleanPlan{Policy: string(retain.LatestCommits), Files: map[string][]timeline.CleanFile{"p=1": {s.planned("p=1", s.groups[0].slices[0].base)}}}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	s.instant(s.hour(4), timeline.Clean, timeline.Requested, "", data)
	p, err := plan(s)
	if err != nil || p.Resumes != s.hour(4) {
		t.Fatalf("E2: %+v, %v", p, err)
	}
	if files, _ := dead(t, p); len(files) != 1 {
		t.Errorf("E2: %q", files)
	}
	s = scene()
	for minute := range 20 {
		at := timeline.FormatTime(s.hourAt(4).Add(time.Duration(minute)*time.Minute), time.UTC)
		s.instant(at, timeline.Clean, timeline.Requested, "", nil)
	}
	if p, err = plan(s); err != nil || p.Resumes != "" {
		t.Fatalf("E5: %+v, %v", p, err)
	}
	if files, _ := dead(t, p); len(files) != 2 {
		t.Errorf("E5: %q", files)
	}
	s = scene()
	s.instant(s.hour(4), timeline.Clean, timeline.Requested, "", []byte("no Avro"))
	if _, err := plan(s); lake.KindOf(err) != lake.Damaged || !strings.Contains(err.Error(), ".clean.requested") {
		t.Errorf("E3: %v", err)
	}
	s = scene()
	s.complete(s.hour(4), timeline.Clean, data, nil)
	if _, err := plan(s); lake.KindOf(err) != lake.Damaged || !strings.Contains(err.Error(), ".clean") {
		t.Errorf("E4: %v", err)
	}
}

// G1: a pending clean of Hudi before 0.6 names files only, without a path.
func TestPlansOfVersion1(t *testing.T) {
	s := newScenario(t, 9, false)
	s.upsert(1, "f")
	s.upsert(2, "f")
	old := s.groups[0].slices[0].base
	const schema = `{"type":"record","name":"HoodieCleanerPlan","namespace":"org.apache.hudi.avro.model","fields":[
{"name":"earliestInstantToRetain","type":["null",{"type":"record","name":"HoodieActionInstant","fields":[{"name":"timestamp","type":"string"},{"name":"action","type":"string"},{"name":"state","type":"string"}]}],"default":null},
{"name":"lastCompletedCommitTimestamp","type":"string","default":""},{"name":"policy","type":"string"},
{"name":"filesToBeDeletedPerPartition","type":["null",{"type":"map","values":{"type":"array","items":"string"}}],"default":null},{"name":"version","type":["int","null"],"default":1}]}`
	s.instant(s.hour(3), timeline.Clean, timeline.Requested, "", s.avro(schema, map[string]any{"earliestInstantToRetain": nil, "lastCompletedCommitTimestamp": "", "policy": "KEEP_LATEST_COMMITS",
		"filesToBeDeletedPerPartition": map[string]any{"p=1": []string{old}}, "version": int32(1)}))
	p, err := openAt(t, s.store, s.hourAt(9)).Plan(t.Context(), versions(1))
	if err != nil {
		t.Fatal(err)
	}
	if files, _ := dead(t, p); p.Resumes == "" || !slices.Equal(files, []string{"p=1/" + old}) {
		t.Errorf("%q, %+v", files, p)
	}
}

// B101: two runs finish one pending clean: it is completed once.
func TestTwoRunsOfOnePendingClean(t *testing.T) {
	s := newScenario(t, 9, false)
	s.upsert(1, "f")
	s.upsert(2, "f")
	first, err := prepare(t, s.store, s.store, versions(1), s.hourAt(9), lock.None{})
	if err == nil {
		err = first.run.Begin(t.Context(), table.Intent{})
	}
	if err != nil {
		t.Fatal(err)
	}
	var runs []*execution
	for range 2 {
		e, err := prepare(t, s.store, s.store, versions(1), s.hourAt(10), lock.None{})
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, e)
	}
	for i, e := range runs {
		if err := e.carryOut(t.Context(), s.store); err != nil {
			t.Errorf("run %d: %v", i, err)
		}
	}
	completed := 0
	for _, name := range s.store.Names() {
		if strings.HasSuffix(name, ".clean") {
			completed++
		}
	}
	if completed != 1 || runs[0].run.Instant() != first.run.Instant() {
		t.Errorf("%d completed cleans", completed)
	}
}

// B126: a file that is gone before the clean is no failure, and the metadata
// table no longer lists it afterwards.
func TestFilesGoneBeforeTheClean(t *testing.T) {
	c := load(t, "cow_v9_part")
	p := c.Expected.Policies["commits"]
	s := mem.New(mem.Options{})
	clone(t, s, c.Table)
	for _, name := range p.Deleted[:3] {
		if err := s.Remove(t.Context(), name, ""); err != nil {
			t.Fatal(err)
		}
	}
	e, err := prepare(t, s, s, configOf(t, p), p.Now, lock.None{})
	if err != nil {
		t.Fatal(err)
	}
	if len(e.rows) != len(p.Deleted)-3 {
		t.Errorf("%d files planned", len(e.rows))
	}
	if err := e.carryOut(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	checkCleaned(t, s, p, slices.Concat(p.Deleted, p.OtherRemoved))
}

// A pending clean that somebody took off the timeline isn't finished, and no
// inflight file is made for it: without a plan, it would stop every later clean.
func TestARemovedCleanIsNotFinished(t *testing.T) {
	for _, version := range []int{6, 9} {
		s := newScenario(t, version, false)
		s.upsert(1, "f")
		s.upsert(2, "f")
		s.upsert(3, "f")
		data, err := timeline.CleanPlan{Policy: string(retain.LatestCommits), Files: map[string][]timeline.CleanFile{"p=1": {s.planned("p=1", s.groups[0].slices[0].base)}}}.Encode()
		if err != nil {
			t.Fatal(err)
		}
		s.instant(s.hour(4), timeline.Clean, timeline.Requested, "", data)
		e, err := prepareAt(t, s.store, lake.Root{Scheme: "mem", Path: "t"}, s.store, commits(1), s.hourAt(49), lock.None{})
		if err != nil || len(e.rows) != 1 {
			t.Fatal(e, err)
		}
		dir := openAt(t, s.store, s.now).Timeline().Dir
		if err := s.store.Remove(t.Context(), dir+"/"+s.hour(4)+".clean.requested", ""); err != nil {
			t.Fatal(err)
		}
		if err := e.carryOut(t.Context(), s.store); lake.KindOf(err) != lake.Stale {
			t.Errorf("version %d: %v", version, err)
		}
		for _, name := range s.store.Names() {
			if strings.Contains(name, ".clean") {
				t.Errorf("version %d: %s", version, name)
			}
		}
		if _, err := s.store.Stat(t.Context(), string(e.rows[0].Key)); err != nil {
			t.Errorf("version %d: %v", version, err)
		}
	}
}

// What Hudi takes for a slice and lakesweep for a leftover, since the archived
// timeline doesn't know its instant, dies where a pending clean of Hudi's names
// it, and nothing where the instant is under way.
func TestAPendingCleanThatNamesALeftover(t *testing.T) {
	for _, busy := range []bool{false, true} {
		s := newScenario(t, 9, false)
		s.upsert(1, "f")
		s.upsert(3, "f")
		s.upsert(4, "f")
		s.upsert(5, "f")
		left := s.base(s.group("p=1", "f"), s.hour(2)).base // rolled back, not whole
		if busy {
			s.instant(s.hour(2), timeline.Commit, timeline.Inflight, "", nil)
		}
		data, err := timeline.CleanPlan{Policy: string(retain.LatestCommits), Files: map[string][]timeline.CleanFile{"p=1": {s.planned("p=1", s.groups[0].slices[0].base), s.planned("p=1", left)}}}.Encode()
		if err != nil {
			t.Fatal(err)
		}
		s.instant(s.hour(6), timeline.Clean, timeline.Requested, "", data)
		e, err := prepareAt(t, s.store, lake.Root{Scheme: "mem", Path: "t"}, s.store, commits(1), s.hourAt(49), lock.None{})
		if busy {
			if lake.KindOf(err) != lake.Refused {
				t.Errorf("in flight: %v", err)
			}
			continue
		}
		if err == nil {
			err = e.carryOut(t.Context(), s.store)
		}
		if err != nil {
			t.Error(err)
		}
		if _, err := s.store.Stat(t.Context(), "p=1/"+left); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the leftover: %v", err)
		}
	}
}

// A pending clean of Hudi's, planned by a listing of folders, names what the
// metadata table doesn't list: it goes, as Hudi deletes it, and the clean is
// complete; likewise if it is gone. Not if a write in flight may need it.
func TestAPendingCleanThatNamesWhatIsNotListed(t *testing.T) {
	for rule, c := range map[string]struct {
		change func(s *scenario, file, at string)
		kind   lake.Kind
	}{
		"stands":             {func(*scenario, string, string) {}, 0},
		"gone":               {func(s *scenario, file, _ string) { dropFrom(t, s.store)(file) }, 0},
		"a write in flight":  {func(s *scenario, _, at string) { s.instant(at, timeline.Commit, timeline.Inflight, "", nil) }, lake.Refused},
		"a savepoint has it": {func(s *scenario, file, _ string) { s.savepointOf(file) }, lake.Refused},
	} {
		for _, version := range []int{6, 9} {
			s := newScenario(t, version, false)
			s.content = []byte("x")
			s.upsert(1, "f")
			s.upsert(2, "f")
			s.hour(3)
			s.texts = string(contents(t, s.store, ".hoodie/hoodie.properties"))
			s.startListing()
			at := s.hour(6)
			file := "p=1/" + s.base(s.group("p=1", "g"), at).base
			c.change(s, file, at)
			old := s.groups[0].slices[0].base
			err := s.finishes(t, s.planned("p=1", old), s.planned("p=1", lake.Key(file).Base()))
			if lake.KindOf(err) != c.kind {
				t.Errorf("%s, version %d: %v", rule, version, err)
			}
			if err != nil {
				continue
			}
			tab := openAt(t, s.store, s.hourAt(10))
			if i, ok := tab.Timeline().Find(s.hour(7), timeline.Clean); !ok || i.State != timeline.Completed || tab.snap.Distrust != nil {
				t.Errorf("%s, version %d: %+v, %v", rule, version, i, tab.snap.Distrust)
			}
			for _, f := range []string{file, "p=1/" + old} {
				if _, err := s.store.Stat(t.Context(), f); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%s, version %d: %s: %v", rule, version, f, err)
				}
			}
		}
	}
}

// savepointOf makes a savepoint of the first write hold a file.
func (s *scenario) savepointOf(file string) {
	at := s.writes[0].time
	s.instant(at, timeline.Savepoint, timeline.Inflight, "", nil)
	s.instant(at, timeline.Savepoint, timeline.Completed, timeline.FormatTime(s.now, time.UTC), blobtest.Savepoint(s.t, file))
}

// A pending clean may name what a second attempt of a task left: the metadata
// table lists the other file, and a reader of folders may open either. It goes
// only with its whole slice, and not with the newest.
func TestAPendingCleanOfASecondAttempt(t *testing.T) {
	for rule, c := range map[string]struct {
		slice int
		whole bool
		kind  lake.Kind
	}{
		"of an older slice, with it": {0, true, 0},
		"of an older slice, alone":   {0, false, lake.Refused},
		"of the newest slice":        {1, false, lake.Refused},
	} {
		for _, version := range []int{6, 9} {
			s := newScenario(t, version, false)
			s.content = []byte("x")
			s.upsert(1, "f")
			s.upsert(2, "f")
			s.hour(3)
			s.texts = string(contents(t, s.store, ".hoodie/hoodie.properties"))
			s.startListing()
			base := s.groups[0].slices[c.slice].base
			id, rest, _ := strings.Cut(base, "_")
			_, instant, _ := strings.Cut(rest, "_")
			again := id + "_9-9-9_" + instant
			s.put("p=1/"+again, []byte("x"), s.now)
			files := []timeline.CleanFile{s.planned("p=1", again)}
			if c.whole {
				files = append(files, s.planned("p=1", base))
			}
			err := s.finishes(t, files...)
			if lake.KindOf(err) != c.kind {
				t.Errorf("%s, version %d: %v", rule, version, err)
			}
		}
	}
}
