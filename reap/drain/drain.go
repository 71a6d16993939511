package drain

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/lakesweep/lakesweep/guard"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/lake/keyset"
	"github.com/lakesweep/lakesweep/lock"
	"github.com/lakesweep/lakesweep/reap"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table/hudi/blob"
	"github.com/lakesweep/lakesweep/table/hudi/blobqueue"
)

// Candidates yields blobs in byte order of their spelling; it may be ranged over again.
type Candidates = iter.Seq2[lake.BlobID, error]

// Round is what a judgement found out about its candidates.
type Round interface {
	Of(lake.BlobID) blob.Finding
	// Unread is an error that names a file which couldn't be read, or disproves what the user vouched for, and says what to do;
	// nil if there is none. With one nothing is Unreferenced.
	Unread() error
}

// Judge judges candidates against a table's files.
type Judge interface {
	// All judges against every file of the table, and of those that share its blobs, as it is now.
	All(ctx context.Context, candidates Candidates) (Round, error)
	// Since judges against the files of writes that were completed since the last call of All or Since. began reports that a write began since
	// the last call of All and isn't complete: its files aren't known. round is nil if there was no new write.
	Since(ctx context.Context, candidates Candidates) (round Round, began bool, err error)
	// InFlight judges against the files that the writes which aren't complete have written so far. round is nil if there are none.
	InFlight(ctx context.Context, candidates Candidates) (round Round, err error)
}

// Job is a queue with all that draining it takes.
type Job struct {
	Cleared guard.Cleared
	Table   reap.Place // opened at the table's root
	Writer  store.Writer
	Queue   *blobqueue.Queue
	Judge   Judge
	Names   *lake.BlobNames
	// Open opens the allowed root that holds a place and gives the name there; ErrForeign where no blob may die.
	Open    func(ctx context.Context, place lake.Root) (p reap.Place, name string, err error)
	Lock    lock.Provider
	Journal *filelist.Journal
	// Fence is the instant of the oldest write that may still bring references and isn't complete, "" if there is none: what was queued later waits.
	Fence func(ctx context.Context) (string, error)
	// Hold says why everything waits, "" if nothing has to; nil: nothing has to. What is asked after it, Judge.Since has to find out.
	Hold func(ctx context.Context) (string, error)
	// Behind is how far the clock of the store that holds a place lies behind ours; nil: not at all.
	Behind func(place lake.Root) time.Duration
	// Instant is a time later than all on the timeline as it is now.
	Instant func(ctx context.Context) (string, error)
}

// ErrForeign says that a blob lies in the folder of a table: it stays, for good.
var ErrForeign = errors.New("it lies in the folder of another table")

// Options of a drain. Reap and Now are required.
type Options struct {
	Grace, MinAge time.Duration
	// MaxCandidates bounds the entries that one drain takes, the oldest first; 0: no limit.
	MaxCandidates int
	// DryRun judges and deletes nothing.
	DryRun bool
	// Take says which of the plan's rows this drain is for; nil: all.
	Take    func(v *lake.Verdict) bool
	Tries   int           // judgements when writes keep beginning, 0: 5
	LockFor time.Duration // under the lock at most, 0: 15 s
	Memory  int64         // bytes for lists of blobs; more goes to temporary files. 0: 16 MiB
	Now     func() time.Time
	Reap    reap.Options // limits, which count from the drain's start, workers and who is told
}

// Result is what a drain did.
type Result struct {
	reap.Result
	Queued   int64 // stay in the queue
	Judged   int64 // were compared with the table's files
	Stats    blobqueue.Stats
	LockHeld time.Duration
	Warnings []string
}

const (
	defaultTries   = 5
	defaultLockFor = 15 * time.Second
	defaultMemory  = 16 << 20
	looksAtOnce    = 16
)

// drain is the state of one Run.
type drain struct {
	Job
	o      Options
	began  time.Time
	snap   *blobqueue.Snapshot
	taken  *keyset.Builder  // the entries that this drain is about, as they are in snap
	rows   *filelist.Sorter // what is judged: with size, time and ETag as they are now, due by its entry in snap
	off    *keyset.Builder  // leave the queue without a delete
	kept   *keyset.Builder  // stay, whatever else is found
	left   *keyset.Builder  // the store confirmed that they are gone
	result Result

	foreign      int // blobs in the folders of tables
	firstForeign error
}

// Run drains a queue.
//
// When ctx is cancelled the running batches are finished and the queue is
// brought up to date. The Result holds what was done, with an error too.
//
// Memory: Options.Memory, some 40 bytes a due entry, and the judge's.
// Errors: Partial if blobs couldn't be deleted or a file couldn't be read, or disproves what
// the user vouched for;
// Limit, Interrupted; Locked; those of the judge, the stores and the journal.
func Run(ctx context.Context, job Job, o Options) (Result, error) {
	if o.Tries <= 0 {
		o.Tries = defaultTries
	}
	if o.LockFor <= 0 {
		o.LockFor = defaultLockFor
	}
	if o.Memory <= 0 {
		o.Memory = defaultMemory
	}
	d := &drain{Job: job, o: o, began: o.Now(), taken: keyset.New(), off: keyset.New(), kept: keyset.New(), left: keyset.New(), rows: filelist.NewSorter("", o.Memory)}
	err := d.run(ctx)
	return d.result, errors.Join(err, d.rows.Close())
}

func (d *drain) run(ctx context.Context) (err error) {
	if d.snap, err = d.Queue.Load(ctx); err != nil || d.snap.Meta.Entries == 0 {
		return err
	}
	if err := d.gather(ctx); err != nil {
		return err
	}
	err = d.delete(ctx)
	// What was found out is recorded, whatever ended the run.
	return errors.Join(err, d.settle(context.WithoutCancel(ctx)))
}

// outcome tells of a blob that reap had nothing to do with.
func (d *drain) outcome(v *lake.Verdict, outcome string, err error) {
	switch outcome {
	case filelist.Queued:
		d.result.Queued++
	case filelist.Spared:
		d.result.Spared++
		d.result.Stats.Retained++
	case filelist.Gone:
		d.result.Gone++
		d.result.Stats.Deleted++
	case filelist.Failed:
		d.result.Failed++
		d.fail(v.URI)
	}
	if d.o.Reap.Outcome != nil {
		d.o.Reap.Outcome(reap.Outcome{URI: v.URI, Size: v.Size, Reason: v.Reason, Outcome: outcome, Err: err})
	}
}

func (d *drain) fail(uri string) {
	d.result.Stats = d.result.Stats.Add(blobqueue.Stats{Failed: []string{uri}})
}

func (d *drain) warn(text string) { d.result.Warnings = append(d.result.Warnings, text) }
