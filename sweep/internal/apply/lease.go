package apply

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lock"
	"github.com/lakesweep/lakesweep/lock/advisory"
	"github.com/lakesweep/lakesweep/reap"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table"
	"github.com/lakesweep/lakesweep/table/delta/meta"
)

// leaseObject lies in the log, so that every run on the table finds it,
// whatever machine it runs on. Readers of Delta ignore names in the log that
// they don't know, and no vacuum takes a name there for data
// (spec/delta-vacuum.md 1.1, 1.10).
const leaseObject = meta.LogDir + "/_lakesweep.lock"

// lease takes the lease of the table at root, which s holds. Where the log may not
// be written, or knows no conditions, the lease lies in the state directory
// and holds for the runs that share it.
//
// Errors: Locked; those of the store.
func (host *Host) lease(ctx context.Context, s store.Store, planID string, root lake.Root) (lock.Lease, error) {
	o := advisory.Options{Object: leaseObject, Holder: host.Tool, PlanID: planID, Process: advisory.Self(), Now: host.Places.Now}
	lease, err := advisory.New(s, store.Confine(s, meta.LogDir), o).Acquire(ctx)
	if !errors.Is(err, fs.ErrPermission) && !errors.Is(err, store.ErrUnsupported) {
		return lease, err
	}
	if err := os.MkdirAll(host.Journals.StateDir, 0o755); err != nil {
		return nil, &lake.Error{Op: "take lock", Table: root.String(), Kind: lake.Locked, Err: err, Hint: "Let the table's log or the state directory be written to."}
	}
	state, err := host.Places.Root(host.Journals.StateDir)
	if err != nil {
		return nil, err
	}
	if s, err = host.Places.Stores.OpenStore(ctx, state); err != nil {
		return nil, err
	}
	name := sha256.Sum256([]byte(root.String()))
	o.Object = "locks/" + hex.EncodeToString(name[:16])
	return advisory.New(s, store.Confine(s, "locks"), o).Acquire(ctx)
}

// guarded is a guardian that asks first whether the table is still ours: reap
// refreshes it before the first delete and again between batches.
type guarded struct {
	table.Guardian
	lease lock.Lease
}

func (g guarded) Refresh(ctx context.Context) error {
	if err := g.lease.Verify(ctx); err != nil {
		return err
	}
	return g.Guardian.Refresh(ctx)
}

// Release gives back what opening a job took.
func Release(ctx context.Context, job reap.Job) error {
	g, ok := job.Guardian.(guarded)
	if !ok {
		return nil
	}
	return g.lease.Release(context.WithoutCancel(ctx))
}
