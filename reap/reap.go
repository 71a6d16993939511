package reap

import (
	"context"
	"errors"
	"time"

	"github.com/lakesweep/lakesweep/guard"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table"
)

// Place is a store in which objects may be deleted.
type Place interface {
	store.Reader
	store.Deleter
}

// Job is a plan with all that carrying it out takes.
type Job struct {
	Cleared  guard.Cleared
	Place    Place             // opened at the table's root
	Guardian table.Guardian    // watches the log
	Recorder table.Recorder    // tells the format's own log
	Journal  *filelist.Journal // of this plan; one that holds an earlier run is gone on with
}

// Options of a run; the zero value is valid.
type Options struct {
	Workers   int // batches at a time, 0: 8
	BatchSize int // objects in a batch, 0: the store's, at least 100. A batch is what a signal lets finish
	// DeleteRate is the pace of the store in objects a second, 0: none. Batches are so few and small that those under way end within seconds.
	DeleteRate float64

	MaxDelete   int64         // objects, 0: no limit
	MaxBytes    int64         // of objects whose size is known, 0: no limit
	MaxDuration time.Duration // 0: no limit

	Quarantine *Quarantine // nil: delete
	Checksums  bool        // on a local disk: the ".name.crc" that Hadoop writes beside a file goes with it
	// Reserved reports whether an object may never die by its name, in the format's view. Logs and timelines never do, whatever it says.
	Reserved func(lake.Key) bool
	// Blob opens the place of an absolute URI and gives the name there; nil: a plan with blobs is refused.
	Blob func(ctx context.Context, uri string) (p Place, name string, err error)
	// Only narrows the run to some of the plan's rows, and may fill in what was found out of one since: size, time and ETag. It is asked about each
	// row in order, by one goroutine; a row that it leaves out is no concern of this run. With it the journal's records of blobs count for a run
	// with Blob, those of the table's own objects for one without. nil: all rows.
	Only func(v *lake.Verdict) bool
	// AllVersions deletes every version of the objects in a bucket that keeps versions, for good. The caller made sure that the user means it.
	AllVersions bool

	RefreshEvery time.Duration    // the guardian reads the log at most so often, 0: 2 s
	Now          func() time.Time // nil: time.Now
	Observe      lake.Observer    // stage "delete", "delete_blobs" of a run with Blob
	Outcome      func(Outcome)    // told each row, one at a time; may be nil
}

// Outcome is what became of one row of a plan: one of filelist's outcomes.
type Outcome struct {
	Key       lake.Key
	URI       string // of a blob
	Directory bool
	Size      int64
	Reason    lake.Reason
	Outcome   string
	Err       error // of a failed row
}

// Result is what a run did, with the earlier runs in its journal. Its Deleted
// doesn't hold what went to quarantine; the recorder's does.
type Result struct {
	table.Result
	Quarantined int64
	Moved       int64  // bytes of what went to quarantine
	Resumed     int64  // of all these, what earlier runs did
	Limit       string // the flag whose limit ended the run early; "" if none did
	// Failures are the first hundred failed rows.
	Failures []Outcome
	earlier  counts
}

// counts are what earlier runs can have done.
type counts struct{ deleted, gone, directories, quarantined, bytes, moved int64 }

// Own is what this run did, without the earlier ones; Resumed stays.
func (r Result) Own() Result {
	r.Deleted -= r.earlier.deleted
	r.Gone -= r.earlier.gone
	r.Directories -= r.earlier.directories
	r.Quarantined -= r.earlier.quarantined
	r.Bytes -= r.earlier.bytes
	r.Moved -= r.earlier.moved
	r.earlier = counts{}
	return r
}

// Add adds what another run of the same plan did: its counts of objects and
// bytes, its failures, and its limit unless r ended by one already. Complete
// and what only files of a table have stay r's own.
func (r *Result) Add(o Result) {
	r.Deleted += o.Deleted
	r.Gone += o.Gone
	r.Spared += o.Spared
	r.Failed += o.Failed
	r.Skipped += o.Skipped
	r.Bytes += o.Bytes
	r.Resumed += o.Resumed
	r.earlier.deleted += o.earlier.deleted
	r.earlier.gone += o.earlier.gone
	r.earlier.bytes += o.earlier.bytes
	r.Failures = append(r.Failures, o.Failures...)
	if r.Limit == "" {
		r.Limit = o.Limit
	}
}

const (
	defaultWorkers = 8
	minBatch       = 100
	drainWithin    = 5 * time.Second // of the batches under way, at Options.DeleteRate
	refreshEvery   = 2 * time.Second
	agedAfter      = 10 * time.Minute // a plan older than this stats what it can't delete on condition (law L6)
	keptFailures   = 100
)

// Run carries out a plan. When ctx is cancelled it finishes the running
// batches, journals and returns. The result holds what was done, with an error too.
//
// Errors: Partial if objects couldn't be deleted; Limit if a limit was reached;
// Interrupted; Stale and others of the guardian; Refused for a reserved name in
// the plan; those of the recorder and the journal, which end the run at once.
func Run(ctx context.Context, job Job, o Options) (Result, error) {
	p := job.Cleared.Plan()
	if p == nil || job.Place == nil || job.Guardian == nil || job.Recorder == nil || job.Journal == nil {
		return Result{}, &lake.Error{Op: "apply", Kind: lake.Internal, Err: errors.New("no cleared plan, place, guardian, recorder or journal")}
	}
	r, err := newRun(ctx, job, o)
	if err != nil {
		return Result{}, err
	}
	if err := r.begin(ctx); err != nil {
		return r.result, err
	}
	err = r.rows(ctx)
	if err == nil {
		err = r.directories(ctx)
	}
	return r.finish(ctx, err)
}
