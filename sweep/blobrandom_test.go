package sweep

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lakesweep/lakesweep/lake"
	. "github.com/lakesweep/lakesweep/table/hudi/blobtest"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// Random histories against an oracle that knows every reference of every file:
// commits, delta commits, replaced groups, writes in flight, shared, moved and
// re-added references, in every spelling. What a file that stays refers to is
// never called unreferenced, and every managed blob whose last reference goes
// is listed (R1, R2, R7).
func TestRandomBlobPlans(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newPlannedWorld(t, rapid.SampledFrom([]string{"COPY_ON_WRITE", "MERGE_ON_READ"}).Draw(rt, "type"))
		refs := map[string][]Ref{} // by file
		inflight := map[string]bool{}
		draw := func() []Ref {
			var list []Ref
			for range rapid.IntRange(0, 3).Draw(rt, "refs") {
				form := rapid.SampledFrom([]string{"s3://media/%d", "s3://media/%d", "s3a://media/%d", "s3://media//%d", "s3://Media/%d"}).Draw(rt, "form")
				list = append(list, Ref{Key: "k", Path: fmt.Sprintf(form, rapid.IntRange(0, 5).Draw(rt, "blob")), Managed: rapid.IntRange(0, 4).Draw(rt, "managed") > 0,
					Column: rapid.SampledFrom([]string{"img", "other", "st.b"}).Draw(rt, "column")})
			}
			return list
		}
		groups := []string{"a"}
		var bases []string // groups with a base file, not replaced
		for range rapid.IntRange(3, 9).Draw(rt, "writes") {
			action := timeline.Commit
			if len(bases) > 0 {
				action = rapid.SampledFrom([]timeline.Action{timeline.Commit, timeline.Commit, timeline.DeltaCommit, timeline.ReplaceCommit}).Draw(rt, "action")
			}
			at := w.Begin(action)
			complete := rapid.IntRange(0, 7).Draw(rt, "complete") > 0
			var replaced map[string][]string
			add := func(key string, list []Ref) { refs[key], inflight[key] = list, !complete }
			switch action {
			case timeline.DeltaCommit:
				g := rapid.SampledFrom(bases).Draw(rt, "group")
				list := draw()
				add(w.Log(at, "p=1", g, list...), list)
			case timeline.ReplaceCommit:
				old := rapid.SampledFrom(bases).Draw(rt, "group")
				groups = append(groups, fmt.Sprint("g", len(groups)))
				g := groups[len(groups)-1]
				list := draw()
				add(w.Base(at, "p=1", g, list...), list)
				if complete {
					replaced = map[string][]string{"p=1": {old}}
					bases = append(slices.DeleteFunc(bases, func(b string) bool { return b == old }), g)
				}
			default:
				if rapid.Bool().Draw(rt, "new group") {
					groups = append(groups, fmt.Sprint("g", len(groups)))
				}
				g := groups[len(groups)-1]
				if len(bases) > 0 && rapid.Bool().Draw(rt, "update") {
					g = rapid.SampledFrom(bases).Draw(rt, "group")
				}
				list := draw()
				add(w.Base(at, "p=1", g, list...), list)
				if complete && !slices.Contains(bases, g) {
					bases = append(bases, g)
				}
			}
			if complete {
				w.Complete(at, action, replaced)
			}
			w.checkPlan(rt, refs, inflight)
		}
	})
}

// checkPlan compares a plan with what the references say.
func (w *plannedWorld) checkPlan(rt *rapid.T, refs map[string][]Ref, inflight map[string]bool) {
	dead := map[string]bool{}
	var listed []string
	policy := rapid.SampledFrom([]string{"latest-commits", "latest-versions"}).Draw(rt, "policy")
	p, err := w.engine().Plan(w.t.Context(), PlanRequest{Table: blobTable, Unsafe: Unsafe{MostlyDead: blobTable}, Hudi: HudiRequest{Policy: policy, RetainCommits: map[string]int{"latest-commits": 1}[policy], RetainVersions: map[string]int{"latest-versions": 1}[policy],
		Blobs: BlobRequest{Mode: "plan", Roots: []lake.Root{{Scheme: "s3", Authority: "media"}}}}}, "")
	if err != nil {
		rt.Fatal(err)
	}
	defer func() {
		if err := p.Close(); err != nil {
			rt.Error(err)
		}
	}()
	for v, err := range p.Rows() {
		if err != nil {
			rt.Fatal(err)
		}
		if v.URI != "" {
			listed = append(listed, v.URI)
		} else {
			dead[string(v.Key)] = true
		}
	}
	object := func(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }
	alive, pending := map[string]bool{}, map[string]bool{}
	for file, list := range refs {
		for _, r := range list {
			switch {
			case dead[file]:
			case inflight[file]:
				pending[object(r.Path)] = true
			default:
				alive[object(r.Path)] = true
			}
		}
	}
	want := map[string]bool{}
	counts := [2]int64{}
	for file, list := range refs {
		for _, r := range list {
			odd := strings.Contains(r.Path, "a//") || strings.HasPrefix(r.Path, "s3://Media") // in doubt, or below no allowed root
			if dead[file] && r.Managed && !odd && !alive[object(r.Path)] && !want[r.Path] {
				want[r.Path] = true
				if pending[object(r.Path)] {
					counts[1]++
				} else {
					counts[0]++
				}
			}
		}
	}
	for _, b := range listed {
		if !want[b] {
			rt.Fatalf("%s is listed, and refers: %v", b, refs)
		}
	}
	if len(listed) != len(want) {
		rt.Fatalf("listed %q, want %v", listed, want)
	}
	if c := p.Head().Totals.Blobs; c == nil && len(want) > 0 || c != nil && (c.Unreferenced != counts[0] || c.Pending != counts[1] || c.Undecided != 0) {
		rt.Fatalf("%+v, want %v", c, counts)
	}
}
