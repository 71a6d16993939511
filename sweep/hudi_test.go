package sweep

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/local"
	"github.com/lakesweep/lakesweep/table"
)

// hudiWorld is a small copy-on-write table of version 6 on disk: one file
// group with a base file an hour.
type hudiWorld struct {
	t    *testing.T
	dir  string
	now  time.Time
	made []string // base files, oldest first
}

func newHudiWorld(t *testing.T, commits int) *hudiWorld {
	w := &hudiWorld{t: t, dir: filepath.Join(t.TempDir(), "table"), now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	w.put(".hoodie/hoodie.properties", "hoodie.table.name=small\nhoodie.table.type=COPY_ON_WRITE\nhoodie.table.version=6\nhoodie.timeline.layout.version=1\nhoodie.table.timeline.timezone=UTC\nhoodie.table.partition.fields=p\n")
	w.put("p=1/.hoodie_partition_metadata", "commitTime=1\npartitionDepth=1\n")
	for i := range commits {
		at := fmt.Sprintf("202603010%d0000000", i)
		name := fmt.Sprintf("f-0_0-1-2_%s.parquet", at)
		w.put("p=1/"+name, "data")
		w.put(".hoodie/"+at+".commit.requested", "")
		w.put(".hoodie/"+at+".inflight", "")
		w.put(".hoodie/"+at+".commit", fmt.Sprintf(`{"partitionToWriteStats":{"p=1":[{"fileId":"f-0","path":"p=1/%s","prevCommit":"x"}]},"operationType":"UPSERT"}`, name))
		w.made = append(w.made, name)
	}
	return w
}

func (w *hudiWorld) put(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o644)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *hudiWorld) read(name string) string {
	w.t.Helper()
	text, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(text)
}

func (w *hudiWorld) engine() *Engine {
	return &Engine{Stores: store.Registry{Classes: map[string]store.OpenFunc{"file": local.Open}}, Now: func() time.Time { return w.now },
		Log: slog.New(slog.DiscardHandler), StateDir: w.t.TempDir(), Tool: "lakesweep test", Getwd: os.Getwd}
}

func (w *hudiWorld) request(h HudiRequest) PlanRequest {
	return PlanRequest{Table: w.dir, Unsafe: Unsafe{MostlyDead: w.dir}, Hudi: h}
}

// left returns the names in a folder that match.
func (w *hudiWorld) left(pattern string) []string {
	w.t.Helper()
	paths, err := filepath.Glob(filepath.Join(w.dir, pattern))
	if err != nil {
		w.t.Fatal(err)
	}
	var names []string
	for _, p := range paths {
		names = append(names, filepath.Base(p))
	}
	return names
}

// clean plans and applies.
func (w *hudiWorld) clean(h HudiRequest) (dead []string, err error) {
	w.t.Helper()
	p, err := w.engine().Plan(w.t.Context(), w.request(h), "")
	if err != nil {
		return nil, err
	}
	defer func() {
		if err := p.Close(); err != nil {
			w.t.Error(err)
		}
	}()
	for v, err := range p.Rows() {
		if err != nil {
			w.t.Fatal(err)
		}
		dead = append(dead, v.Key.Base())
	}
	_, err = w.engine().Apply(w.t.Context(), p, ApplyRequest{}, nil)
	return dead, err
}

func TestHudiClean(t *testing.T) {
	w := newHudiWorld(t, 5)
	dead, err := w.clean(HudiRequest{RetainCommits: 2, NoOtherWriters: true})
	if err != nil || !slices.Equal(dead, w.made[:2]) {
		t.Fatalf("%q, %v", dead, err)
	}
	if got := w.left("p=1/*.parquet"); !slices.Equal(got, w.made[2:]) {
		t.Errorf("left: %q", got)
	}
	for _, state := range []string{"clean.requested", "clean.inflight", "clean"} {
		if got := w.left(".hoodie/*." + state); len(got) != 1 {
			t.Errorf("%s: %q", state, got)
		}
	}
	if dead, err := w.clean(HudiRequest{RetainCommits: 2, NoOtherWriters: true}); err != nil || len(dead) > 0 || len(w.left(".hoodie/*.clean")) != 1 {
		t.Errorf("a second run: %q, %v", dead, err)
	}
}

// A dry run writes nothing, not even to the timeline.
func TestHudiPlanWritesNothing(t *testing.T) {
	w := newHudiWorld(t, 5)
	before := append(w.left(".hoodie/*"), w.left("p=1/*")...)
	p, err := w.engine().Plan(t.Context(), w.request(HudiRequest{RetainVersions: 1}), "")
	if err != nil {
		t.Fatal(err)
	}
	if h := p.Head(); h.Totals.Dead != 4 || h.Format != "hudi" || h.Mode != "KEEP_LATEST_FILE_VERSIONS" {
		t.Errorf("%+v", h)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if after := append(w.left(".hoodie/*"), w.left("p=1/*")...); !slices.Equal(before, after) {
		t.Errorf("%q", after)
	}
}

func TestHudiNeedsALock(t *testing.T) {
	w := newHudiWorld(t, 5)
	if _, err := w.clean(HudiRequest{RetainCommits: 2}); lake.KindOf(err) != lake.Locked || lake.HintOf(err) == "" {
		t.Errorf("without a lock: %v", err)
	}
	config := filepath.Join(t.TempDir(), "hudi.properties")
	for text, kind := range map[string]lake.Kind{
		"org.apache.hudi.client.transaction.lock.InProcessLockProvider":        lake.Locked,
		"org.apache.hudi.client.transaction.lock.StorageBasedLockProvider":     lake.Locked, // a disk has no conditional deletes
		"org.apache.hudi.hive.transaction.lock.HiveMetastoreBasedLockProvider": lake.Locked,
	} {
		if err := os.WriteFile(config, []byte("hoodie.write.lock.provider="+text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := w.clean(HudiRequest{RetainCommits: 2, Config: config}); lake.KindOf(err) != kind {
			t.Errorf("%s: %v", text, err)
		}
	}
	if got := w.left("p=1/*.parquet"); len(got) != 5 || len(w.left(".hoodie/*clean*")) > 0 {
		t.Fatalf("something was done: %q", got)
	}
	text := "hoodie.write.lock.provider=org.apache.hudi.client.transaction.lock.FileSystemBasedLockProvider\nhoodie.clean.commits.retained=2\n"
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if dead, err := w.clean(HudiRequest{Config: config}); err != nil || len(dead) != 2 {
		t.Errorf("%q, %v", dead, err)
	}
	if got := w.left(".hoodie/lock"); len(got) > 0 {
		t.Error("the lock wasn't given back")
	}
}

// What a clean would be refused for is told before it plans, by a plan as a
// warning, and by doctor.
func TestHudiSaysInAdvanceWhatAnApplyTakes(t *testing.T) {
	for rule, c := range map[string]struct {
		zone string
		h    HudiRequest
		want []string // checks of doctor that refuse
		kind lake.Kind
	}{
		"nothing is known":   {"LOCAL", HudiRequest{}, []string{"timeline_zone", "lock"}, lake.Invalid},
		"the zone is known":  {"LOCAL", HudiRequest{TimelineZone: "UTC"}, []string{"lock"}, lake.Locked},
		"nobody else writes": {"LOCAL", HudiRequest{NoOtherWriters: true}, []string{"timeline_zone"}, lake.Invalid},
		"the table's in UTC": {"UTC", HudiRequest{NoOtherWriters: true}, nil, 0},
	} {
		t.Run(rule, func(t *testing.T) {
			w := newHudiWorld(t, 5)
			w.put(".hoodie/hoodie.properties", strings.Replace(w.read(".hoodie/hoodie.properties"), "timezone=UTC", "timezone="+c.zone, 1))
			d, err := w.engine().Doctor(t.Context(), w.request(c.h))
			var refused []string
			for _, g := range d.Checks {
				if g.Outcome == filelist.Refused {
					refused = append(refused, g.Code)
				}
			}
			if err != nil || !slices.Equal(refused, c.want) {
				t.Errorf("doctor: %q, %v", refused, err)
			}
			req := w.request(c.h)
			req.Hudi.RetainCommits = 2
			p, err := w.engine().Plan(t.Context(), req, "")
			if err != nil {
				t.Fatal(err)
			}
			warned := slices.ContainsFunc(p.Head().Guards, func(g filelist.Guard) bool { return g.Code == "not_ready" && g.Outcome == filelist.Warned })
			if err := p.Close(); err != nil || warned != (c.want != nil) {
				t.Errorf("plan: warned %t, %v", warned, err)
			}
			req.AtOnce = &ApplyRequest{}
			p, err = w.engine().Plan(t.Context(), req, "")
			if c.want != nil {
				if lake.KindOf(err) != c.kind || lake.HintOf(err) == "" {
					t.Errorf("a clean: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// While a restore is pending no clean is planned: doctor says so, and what only
// looks at the table goes on.
func TestHudiIsLookedAtWhileARestoreIsPending(t *testing.T) {
	w := newHudiWorld(t, 5)
	w.put(".hoodie/20260301110000000.restore.requested", "")
	req := w.request(HudiRequest{RetainCommits: 2, NoOtherWriters: true})
	d, err := w.engine().Doctor(t.Context(), req)
	if err != nil || !slices.ContainsFunc(d.Checks, func(g filelist.Guard) bool {
		return g.Code == "unwinding" && g.Outcome == filelist.Refused && g.Fix != ""
	}) {
		t.Errorf("doctor: %+v, %v", d.Checks, err)
	}
	if info, err := w.engine().Inspect(t.Context(), req); err != nil || info.ActiveFiles != 1 {
		t.Errorf("inspect: %+v, %v", info, err)
	}
	if _, err := w.engine().Plan(t.Context(), req, ""); lake.KindOf(err) != lake.Refused {
		t.Errorf("plan: %v", err)
	}
}

// --all-versions names the table, of Hudi's too, and reaches the run.
func TestHudiDeletesAllVersionsOnlyOfTheTableThatIsNamed(t *testing.T) {
	w := newHudiWorld(t, 5)
	p, err := w.engine().Plan(t.Context(), w.request(HudiRequest{RetainCommits: 2, NoOtherWriters: true}), "")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for name, says := range map[string]string{"another": "names", p.Head().Given: "versions"} {
		_, err := w.engine().Apply(t.Context(), p, ApplyRequest{AllVersions: name}, nil)
		if lake.KindOf(err) != lake.Invalid || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(w.left("p=1/*.parquet")) != 5 {
		t.Error("something was deleted")
	}
}

// A restore that came after the plan stops it before anything is written.
func TestHudiPlanIsStaleAfterARestore(t *testing.T) {
	w := newHudiWorld(t, 5)
	p, err := w.engine().Plan(t.Context(), w.request(HudiRequest{RetainCommits: 2, NoOtherWriters: true}), "")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	w.put(".hoodie/20260301110000000.restore.requested", "")
	if _, err := w.engine().Apply(t.Context(), p, ApplyRequest{}, nil); lake.KindOf(err) != lake.Stale {
		t.Errorf("after a restore: %v", err)
	}
	if len(w.left("p=1/*.parquet")) != 5 || len(w.left(".hoodie/*clean*")) > 0 {
		t.Error("something was done")
	}
}

func TestHudiWishesThatHaveNoMeaning(t *testing.T) {
	w, hour := newHudiWorld(t, 3), time.Hour
	for name, req := range map[string]PlanRequest{
		"where":     {Where: "p = 1"},
		"retain":    {Retain: &hour},
		"lite":      {Mode: "lite"},
		"inventory": {Inventory: InventoryRequest{Source: "x.csv"}},
		"versions":  {KeepVersions: []int64{1}},
		"policy":    {Hudi: HudiRequest{Policy: "latest-commits", RetainVersions: 3}},
		"zone":      {Hudi: HudiRequest{TimelineZone: "Nowhere/None"}},
	} {
		req.Table = w.dir
		p, err := w.engine().Plan(t.Context(), req, "")
		if lake.KindOf(err) != lake.Invalid || err == nil {
			t.Errorf("%s: %v", name, err)
		}
		if p != nil {
			p.Close()
		}
	}
}

func TestHudiQuestions(t *testing.T) {
	w := newHudiWorld(t, 5)
	w.put("p=1/notes.txt", "x")
	w.put("p=1/f-0_0-1-2_20260301095900000.parquet", "left by a failed write")
	e, req := w.engine(), w.request(HudiRequest{RetainCommits: 2})
	info, err := e.Inspect(t.Context(), req)
	if err != nil || info.Format != "hudi" || info.ActiveFiles != 1 || info.Protocol["table_version"] != "6" || info.Instant != "20260301040000000" {
		t.Errorf("inspect: %+v, %v", info, err)
	}
	paths := []string{"p=1/" + w.made[0], "p=1/" + w.made[2], "p=1/" + w.made[4], "p=1/notes.txt", ".hoodie/hoodie.properties", "p=1/f-0_0-1-2_20260301095900000.parquet", "p=1/none"}
	xs, err := e.Explain(t.Context(), req, paths)
	var verdicts []string
	for _, x := range xs {
		verdicts = append(verdicts, x.Verdict)
		if len(x.Because) == 0 {
			t.Errorf("%s: no reason", x.Path)
		}
	}
	if got := strings.Join(verdicts, " "); err != nil || got != "dead history live foreign hidden young absent" {
		t.Errorf("explain: %s, %v", got, err)
	}
	var rows []table.Usage
	for u, err := range e.Usage(t.Context(), req) {
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, u)
	}
	if len(rows) != 1 || rows[0].Live[0] != 1 || rows[0].History[0] != 2 || rows[0].Dead[0] != 2 || rows[0].Unknown[0] != 1 {
		t.Errorf("usage: %+v", rows)
	}
	var found []string
	for f, err := range e.Verify(t.Context(), req) {
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, f.Type+" "+f.Path)
	}
	if !slices.Equal(found, []string{"leftover p=1/f-0_0-1-2_20260301095900000.parquet"}) {
		t.Errorf("verify: %q", found)
	}
	d, err := e.Doctor(t.Context(), req)
	if err != nil || d.Format != "hudi" {
		t.Errorf("doctor: %+v, %v", d, err)
	}
}

// A writer that found a dropped partition's metadata file doesn't make it anew:
// without it no reader that lists folders would find what it writes there. So
// the partition stays one where a write came since the plan, or is under way.
func TestHudiDroppedPartitionIsWrittenAgain(t *testing.T) {
	const at = "20260301100000000"
	stats := `{"partitionToWriteStats":{%q:[{"fileId":"f-9","path":"x","prevCommit":"null"}]},"operationType":"INSERT"}`
	for rule, c := range map[string]struct {
		after func(w *hudiWorld)
		stays bool
	}{
		"no write came": {func(*hudiWorld) {}, false},
		"written": {func(w *hudiWorld) {
			w.put("p=1/f-9_0-1-2_"+at+".parquet", "data")
			w.put(".hoodie/"+at+".commit.requested", "")
			w.put(".hoodie/"+at+".inflight", "")
			w.put(".hoodie/"+at+".commit", fmt.Sprintf(stats, "p=1"))
		}, true},
		"being written, no file yet": {func(w *hudiWorld) {
			w.put(".hoodie/"+at+".commit.requested", "")
			w.put(".hoodie/"+at+".inflight", fmt.Sprintf(stats, "p=1"))
		}, true},
		"a write that doesn't say where": {func(w *hudiWorld) { w.put(".hoodie/"+at+".commit.requested", "") }, true},
		"written elsewhere": {func(w *hudiWorld) {
			w.put(".hoodie/"+at+".commit.requested", "")
			w.put(".hoodie/"+at+".inflight", "")
			w.put(".hoodie/"+at+".commit", fmt.Sprintf(stats, "p=2"))
		}, false},
		"writes archived since": {func(w *hudiWorld) {
			for _, name := range w.left(".hoodie/202603010*") {
				if err := os.Remove(filepath.Join(w.dir, ".hoodie", name)); err != nil {
					w.t.Fatal(err)
				}
			}
		}, true},
	} {
		t.Run(rule, func(t *testing.T) {
			w := newHudiWorld(t, 2)
			w.put(".hoodie/20260301090000000.replacecommit.requested", "")
			w.put(".hoodie/20260301090000000.replacecommit.inflight", "")
			w.put(".hoodie/20260301090000000.replacecommit", `{"partitionToWriteStats":{},"operationType":"DELETE_PARTITION","partitionToReplaceFileIds":{"p=1":["f-0"]}}`)
			p, err := w.engine().Plan(t.Context(), w.request(HudiRequest{RetainVersions: 1, NoOtherWriters: true}), "")
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			c.after(w)
			if _, err := w.engine().Apply(t.Context(), p, ApplyRequest{}, nil); err != nil {
				t.Fatal(err)
			}
			if marker := w.left("p=1/.hoodie_partition_metadata"); len(marker) > 0 != c.stays {
				t.Errorf("the partition's metadata file: %q", marker)
			}
			for _, name := range w.made {
				if got := w.left("p=1/" + name); len(got) > 0 {
					t.Errorf("%q stays", got)
				}
			}
			if got := w.left(".hoodie/*.clean"); len(got) != 1 {
				t.Errorf("cleans: %q", got)
			}
		})
	}
}

// Where no clean is due, explain still says what each file is.
func TestHudiExplainWhereNoCleanIsDue(t *testing.T) {
	w := newHudiWorld(t, 2)
	all, err := w.engine().Explain(t.Context(), w.request(HudiRequest{RetainCommits: 10}), []string{"p=1/" + w.made[0], "p=1/" + w.made[1]})
	if err != nil || len(all) != 2 {
		t.Fatalf("%+v, %v", all, err)
	}
	for i, want := range []string{"an older slice of its file group", "the newest slice of its file group"} {
		if rule := all[i].Because[0].Rule; !strings.HasPrefix(rule, want) {
			t.Errorf("%q, want %q", rule, want)
		}
	}
}
