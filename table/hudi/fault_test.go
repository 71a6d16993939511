package hudi

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lock"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/mem"
	"github.com/lakesweep/lakesweep/table/hudi/retain"
)

var errFault = errors.New("fault of the test")

// Plan and clean fail, or are killed, at their n-th store call, for every n,
// before, in the midst of and after its effect. Then the clean runs again
// undisturbed: exactly the right files are gone, the metadata table lists the
// rest, one clean is complete, and a third run has nothing to do.
func TestFaultAtEveryStoreCall(t *testing.T) {
	tables := []string{"cow_v9_nopart_nomdt", "mor_v9_rollback", "mor_v6_102"}
	if testing.Short() {
		tables = tables[:1]
	}
	for _, name := range tables {
		for _, kill := range []bool{false, true} {
			for _, when := range []store.Moment{store.Before, store.Half, store.After} {
				t.Run(fmt.Sprintf("%s kill %v moment %d", name, kill, when), func(t *testing.T) {
					t.Parallel()
					c := load(t, name)
					p := c.Expected.Policies["commits"]
					for n := int64(1); ; n++ {
						s := mem.New(mem.Options{})
						clone(t, s, c.Table)
						before := slices.DeleteFunc(s.Names(), func(f string) bool { return strings.HasPrefix(f, ".hoodie/") })
						faults := store.NewFaults(store.FailNth(n, store.Injection{Err: errFault, Kill: kill, When: when}))
						faulty := faults.Wrap(s)
						first := clean(t, faulty, configOf(t, p), p.Now)
						if faults.Calls() < n {
							if first != nil {
								t.Fatalf("without a fault: %v", first)
							}
							break
						}
						if err := clean(t, s, configOf(t, p), p.Now.Add(time.Minute)); err != nil {
							t.Fatalf("after a fault at call %d (%v): %v", n, first, err)
						}
						checkCleaned(t, s, p, before)
						names := s.Names()
						if err := clean(t, s, configOf(t, p), p.Now.Add(time.Hour)); err != nil || !slices.Equal(names, s.Names()) {
							t.Fatalf("after a fault at call %d, a third run: %v", n, err)
						}
					}
				})
			}
		}
	}
}

func clean(t *testing.T, s store.Store, c retain.Config, now time.Time) error {
	t.Helper()
	e, err := prepareAt(t, s, lake.Root{Scheme: "mem", Authority: "x", Path: "t"}, s, c, now, lock.None{})
	if err != nil {
		return err
	}
	return e.carryOut(t.Context(), s)
}
