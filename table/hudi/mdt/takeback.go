package mdt

import (
	"context"
	"errors"
	"io/fs"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table/hudi/logblock"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// takeBack removes what a crash left of a delta commit at this instant: its
// log files, then its instant.
func (t *Table) takeBack(ctx context.Context, w Writing, i timeline.Instant) error {
	for _, part := range Partitions(t.data.Properties) {
		entries, err := t.entries(ctx, part)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if !e.Log {
				continue
			}
			mine, err := t.writtenAt(ctx, e, i.Time)
			if err != nil {
				return err
			}
			if mine {
				if err := t.remove(ctx, w, e.key); err != nil {
					return err
				}
			}
		}
	}
	for _, s := range []timeline.State{timeline.Inflight, timeline.Requested} {
		if i.Files[s] != "" {
			if err := t.remove(ctx, w, t.Timeline.Dir+"/"+i.Files[s]); err != nil {
				return err
			}
		}
	}
	return nil
}

// remove removes an object, and the checksum that Hadoop keeps beside one on a
// local disk: with it, the object written anew couldn't be read.
func (t *Table) remove(ctx context.Context, w Writing, name string) error {
	if err := w.Verify(ctx); err != nil {
		return err
	}
	key := lake.Key(name)
	for _, n := range []string{name, string(key.Dir()) + "/." + key.Base() + ".crc"} {
		if err := w.Writer.Remove(ctx, n, ""); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// writtenAt reports whether a log file was written by one instant alone.
//
// Errors: Refused if others wrote to it too: it can't be taken back then.
func (t *Table) writtenAt(ctx context.Context, e entry, instant string) (bool, error) {
	if t.Timeline.Layout == timeline.Layout2 {
		return e.Instant == instant, nil
	}
	mine, others := false, false
	for b, err := range logblock.Blocks(store.NewReaderAt(ctx, t.reader, e.key, e.size), e.size) {
		if err != nil {
			return false, err
		}
		if b.Type != logblock.Corrupt {
			mine, others = mine || b.Instant() == instant, others || b.Instant() != instant
		}
	}
	if mine && others {
		return false, unfit("its log %s holds an unfinished commit at %s among others", e.Name, instant)
	}
	return mine, nil
}
