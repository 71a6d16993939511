package sweep

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
)

func (h *blobHistory) request() PlanRequest {
	req := h.w.request()
	blobs := req.Hudi.Blobs
	req.Hudi = h.policy
	grace := h.grace
	if h.hasty && h.yes() {
		grace = 0
	}
	blobs.Grace, blobs.MinAge, blobs.Wait = &grace, &h.minAge, h.one(8) == 0
	req.Hudi.Blobs, req.Hudi.NoOtherWriters = blobs, true
	req.Inventory.Maps = append(req.Inventory.Maps, Map{From: "s3a://media/", To: req.Inventory.Maps[0].To})
	req.Tuning.Workers = 1
	if h.paced {
		req.Tuning.DeleteRate = 0.1
	}
	return req
}

// clean runs, undisturbed, with a fault, or with steps of the writer within. At
// times the plan is carried out later.
func (h *blobHistory) clean() {
	uploads, adrift := h.anew, h.adrift
	h.anew, h.adrift = nil, nil
	within, fault, later := false, false, h.one(5) == 0
	step := undisturbed
	switch h.one(6) {
	case 0, 1:
		fault = true
		injection := store.Injection{Err: errors.New("fault"), When: store.Moment(h.one(3)), Kill: h.yes()}
		step = store.FailNth(int64(1+h.one(250)), injection)
	case 2, 3:
		within = true
		step = h.within()
	}
	before, r, err := h.carryOut(h.request(), later, step)
	h.begun = nil
	h.t.Logf("  blobs %s, queued %s, let go %v", h.w.blobs(), h.w.queued(), h.letGo)
	h.t.Logf("the clean deleted %d, spared %d, queued %d: %v", r.Deleted, r.Spared, r.Queued, err)
	h.release()
	if err != nil && !fault && lake.KindOf(err) != lake.Stale && !((within || later) && gaveUp(err)) {
		h.t.Fatal(err)
	}
	var ours []string
	for _, f := range h.gone(before) {
		if !h.m.removed[f] {
			ours = append(ours, f)
		}
	}
	h.lost(ours, true)
	for _, b := range h.anew {
		delete(h.letGo, b) // it may have been queued before
	}
	for _, b := range h.adrift {
		delete(h.letGo, b) // when the run planned, what a restore took away since kept it
	}
	h.anew, h.adrift = append(uploads, h.anew...), append(adrift, h.adrift...)
}

func undisturbed(store.Call) store.Injection { return store.Injection{} }

// carryOut plans and applies, or, later, lets the writer come between. step is
// asked about each call to a store. It returns which files stood before.
func (h *blobHistory) carryOut(req PlanRequest, later bool, step func(store.Call) store.Injection) (before map[string]bool, r Result, err error) {
	w, outer := h.w, h.under
	outside := w.faults
	defer func() { w.faults, h.under = outside, outer }()
	faults := store.NewFaults(func(c store.Call) store.Injection {
		if h.under == outer {
			return step(c) // it plans
		}
		if h.under.deletes = h.under.deletes || c.Op == "delete"; h.under.deletes {
			h.deaths()
		}
		i := step(c)
		if life, ok := h.under.lives[c.Name]; ok && c.Op == "stat" {
			life.unseen = false
			h.under.lives[c.Name] = life
		}
		return i
	})
	w.faults = faults
	before = h.standing()
	p, err := w.engine().Plan(context.Background(), req, "")
	if err != nil {
		return before, r, err
	}
	defer p.Close() //nolint:errcheck // a temporary file
	if later {
		w.faults = outside
		for range h.one(4) {
			h.step(false)
			h.m.check()
		}
		h.linger()
		w.faults = faults
	}
	before = h.standing()
	h.under = h.watching(*req.Hudi.Blobs.Grace)
	r, err = w.engine().Apply(context.Background(), p, ApplyRequest{Tuning: req.Tuning}, nil)
	w.date()
	h.deaths()
	return before, r, err
}

// within lets the writer come between two calls of the run to come, a few times.
func (h *blobHistory) within() func(store.Call) store.Injection {
	moments := []func(store.Call) bool{
		ends("create", ".blob_drain.parquet"), ends("create", ".clean.requested"), ends("create", ".parquet"), ends("create", ".blob_drain"),
		func(c store.Call) bool { return c.Op == "delete" }, h.dying, h.dying,
		func(c store.Call) bool { return c.Op == "stat" && slices.Contains(h.names, c.Name) },
	}
	between := false // the judgement and the look under the lock
	match := func() func(store.Call) bool {
		if between = h.one(4) == 0; between {
			looked, lists := false, 0
			return func(c store.Call) bool {
				looked = looked || c.Op == "stat" && slices.Contains(h.names, c.Name)
				if looked && c.Op == "list" && "table/"+c.Name == h.m.dir() {
					lists++
				}
				return lists == 2
			}
		}
		if h.yes() {
			return moments[h.one(len(moments))]
		}
		n := int64(1 + h.one(120))
		return func(c store.Call) bool { return c.N >= n }
	}
	next, left := match(), 2+h.one(2)
	return func(c store.Call) store.Injection {
		if left > 0 && next(c) {
			left--
			h.come(c, between)
			next = match()
		}
		switch {
		case c.Op == "list" && "table/"+c.Name == h.m.dir():
			h.looks++
		case ends("create", ".blob_drain.parquet")(c):
			h.published()
		}
		return store.Injection{}
	}
}

// dying is the delete of a blob.
func (h *blobHistory) dying(c store.Call) bool {
	return c.Op == "delete" && slices.Contains(h.names, c.Name)
}

// come lets the writer come before a call of a run, that may lie between the
// judgement and the look under the lock.
func (h *blobHistory) come(c store.Call, between bool) {
	faults := h.w.faults
	h.w.faults = nil
	defer func() { h.w.faults = faults }()
	h.release()
	h.t.Logf("  before the call %+v:", c)
	switch {
	case between && h.yes():
		w := h.m.begin(h.m.writeAction())
		h.m.write(w, h.m.group("1"), h.waiting())
		h.began(w)
	case h.paced && h.dying(c) && h.one(4) > 0:
		h.cross(c.Name)
	case h.one(8) == 0:
		before, _, err := h.carryOut(h.request(), false, undisturbed)
		if err != nil && !gaveUp(err) {
			h.t.Fatal(err)
		}
		if h.under != nil { // what died in that run is its own
			maps.DeleteFunc(h.under.lives, func(n string, _ blobLife) bool { return !h.w.there(n) })
		} else { // a run that still plans doesn't count what went before
			h.lost(h.gone(before), true)
		}
	default:
		h.step(true)
	}
	h.m.check()
}
