package hudi

import (
	"io"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/mem"
	"github.com/lakesweep/lakesweep/table/hudi/cleanplan"
	"github.com/lakesweep/lakesweep/table/hudi/internal/fixture"
	"github.com/lakesweep/lakesweep/table/hudi/retain"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

func configOf(t *testing.T, p fixture.Policy) retain.Config {
	t.Helper()
	c := retain.NewConfig()
	c.Policy = retain.Policy(p.Policy)
	for key, n := range p.Options {
		switch key {
		case "retain_commits":
			c.Commits = n
		case "file_versions_retained":
			c.Versions = n
		case "hours_retained":
			c.Hours = n
		default:
			t.Fatalf("unknown option %s", key)
		}
	}
	return c
}

func openAt(t *testing.T, r store.Reader, now time.Time) *Table {
	t.Helper()
	tab, err := Open(t.Context(), r, lake.Root{Scheme: "mem", Path: "t"}, Options{Zone: time.UTC, Now: func() time.Time { return now }, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// dead returns the dead files and directories of a plan, in order.
func dead(t *testing.T, p *cleanplan.Plan) (files, dirs []string) {
	t.Helper()
	for v, err := range p.Verdicts(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if v.Directory {
			dirs = append(dirs, string(v.Key))
		} else {
			files = append(files, string(v.Key))
		}
	}
	slices.Sort(files)
	slices.Sort(dirs)
	return files, dirs
}

// Every policy's plan is the real cleaner's, file by file, whether the
// metadata table or the folders are listed, and whatever the store can do.
func TestPlansAreHudis(t *testing.T) {
	noFlat := mem.Default()
	noFlat.Flat, noFlat.StartAfter, noFlat.NamesFirst = false, false, true
	fixture.Each(t, func(t *testing.T, c *fixture.Case) {
		poorer := mem.New(mem.Options{Traits: noFlat})
		clone(t, poorer, c.Table)
		for name, policy := range c.Expected.Policies {
			if policy.Error != nil {
				continue
			}
			for _, source := range []string{"metadata", "folders", "names first"} {
				tab := openAt(t, c.Table, policy.Now)
				switch source {
				case "folders":
					tab.snap.Folders.Files = nil
				case "names first":
					tab = openAt(t, poorer, policy.Now)
				}
				p, err := tab.Plan(t.Context(), configOf(t, policy))
				if err != nil {
					t.Fatal(name, err)
				}
				files, dirs := dead(t, p)
				want := slices.Concat(policy.Deleted, policy.OtherRemoved)
				slices.Sort(want)
				if diff := cmp.Diff(want, files, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("%s, %s: %s", name, source, diff)
				}
				if diff := cmp.Diff(policy.Plan.DeadPartitions, dirs, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("%s, %s: dead partitions: %s", name, source, diff)
				}
				if policy.Clean == nil {
					continue
				}
				earliest := ""
				if claim, err := p.Claim(); err != nil {
					t.Error(err)
				} else if claim != nil {
					earliest = claim.Time
				}
				pending := slices.ContainsFunc(tab.Timeline().Instants, func(i timeline.Instant) bool {
					return timeline.IsWrite(i.Action) && i.Action != timeline.LogCompaction && i.State != timeline.Completed
				})
				if pending && p.Config.Policy == retain.LatestHours && earliest < policy.Earliest {
					earliest = policy.Earliest // expiry counts by completion
				}
				if earliest != policy.Earliest || p.Last != policy.LastComplete {
					t.Errorf("%s, %s: retains from %q, last commit %q; Hudi: %q, %q", name, source, earliest, p.Last, policy.Earliest, policy.LastComplete)
				}
				if diff := cmp.Diff(policy.Plan.Extra, p.Extra, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("%s, %s: extra metadata: %s", name, source, diff)
				}
				if int(p.Summary.Dead) != len(files) || len(p.Summary.Warnings) > 0 || p.Summary.Candidates != p.Summary.Dead+p.Summary.Protected {
					t.Errorf("%s, %s: %+v", name, source, p.Summary)
				}
			}
		}
	})
}

// clone copies all objects with their times.
func clone(t *testing.T, to, from *mem.Store) {
	t.Helper()
	for _, name := range from.Names() {
		i, err := from.Stat(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		to.Put(name, contents(t, from, name), i.Modified)
	}
}

func contents(t *testing.T, s *mem.Store, name string) []byte {
	t.Helper()
	r, err := s.Open(t.Context(), name, 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
