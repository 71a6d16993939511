package hudi

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table/hudi/datafile"
	"github.com/lakesweep/lakesweep/table/hudi/retain"
)

// oracle is Hudi's own planner, in one JVM: the program that the environment
// variable LAKESWEEP_HUDI_ORACLE names, in batch mode.
type oracle struct {
	in  io.Writer
	out *bufio.Reader
}

type oracleAnswer struct {
	Error    any      `json:"error"`
	Planned  bool     `json:"planned"`
	Earliest *string  `json:"earliestCommitToRetain"`
	Last     *string  `json:"lastCompletedCommit"`
	Files    []string `json:"files"`
	Dead     []string `json:"partitionsToBeDeleted"`
}

func startOracle(t *testing.T) *oracle {
	t.Helper()
	program := os.Getenv("LAKESWEEP_HUDI_ORACLE")
	if program == "" {
		t.Skip("LAKESWEEP_HUDI_ORACLE names no program")
	}
	cmd := exec.CommandContext(t.Context(), program, "batch")
	cmd.Stderr = nil
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Wait() // its answers have been checked
	})
	return &oracle{in, bufio.NewReader(out)}
}

func (o *oracle) ask(t *testing.T, words ...string) (a oracleAnswer) {
	t.Helper()
	if err := json.Unmarshal(o.raw(t, words...), &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// raw sends a command and returns the answer's JSON.
func (o *oracle) raw(t *testing.T, words ...string) []byte {
	t.Helper()
	line, err := json.Marshal(words)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintf(o.in, "%s\n", line); err != nil {
		t.Fatal(err)
	}
	for {
		answer, err := o.out.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if at := strings.IndexByte(answer, '{'); at >= 0 { // the JVM's own lines come between
			return []byte(answer[at:])
		}
	}
}

// writeTo puts files below a folder on disk.
func writeTo(t testing.TB, dir string) func(string, []byte, time.Time) {
	return func(name string, data []byte, modified time.Time) {
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil {
			err = os.WriteFile(path, data, 0o644)
		}
		if err == nil {
			err = os.Chtimes(path, modified, modified)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// oracleCases returns how many random tables are tried, and the first one's
// seed: LAKESWEEP_HUDI_CASES and LAKESWEEP_HUDI_SEED, if they are set.
func oracleCases(t *testing.T, n uint64) (cases, first uint64) {
	t.Helper()
	cases, first = n, 1
	for name, to := range map[string]*uint64{"LAKESWEEP_HUDI_CASES": &cases, "LAKESWEEP_HUDI_SEED": &first} {
		s := os.Getenv(name)
		if s == "" {
			continue
		}
		var err error
		if *to, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	return cases, first
}

// randomTable is an empty model whose files lie in dir.
func randomTable(t *testing.T, seed uint64) (m *model, dir string) {
	dir = t.TempDir()
	m = newModel(t, seed, writeTo(t, dir))
	m.drop = func(name string) {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return m, dir
}

// Plans of random tables are Hudi's own planner's, but for the careful
// differences, which only keep more.
func TestPlansAreTheOracles(t *testing.T) {
	program := startOracle(t)
	n, first := oracleCases(t, 100)
	planned, odd := 0, 0
	for seed := first; seed < first+n; seed++ {
		m, dir := randomTable(t, seed)
		m.insert(m.tick())
		for range 5 + m.rng.IntN(20) {
			m.step()
		}
		for _, c := range []retain.Config{m.config(retain.LatestCommits), m.config(retain.LatestVersions), m.config(retain.LatestHours)} {
			a := askPlan(t, program, dir, c, m)
			if a.Error != nil {
				t.Errorf("seed %d, %s: the oracle fails: %v\n%s", seed, c.Policy, a.Error, strings.Join(m.trace, "\n"))
				continue
			}
			if a.Planned {
				planned++
			}
			if diff := m.compare(t, program, dir, c, a, &odd); diff != "" {
				t.Errorf("seed %d, version %d, mor %v, %s %d/%d/%d: %s\n%s", seed, m.version, m.mor, c.Policy, c.Commits, c.Versions, c.Hours, diff, strings.Join(m.trace, "\n"))
			}
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d tables from seed %d, %d plans, %d careful differences", n, first, planned, odd)
	if uint64(planned) < n/3 {
		t.Errorf("only %d plans", planned)
	}
}

func (m *model) config(p retain.Policy) retain.Config {
	c := retain.NewConfig()
	c.Policy, c.Commits, c.Versions, c.Hours = p, 1+m.rng.IntN(5), 1+m.rng.IntN(3), 1+m.rng.IntN(12)
	if m.rng.IntN(3) == 0 {
		c.Incremental = false
	}
	if m.rng.IntN(4) == 0 {
		c.MaxCommits = int64(1 + m.rng.IntN(3))
	}
	return c
}

func askPlan(t *testing.T, o *oracle, dir string, c retain.Config, m *model) oracleAnswer {
	words := []string{"plan", dir, "--set", "hoodie.metadata.enable=" + strconv.FormatBool(m.listing != nil), "--set", "hoodie.clean.incremental.enabled=" + strconv.FormatBool(c.Incremental)}
	if c.MaxCommits < 1000 {
		words = append(words, "--set", "hoodie.clean.max.commits.to.clean="+strconv.FormatInt(c.MaxCommits, 10))
	}
	switch c.Policy {
	case retain.LatestCommits:
		words = append(words, "--policy", "latest-commits", "--retain", strconv.Itoa(c.Commits))
	case retain.LatestVersions:
		words = append(words, "--policy", "latest-versions", "--retain", strconv.Itoa(c.Versions))
	case retain.LatestHours:
		words = append(words, "--policy", "latest-hours", "--retain", strconv.Itoa(c.Hours), "--now", m.clock().Format(time.RFC3339))
	}
	return o.ask(t, words...)
}

// clock is when the clean is planned: half an hour after the last step.
func (m *model) clock() time.Time { return m.now.Add(30 * time.Minute) }

func (m *model) compare(t *testing.T, o *oracle, dir string, c retain.Config, a oracleAnswer, odd *int) string {
	t.Helper()
	tab := openOn(t, dir, m.clock)
	p, err := tab.Plan(t.Context(), c)
	if err != nil {
		return err.Error()
	}
	files, dirs := dead(t, p)
	files = slices.DeleteFunc(files, func(f string) bool { return lake.Key(f).Base() == ".hoodie_partition_metadata" })
	// Careful difference 7: by hours, less dies while something is pending or
	// was long in flight.
	if c.Policy == retain.LatestHours && a.Earliest != nil && (p.Earliest == nil || p.Earliest.Time < *a.Earliest) {
		*odd++
		a.Files = slices.DeleteFunc(a.Files, func(f string) bool { return !slices.Contains(files, f) })
		a.Dead = slices.DeleteFunc(a.Dead, func(p string) bool { return !slices.Contains(dirs, p) })
		a.Earliest = nil
	}
	// An incremental plan of Hudi's passes by partitions of older replace commits.
	// What we take of them is in Hudi's plan of all partitions.
	more := func(f string) bool { return !slices.Contains(a.Files, f) }
	if p.Incremental && slices.ContainsFunc(files, more) {
		c.Incremental = false
		whole := askPlan(t, o, dir, c, m)
		files = slices.DeleteFunc(files, func(f string) bool { return more(f) && slices.Contains(whole.Files, f) })
		dirs = slices.DeleteFunc(dirs, func(p string) bool { return !slices.Contains(a.Dead, p) && slices.Contains(whole.Dead, p) })
	}
	// Careful difference 1: what a pending plan names stays. And 3: what a write
	// in flight left is no slice, while Hudi takes one from before the first
	// completed write for the newest.
	a.Files = slices.DeleteFunc(a.Files, func(f string) bool {
		kept := !slices.Contains(files, f) && (m.inPlan(f) || m.besideFailure(f))
		if kept {
			*odd++
		}
		return kept
	})
	if diff := cmp.Diff(a.Files, files, cmpopts.EquateEmpty()); diff != "" {
		return diff
	}
	// Careful difference 5: a folder goes only if nothing stays in it. And one
	// without files to delete isn't worth a clean, and breaks Hudi's own.
	a.Dead = slices.DeleteFunc(a.Dead, func(p string) bool {
		if p == "" {
			return true // the table itself: planned by Hudi, and skipped when executed
		}
		entries, err := os.ReadDir(filepath.Join(dir, p))
		if err != nil {
			t.Fatal(err)
		}
		inside, dying := 0, 0
		for _, e := range entries {
			if _, ok := datafile.Parse(e.Name()); ok {
				inside++
			}
		}
		for _, f := range a.Files {
			if string(lake.Key(f).Dir()) == p {
				dying++
			}
		}
		kept := dying == 0 || dying < inside
		if kept && dying > 0 {
			*odd++
		}
		return kept
	})
	if diff := cmp.Diff(a.Dead, dirs, cmpopts.EquateEmpty()); diff != "" {
		return "dead partitions: " + diff
	}
	if !a.Planned || a.Earliest == nil {
		return ""
	}
	earliest := ""
	if p.Earliest != nil {
		earliest = p.Earliest.Time
	}
	if *a.Earliest != earliest {
		return fmt.Sprintf("retains from %q, Hudi: %v", earliest, a.Earliest)
	}
	return ""
}

// besideFailure reports whether a write in flight, from before every completed
// one, left a file in a file's group.
func (m *model) besideFailure(path string) bool {
	return slices.ContainsFunc(m.failed, func(f modelFailure) bool {
		left, ok := datafile.Parse(lake.Key(f.file).Base())
		return ok && f.time < m.writes[0].time && strings.Contains(path, left.FileID) && lake.Key(f.file).Dir() == lake.Key(path).Dir()
	})
}

// inPlan reports whether a file's group is in a pending plan.
func (m *model) inPlan(path string) bool {
	return slices.ContainsFunc(m.groups, func(g *modelGroup) bool {
		return g.busy && strings.Contains(lake.Key(path).Base(), g.id) && string(lake.Key(path).Dir()) == g.partition
	})
}
