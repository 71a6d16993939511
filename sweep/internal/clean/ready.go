package clean

import (
	"context"
	"errors"
	"strings"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/sweep/internal/blobs"
	"github.com/lakesweep/lakesweep/sweep/internal/place"
	"github.com/lakesweep/lakesweep/table/hudi"
)

// ready returns what stands in the way of carrying a plan of the table out and
// can be told before anything is planned, nil if nothing does.
func (run *Run) ready(ctx context.Context) []error {
	var blocked []error
	if err := run.table.ZoneKnown(); err != nil {
		blocked = append(blocked, err)
	}
	if err := run.LockKnown(ctx); err != nil {
		blocked = append(blocked, err)
	}
	return blocked
}

// LockKnown reports whether the table's lock can be taken as its other writers
// take it. It takes none.
//
// Errors: those of lock and of the store.
func (run *Run) LockKnown(ctx context.Context) error {
	h := filelist.Head{Table: run.Root.String(), TableID: run.table.ID(), State: map[string]string{}}
	if err := run.remember(h.State); err != nil {
		return err
	}
	all, err := run.host.Places.Stores.OpenStore(ctx, run.Root)
	if err != nil {
		return err
	}
	_, err = run.host.lock(ctx, &h, struct {
		store.Reader
		store.Writer
	}{all, store.Confine(all, hudi.Dir)})
	return err
}

// unready refuses a clean that is to be carried out at once if something
// stands in its way; of a plan alone it returns that as text.
func (run *Run) unready(ctx context.Context) (blocked []string, err error) {
	if run.req.AtOnce && run.req.Blobs.Mode == "plan" {
		return nil, onlyShown(run.Given)
	}
	for _, err := range run.ready(ctx) {
		if run.req.AtOnce {
			return nil, err
		}
		cause, hint := err, lake.HintOf(err)
		if e, ok := errors.AsType[*lake.Error](err); ok {
			cause = e.Err
		}
		blocked = append(blocked, cause.Error()+" ("+strings.TrimSuffix(hint, ".")+")")
	}
	return blocked, nil
}

// carriesBlobs refuses a plan that shows blobs and queues none: with its slices
// the last trace of them would go.
func carriesBlobs(h *filelist.Head) error {
	if Carries(h) {
		return nil
	}
	return onlyShown(h.Given)
}

// Carries reports whether a plan can be carried out as far as its blobs go: one
// that was made to show them can't.
func Carries(h *filelist.Head) bool {
	listed, _, _ := blobs.Listed(h)
	return listed == 0 || h.State[blobs.StateKey] != ""
}

func onlyShown(given string) error {
	return place.Invalid(given, "--blobs plan only shows blobs: carried out, it would delete the slices that refer to them and queue none of them, so that no later run finds them",
		"Plan with --blobs delete, which queues them first, or with --blobs off to leave them where they are for good.")
}

// LockNamed reports whether a lock of the table's other writers is known by name.
func (run *Run) LockNamed() bool { return run.lock[lockPrefix+"provider"] != "" }
