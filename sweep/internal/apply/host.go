package apply

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/reap"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/sweep/internal/journal"
	"github.com/lakesweep/lakesweep/sweep/internal/place"
)

// Host is what the engine lends. Safe for concurrent use.
type Host struct {
	Places   place.Finder
	Journals journal.Keeper // in its state directory lie leases too, where a log can't be written
	Observe  lake.Observer  // may be nil
	Tool     string
}

// Request says how a plan is carried out. Its fields are those of
// sweep.ApplyRequest, which explains them.
type Request struct {
	MaxDelete   int64
	MaxBytes    int64
	MaxDuration time.Duration
	Quarantine  string
	Trash       bool
	Journal     string
	CommitLog   string
	AllVersions string
	BlobsWait   bool
	Workers     int
	DeleteRate  float64 // keys a second
	Memory      int64   // bytes
}

// Options is how the station that deletes is to go about it, as far as no
// format is asked.
func (host *Host) Options(traits store.Traits, req Request) reap.Options {
	return reap.Options{
		Workers: req.Workers, MaxDelete: req.MaxDelete, MaxBytes: req.MaxBytes, MaxDuration: req.MaxDuration,
		Checksums: traits.Name == "local", Now: host.Places.Now, Observe: host.Observe, DeleteRate: req.DeleteRate,
	}
}

// Finish opens last what every run takes: the quarantine, if there is one, and
// the journal. The table lies at root.
//
// Errors: Invalid for places inside a table and a table misnamed by --all-versions; those of the stores and the journal.
func (host *Host) Finish(ctx context.Context, root lake.Root, h *filelist.Head, req Request, job *reap.Job, o *reap.Options) (err error) {
	if o.AllVersions, err = allVersions(req, h); err != nil {
		return err
	}
	quarantine := ""
	if req.Quarantine != "" {
		if o.Quarantine, err = host.quarantine(ctx, req.Quarantine, h.PlanID, root); err != nil {
			return err
		}
		quarantine = o.Quarantine.Root.String()
	}
	job.Journal, err = host.Journals.Open(ctx, req.Journal, h, quarantine)
	return err
}

// Target returns the place that a run deletes from: the store, or with --trash
// the store whose deletes go to its trash.
func Target(all store.Store, h *filelist.Head, req Request) (store.Store, error) {
	if !req.Trash {
		return all, nil
	}
	if req.Quarantine != "" || req.AllVersions != "" {
		return nil, &lake.Error{Op: "apply", Table: h.Table, Kind: lake.Invalid, Err: errors.New("--trash goes with neither --quarantine nor --all-versions"), Hint: "Give one of them."}
	}
	s, err := store.InTrash(all)
	if err != nil {
		return nil, &lake.Error{Op: "apply", Table: h.Table, Kind: lake.Invalid, Err: err, Hint: "--trash is for HDFS; --quarantine moves objects on every store."}
	}
	return s, nil
}

// allVersions reports whether the user wants old versions deleted too, of this
// very table.
func allVersions(req Request, h *filelist.Head) (bool, error) {
	if req.AllVersions != "" && req.AllVersions != h.Given {
		return false, &lake.Error{Op: "apply", Table: h.Table, Kind: lake.Invalid,
			Err:  fmt.Errorf("--all-versions names %q, but the plan's table is %q", req.AllVersions, h.Given),
			Hint: "Name the table exactly as the plan's command line did."}
	}
	return req.AllVersions != "", nil
}

func (host *Host) quarantine(ctx context.Context, prefix, planID string, table lake.Root) (*reap.Quarantine, error) {
	at, err := host.Places.Root(prefix)
	if err != nil {
		return nil, err
	}
	if err := host.Places.Outside(ctx, "--quarantine", prefix+"/x"); err != nil {
		return nil, err
	}
	root, err := reap.QuarantineRoot(at, planID, table)
	if err != nil {
		return nil, err
	}
	if root.Class() == "file" {
		if err := os.MkdirAll(root.String(), 0o755); err != nil {
			return nil, &lake.Error{Op: "make quarantine", Table: root.String(), Kind: lake.Invalid, Err: err, Hint: "Name a folder that can be written to."}
		}
	}
	q := &reap.Quarantine{Root: root}
	q.Store, err = host.Places.Stores.OpenStore(ctx, root)
	return q, err
}
