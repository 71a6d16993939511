package delta_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table/delta"
	"github.com/lakesweep/lakesweep/table/delta/deltatest"
)

// TestReplayAgreesWithObviousReplay runs random histories (appends, removes,
// re-adds, vector updates, restores, checkpoints of all kinds, cleaned logs)
// through Protect, LiveFiles and Lite.
func TestReplayAgreesWithObviousReplay(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) { historyCase(t, rt) })
}

func historyCase(t *testing.T, rt *rapid.T) {
	f := newFixture(rt)
	f.now = day(60)
	cutoff := day(float64(rapid.IntRange(0, 60).Draw(rt, "cutoff")))
	type entry struct {
		path string
		dv   *deltatest.DV
	}
	files := map[string]string{}                             // descriptor → vector file
	live := map[string]entry{}                               // path → what is live
	var snapshots []map[string]entry                         // after each version
	needed, ever := map[lake.Key]bool{}, map[lake.Key]bool{} // keys
	action := func(e entry, at time.Time, remove bool) deltatest.Action {
		a := deltatest.NewAdd(e.path, 1)
		if remove {
			a = deltatest.NewRemove(e.path, at)
			a.Remove.DeletionTimestamp = rapid.SampledFrom([]*int64{a.Remove.DeletionTimestamp, nil, new(int64)}).Draw(rt, "deletionTimestamp")
		}
		if e.dv != nil {
			a = a.WithDV(*e.dv)
		}
		return a
	}
	names := func(e entry) []lake.Key {
		out := []lake.Key{lake.Key(e.path)}
		if e.dv != nil && e.dv.StorageType == "u" {
			out = append(out, lake.Key(files[e.dv.PathOrInlineDv]))
		}
		return out
	}
	newDV := func() *deltatest.DV {
		n := rapid.IntRange(0, 5).Draw(rt, "vector")
		dv, file := deltatest.UUIDVector([]string{"", "ab"}[n%2], uint64(n), int32(rapid.IntRange(-1, 2).Draw(rt, "offset")))
		files[dv.PathOrInlineDv] = file
		return &dv
	}
	versions := rapid.IntRange(1, 12).Draw(rt, "versions")
	for v := range versions {
		at := day(float64(v) * 5)
		var actions []deltatest.Action
		next := maps.Clone(live)
		remove := func(path string) {
			e := next[path]
			actions = append(actions, action(e, at, true))
			delete(next, path)
			if !at.Before(cutoff) {
				for _, k := range names(e) {
					needed[k] = true
				}
			}
		}
		add := func(e entry) {
			actions = append(actions, action(e, at, false))
			next[e.path] = e
			for _, k := range names(e) {
				ever[k] = true
			}
		}
		restore := v > 0 && rapid.IntRange(0, 5).Draw(rt, "restore") == 0
		touched := map[string]bool{}
		for range rapid.IntRange(0, 4).Draw(rt, "steps") {
			if restore {
				break
			}
			path := fmt.Sprintf("f%d", rapid.IntRange(0, 5).Draw(rt, "file"))
			if touched[path] {
				continue
			}
			touched[path] = true
			e, isLive := next[path]
			switch {
			case !isLive:
				add(entry{path: path})
			case rapid.Bool().Draw(rt, "update vector"):
				dv := newDV()
				if e.dv != nil && *e.dv == *dv || e.dv != nil && e.dv.PathOrInlineDv == dv.PathOrInlineDv {
					continue
				}
				remove(path)
				add(entry{path, dv})
			default:
				remove(path)
			}
		}
		if restore {
			old := snapshots[rapid.IntRange(0, v-1).Draw(rt, "to")]
			for _, path := range slices.Sorted(maps.Keys(live)) {
				if o, ok := old[path]; !ok || o != live[path] {
					remove(path)
				}
			}
			for _, path := range slices.Sorted(maps.Keys(old)) {
				if live[path] != old[path] {
					add(old[path])
				}
			}
		}
		if rapid.Bool().Draw(rt, "order") {
			slices.Reverse(actions)
		}
		f.Commit(at, actions...)
		live = next
		snapshots = append(snapshots, next)
		if rapid.IntRange(0, 3).Draw(rt, "checkpoint") == 0 {
			f.Checkpoint(int64(v), at.Add(time.Minute), deltatest.Checkpoint{
				Kind: deltatest.Kind(rapid.IntRange(0, 3).Draw(rt, "kind")), Keep: at.Add(-7 * 24 * time.Hour)})
		}
	}
	for _, e := range live {
		for _, k := range names(e) {
			needed[k] = true
		}
	}
	tab := f.mustOpen(t)
	req := delta.ProtectRequest{Cutoff: cutoff, Partitions: rapid.Bool().Draw(rt, "partitions")}
	p, err := tab.Protect(t.Context(), req)
	if err != nil {
		rt.Fatal(err)
	}
	if p.HistoryGap != "" {
		rt.Errorf("gap %q in a complete log", p.HistoryGap)
	}
	for k := range ever {
		if got := p.Set.Has(k); got != needed[k] {
			rt.Errorf("%q protected: %v, want %v", k, got, needed[k])
		}
		if _, ok := p.Removed(k); !needed[k] && !ok {
			rt.Errorf("%q is dead and taken for an orphan", k)
		}
	}
	checkLive(t, rt, tab, p, len(live), func(k lake.Key) bool { _, ok := live[string(k)]; return ok })
	var dead []lake.Key
	for v, err := range tab.Lite(t.Context(), delta.LiteRequest{Cutoff: cutoff}, p) {
		if err != nil {
			rt.Fatal(err)
		}
		if dead = append(dead, v.Key); needed[v.Key] {
			rt.Errorf("lite would delete %q", v.Key)
		}
	}
	for k := range ever {
		if !needed[k] && !slices.Contains(dead, k) {
			rt.Errorf("lite misses %q", k)
		}
	}
	keep := int64(rapid.IntRange(0, versions-1).Draw(rt, "keep version"))
	req.KeepVersions = []int64{keep}
	if p, err = tab.Protect(t.Context(), req); err != nil {
		rt.Fatal(err)
	}
	for _, e := range snapshots[keep] {
		for _, k := range names(e) {
			if !p.Set.Has(k) {
				rt.Errorf("version %d needs %q", keep, k)
			}
		}
	}
}

func checkLive(t *testing.T, rt *rapid.T, tab *delta.Table, p *delta.Protection, want int, isLive func(lake.Key) bool) {
	n := 0
	for lf, err := range tab.LiveFiles(t.Context()) {
		if err != nil {
			rt.Fatal(err)
		}
		n++
		if !isLive(lf.Key) {
			rt.Errorf("%q isn't live", lf.Key)
		}
		if lf.DV != "" && !strings.Contains(string(lf.DV), "deletion_vector_") {
			rt.Errorf("vector %q", lf.DV)
		}
	}
	if n != want || p.LiveFiles != int64(want) || p.LiveBytes != int64(want) {
		rt.Errorf("%d live files streamed, %d counted, want %d", n, p.LiveFiles, want)
	}
	if all, _ := p.Set.Expected(); all != int64(want)+p.LiveDVs {
		rt.Errorf("%d expected of %d files and %d vectors", all, want, p.LiveDVs)
	}
}
