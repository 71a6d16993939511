package listing

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
)

// Options tune a Walk. The zero value lists everything.
type Options struct {
	// Workers is the number of concurrent requests; 0 adapts to the store:
	// it grows while throughput does and halves when the store throttles.
	Workers int
	// Seeds are names that are likely to exist, in any order: a sample of the
	// log's paths, or partition directories. They only help to cut the key
	// space into equal parts; wrong ones cost a few requests.
	Seeds []string
	// PerSeed is how many names each seed stands for, where all of them exist and
	// they are an even sample; 0 if they stand for themselves alone.
	PerSeed float64
	// Expected is about how many names there will be, 0 if unknown.
	Expected int64
	// Within restricts the walk to these ranges, which must not overlap; nil
	// lists everything.
	Within []Range
	// Enter is asked about each directory that was listed, before anything of
	// it is emitted; nil enters all. It gets every entry of the directory, so
	// that no entries mean an empty directory. It's called by many goroutines,
	// and not at all where the store lists flat (see Fans).
	Enter func(ctx context.Context, dir string, entries []store.Info) (Decision, error)
	// Reach says of a directory, by its name, whether anything below it is
	// wanted; nil wants everything. It prunes, as far as Seeds show that this
	// spares requests: what lies in a directory of reach Nothing is only emitted
	// where jumping over it would cost more, and never what Within leaves out
	// (whole directories, then). It's called by many goroutines.
	Reach func(dir string) Reach
	// Observer hears of the objects listed so far, in the stage "list".
	Observer lake.Observer
}

// Decision says what becomes of a directory that was listed.
type Decision struct {
	// Drop leaves the directory out: nothing of it is emitted or entered.
	Drop bool
	// Descend reports whether a subdirectory, by its full name, is to be listed; nil enters all.
	Descend func(dir string) bool
}

// Stats describes a walk. After an error they cover what was done until then.
type Stats struct {
	Requests    int64 // pages asked for
	Keys        int64 // entries emitted
	Splits      int64 // ranges given away
	Ranges      int64 // ranges at the end
	Wasted      int64 // requests that brought no entry to emit
	Throttled   int64 // requests that the store refused for their rate
	Retried     int64 // requests repeated after another error
	Skeleton    int64 // requests for directories, to find split points or to prune a flat listing
	Directories int64 // directories listed one by one
	Vanished    int64 // directories that were gone before they could be listed
	Workers     int   // the most that ran at one time
	Serial      bool  // the store ignores start keys, so that one request followed the other
}

// Fans reports whether a walk of the store goes directory by directory, with Options.Enter.
func Fans(t store.Traits) bool { return !t.Flat || !t.StartAfter }

// Walk lists what lies below the place that r was opened at. It calls emit
// from many goroutines with the entries of a page or of a directory, in no
// order; every name comes exactly once if it exists throughout the walk.
// A batch belongs to emit's caller again when emit returns, and its names share
// memory with the whole page: clone the few to keep.
// Directories that are listed one by one are emitted as entries too, symlinks
// as what they are; neither hidden names nor symlinks' targets are looked at.
//
// Units: entries as the store gives them; sizes and times may be unknown (Traits.NamesFirst).
// Shape: a stream of up to 1e10 entries; at most a page for each worker and,
// directory by directory, the names of the directories still to be listed are held.
// Errors: the first of a store or of emit, as a *lake.Error that names the
// range or directory. After an error the listing is incomplete.
// Cancelling ctx ends the walk within a page.
// Source: spec/listing-and-libraries.md A3.
func Walk(ctx context.Context, r store.Reader, o Options, emit func([]store.Info) error) (Stats, error) {
	err := checkWithin(o.Within)
	if err != nil {
		return Stats{}, &lake.Error{Op: "list", Kind: lake.Internal, Err: err}
	}
	w := newWalk(r, o, emit)
	if Fans(r.Traits()) {
		err = w.fanOut(ctx)
	} else {
		err = w.bisect(ctx)
	}
	stats := w.stats()
	if err == nil {
		o.Observer.Emit(lake.Event{Stage: "list", Done: stats.Keys, Expected: o.Expected, Finished: true})
	}
	return stats, err
}

// rangeError names the part of the key space that couldn't be listed.
func rangeError(where string, err error) error {
	e := &lake.Error{Op: "list " + where, Kind: lake.Transient, Err: err,
		Hint: "Nothing was planned from the incomplete listing. Run the command again; a lower --list-rate or --workers helps if the store is overloaded."}
	inner, ok := errors.AsType[*lake.Error](err)
	switch {
	case ok:
		e.Kind = inner.Kind
		if inner.Hint != "" {
			e.Hint = ""
		}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		e.Kind, e.Hint = lake.Interrupted, ""
	case errors.Is(err, fs.ErrPermission):
		e.Kind, e.Hint = lake.Denied, "Listing needs the right to list the table's folder, such as s3:ListBucket."
	case errors.Is(err, fs.ErrNotExist):
		e.Kind, e.Hint = lake.NotTable, "Check the name of the place."
	case errors.Is(err, errOrder):
		e.Kind, e.Hint = lake.Unsupported, "This store's listing can't be trusted to be complete; use an inventory instead (--inventory)."
	}
	return e
}

// ended returns why ctx is done: the error of a worker, or the caller's wish.
func ended(ctx context.Context) error {
	cause := context.Cause(ctx)
	if _, ok := errors.AsType[*lake.Error](cause); ok {
		return cause
	}
	return &lake.Error{Op: "list", Kind: lake.Interrupted, Err: cause}
}

func checkWithin(within []Range) error {
	for i, r := range within {
		if r.Before != "" && r.Before <= r.After {
			return fmt.Errorf("range %v is empty", r)
		}
		for _, s := range within[:i] {
			if r.overlaps(s) {
				return fmt.Errorf("ranges %v and %v overlap", s, r)
			}
		}
	}
	return nil
}
