package hudi

import (
	"slices"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/lock"
	"github.com/lakesweep/lakesweep/store/mem"
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
		last, err := openAt(t, s, p.Now).lastClean(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if done := len(gone) == len(p.Deleted)+len(p.OtherRemoved); done {
			if last.meta.Earliest != p.Earliest || last.meta.LastCompleted != p.LastComplete || part == 1 {
				t.Errorf("part %d claims %q, %q", part, last.meta.Earliest, last.meta.LastCompleted)
			}
			break
		}
		if n == 0 || last.meta.Earliest != "" || last.meta.LastCompleted != "" {
			t.Fatalf("part %d: %d files, claims %q, %q", part, n, last.meta.Earliest, last.meta.LastCompleted)
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
