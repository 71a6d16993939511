package sweep

import (
	"strings"
	"testing"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table/hudi/blobtest"
)

// strayed is a world in which X and V are queued and due, and what makes a write
// refer to X in another spelling.
func strayed(t *testing.T) (w *blobWorld, req PlanRequest, stray func(at string)) {
	w = newBlobWorld(t, t)
	w.upload("X", "V", "Y")
	w.pass(48)
	w.commit(map[string][]string{"1a": {"X", "V"}, "2b": {"Y"}})
	w.commit(map[string][]string{"1a": {"Y"}, "2b": {"Y"}})
	w.commit(map[string][]string{"1a": {"Y"}, "2b": {"Y"}})
	req = w.request()
	req.Hudi.Blobs.Spelling = "exact"
	if r, err := w.clean(req); err != nil || w.queued() != "V X" {
		t.Fatalf("%+v, %v, queued %q", r, err, w.queued())
	}
	w.pass(30)
	return w, req, func(at string) {
		f := w.records(at, "2c", blobtest.M("s3a://media/X"))
		w.refs[f] = []string{"X"}
		w.complete(at, []string{f})
	}
}

// One reference that spells a candidate otherwise disproves --blob-spelling
// exact, whenever it is seen: no blob dies from then on, and the run says why.
func TestMisspelledReferencesStopTheDrain(t *testing.T) {
	second := func() func(store.Call) bool { // the timeline is listed again after blobs were looked at
		looked, lists := false, 0
		return func(c store.Call) bool {
			if looked = looked || c.Op == "stat" && c.Name == "V"; looked && c.Op == "list" && c.Name == ".hoodie/" {
				lists++
			}
			return lists == 2
		}
	}
	for name, moment := range map[string]func(store.Call) bool{
		"before the judgement":                     nil,
		"before the look under the lock":           second(),
		"between the intent and the first deletes": ends("create", ".blob_drain.parquet"),
	} {
		t.Run(name, func(t *testing.T) {
			w, req, stray := strayed(t)
			at := w.begin()
			var r Result
			var err error
			if moment == nil {
				stray(at)
				r, err = w.clean(req)
			} else {
				r, err = w.during(req, moment, func() { stray(at) })
			}
			if lake.KindOf(err) != lake.Partial || !strings.Contains(err.Error(), `spells "s3://media/X" otherwise`) || !strings.Contains(lake.HintOf(err), "--blob-spelling any") || w.blobs() != "V X Y" {
				t.Errorf("%+v, %v (%s), left %q", r, err, lake.HintOf(err), w.blobs())
			}
			w.check()
			req.Hudi.Blobs.Spelling = "any"
			if _, err := w.clean(req); err != nil || w.blobs() != "X Y" || w.queued() != "" {
				t.Errorf("with any: %v, left %q, queued %q", err, w.blobs(), w.queued())
			}
			w.check()
		})
	}
}

// The declaration travels with the plan, and without a stray reference the
// drain ends as it does without.
func TestExactSpellingTravelsWithThePlan(t *testing.T) {
	w, req, stray := strayed(t)
	p := w.plan(req)
	if s := p.Head().State["hudi.blobs"]; !strings.Contains(s, `"spelling":"exact"`) {
		t.Errorf("%s", s)
	}
	stray(w.begin())
	if r, err := w.apply(p, ApplyRequest{}); lake.KindOf(err) != lake.Partial || w.blobs() != "V X Y" {
		t.Errorf("%+v, %v", r, err)
	}
	w, req, _ = strayed(t)
	if r, err := w.clean(req); err != nil || r.Deleted != 2 || w.blobs() != "Y" || w.queued() != "" {
		t.Errorf("%+v, %v, left %q", r, err, w.blobs())
	}
}

// A plan tells what disproves the declaration, and lists what is undecided.
func TestPlansTellOfMisspelledReferences(t *testing.T) {
	for name, c := range map[string]struct{ expired, kept []blobtest.Ref }{
		"in a file that stays":      {[]blobtest.Ref{blobtest.M("s3://media/x"), blobtest.M("s3://media/v")}, []blobtest.Ref{blobtest.M("s3a://media/x")}},
		"in a file that goes":       {[]blobtest.Ref{blobtest.M("s3://media/x"), blobtest.M("s3a://media/x"), blobtest.M("s3://media/v")}, nil},
		"where it is no candidate":  {[]blobtest.Ref{blobtest.M("s3://media/x"), blobtest.M("s3://media//x"), blobtest.M("s3://media/v")}, nil},
		"a control: all are proper": {[]blobtest.Ref{blobtest.M("s3://media/x"), blobtest.M("s3://media/v")}, []blobtest.Ref{blobtest.M("s3a://media/z")}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newPlannedWorld(t, "COPY_ON_WRITE")
			w.Commit(g{"p=1/a": c.expired, "p=1/b": c.kept})
			w.Commit(g{"p=1/a": m("y")})
			w.Commit(g{"p=1/a": m("y")})
			_, h := w.plan(func(r *PlanRequest) { r.Hudi.Blobs.Spelling = "exact" })
			b, proper := h.Totals.Blobs, strings.Contains(name, "control")
			if (b.Misspelled == "") != proper || (b.Undecided == 0) != proper || (b.Unreferenced == 0) == proper {
				t.Errorf("%+v", b)
			}
			warned := strings.Contains(strings.Join(h.Evidence.Warnings, "\n"), "--blob-spelling any")
			if warned == proper {
				t.Errorf("%q", h.Evidence.Warnings)
			}
			if _, h := w.plan(); h.Totals.Blobs.Misspelled != "" || h.Totals.Blobs.Undecided > 0 {
				t.Errorf("without the declaration: %+v", h.Totals.Blobs)
			}
		})
	}
}
