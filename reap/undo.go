package reap

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/lake/keyset"
	"github.com/lakesweep/lakesweep/store"
)

// Undo is what restoring or purging a quarantine takes.
type Undo struct {
	Journal    *filelist.Journal // of the run that moved the objects
	Quarantine store.Store       // opened at the journal head's Quarantine
	Table      store.Store       // opened at the table's root; purge needs none
	Now        func() time.Time  // nil: time.Now
	Begin      func()            // called once, before Restore moves the first object; may be nil
	Outcome    func(Outcome)     // told each object; may be nil
}

// Undone counts what a restore or a purge did.
type Undone struct {
	Restored, Purged, Gone, Spared, Failed int64
	Left                                   int64 // not wanted this time: not named, or too young to purge
	Bytes                                  int64
	Failures                               []Outcome // the first hundred
}

// Restore moves objects back from quarantine, all of them or those named, and
// only where nothing stands: an object that has come to stand there since is
// spared. Named objects that the journal doesn't hold in quarantine are Invalid.
//
// Errors: Partial, Invalid, Interrupted; those of the journal.
func Restore(ctx context.Context, u Undo, paths ...lake.Key) (Undone, error) {
	wanted, missing := make(map[lake.Key]bool, len(paths)), make(map[lake.Key]bool)
	for _, k := range paths {
		wanted[k], missing[k] = true, true
	}
	done, err := u.each(ctx, func(r *filelist.Record) bool {
		return len(paths) == 0 || wanted[r.Key] || r.Checksum && wanted[fileOf(r.Key)]
	}, func(r *filelist.Record) (string, error) {
		delete(missing, r.Key)
		if u.Begin != nil {
			u.Begin()
			u.Begin = nil
		}
		return u.restore(ctx, r)
	})
	if err == nil && len(missing) > 0 {
		first := slices.Sorted(maps.Keys(missing))[0]
		err = u.error(lake.Invalid, fmt.Errorf("%d of the names are not in quarantine by this journal, the first: %s", len(missing), first),
			"Name objects as the journal does, relative to the table's root.")
	}
	return done, err
}

func (u *Undo) restore(ctx context.Context, r *filelist.Record) (string, error) {
	name := string(r.Key)
	err := u.Quarantine.Copy(ctx, name, u.Table, name)
	switch {
	case errors.Is(err, fs.ErrExist):
		return filelist.Spared, nil
	case errors.Is(err, fs.ErrNotExist):
		return filelist.Gone, nil
	case err != nil:
		return filelist.Failed, err
	}
	if err := u.drop(ctx, name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return filelist.Failed, fmt.Errorf("restored, but its copy is still in quarantine: %w", err)
	}
	return filelist.Restored, nil
}

// Purge deletes for good what has been in quarantine since before the instant.
//
// Errors: Partial, Interrupted; those of the journal.
func Purge(ctx context.Context, u Undo, before time.Time) (Undone, error) {
	return u.each(ctx, func(r *filelist.Record) bool { return r.At.Before(before) }, func(r *filelist.Record) (string, error) {
		switch err := u.drop(ctx, string(r.Key)); {
		case errors.Is(err, fs.ErrNotExist):
			return filelist.Gone, nil
		case err != nil:
			return filelist.Failed, err
		}
		return filelist.Purged, nil
	})
}

// drop deletes one object from quarantine.
func (u *Undo) drop(ctx context.Context, name string) error {
	outcomes, err := u.Quarantine.Delete(ctx, []store.Target{{Name: name}})
	if err == nil && len(outcomes) != 1 {
		err = store.ErrTruncated
	}
	if err != nil {
		return err
	}
	return outcomes[0].Err
}

// each does something with each object that is still in quarantine, journals
// what came of it and counts. It finishes the object at hand when ctx is cancelled.
func (u *Undo) each(ctx context.Context, wanted func(*filelist.Record) bool, do func(*filelist.Record) (string, error)) (Undone, error) {
	var sum Undone
	if u.Now == nil {
		u.Now = time.Now
	}
	if u.Journal.Head().Quarantine == "" {
		return sum, u.error(lake.Invalid, errors.New("this journal is of a run that deleted"), "Only what a run with --quarantine moved can be restored or purged.")
	}
	for r, err := range u.held(ctx) {
		if err == nil && ctx.Err() != nil {
			err = u.error(lake.Interrupted, ctx.Err(), "Run the same command again; it goes on with what is left.")
		}
		if err != nil {
			return sum, err
		}
		if !wanted(&r) {
			if !r.Checksum {
				sum.Left++
			}
			continue
		}
		outcome, cause := do(&r)
		r.At, r.Outcome, r.Error = u.Now(), outcome, ""
		if cause != nil {
			r.Error = cause.Error()
		}
		if err := u.Journal.Append(context.WithoutCancel(ctx), r); err != nil {
			return sum, err
		}
		sum.add(&r, cause, u.Outcome)
	}
	if sum.Failed > 0 {
		return sum, u.error(lake.Partial, fmt.Errorf("%d objects failed, the first: %w", sum.Failed, sum.Failures[0].Err), "Run the same command again; it goes on with what is left.")
	}
	return sum, nil
}

// held yields the records of the objects that are still in quarantine, as the
// journal stood at the beginning.
func (u *Undo) held(ctx context.Context) iter.Seq2[filelist.Record, error] {
	return func(yield func(filelist.Record, error) bool) {
		settled, all := keyset.NewExact(), int64(0)
		past, err := u.Journal.Records(ctx)
		if err != nil {
			yield(filelist.Record{}, err)
			return
		}
		for r, err := range past.Records(ctx) {
			if err != nil {
				yield(filelist.Record{}, err)
				return
			}
			all++
			if r.Outcome == filelist.Restored || r.Outcome == filelist.Purged {
				settled.Add(string(r.Key))
			}
		}
		for r, err := range past.Records(ctx) {
			if all--; all < 0 {
				return // what this very run appends
			}
			if err == nil && (r.Outcome != filelist.Quarantined || !settled.Add(string(r.Key))) {
				continue
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

func (s *Undone) add(r *filelist.Record, cause error, tell func(Outcome)) {
	o := Outcome{Key: r.Key, Size: r.Size, Reason: r.Reason, Outcome: r.Outcome, Err: cause}
	if r.Outcome == filelist.Failed && len(s.Failures) < keptFailures {
		s.Failures = append(s.Failures, o)
	}
	if r.Checksum && r.Outcome != filelist.Failed {
		return
	}
	switch r.Outcome {
	case filelist.Restored:
		s.Restored++
		s.Bytes += max(r.Size, 0)
	case filelist.Purged:
		s.Purged++
		s.Bytes += max(r.Size, 0)
	case filelist.Gone:
		s.Gone++
	case filelist.Spared:
		s.Spared++
	case filelist.Failed:
		s.Failed++
	}
	if tell != nil {
		tell(o)
	}
}

// fileOf is the file whose checksums k holds.
func fileOf(k lake.Key) lake.Key {
	name := k.Base()
	if len(name) < len("..crc") {
		return ""
	}
	file := lake.Key(name[1 : len(name)-len(".crc")])
	if dir := k.Dir(); dir != "" {
		return dir + "/" + file
	}
	return file
}

func (u *Undo) error(kind lake.Kind, err error, hint string) error {
	head := u.Journal.Head()
	return &lake.Error{Op: "quarantine " + head.Quarantine, Table: head.Table, Kind: kind, Err: err, Hint: hint}
}
