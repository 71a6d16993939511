package blobqueue

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/parquet-go/parquet-go"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
)

// partsKept is how long a part that no snapshot names may be of a run that is
// still writing.
const partsKept = 24 * time.Hour

// Change makes of a snapshot what the next one is to hold: entries in byte
// order of their paths, and the figures of a drain to add, if any.
type Change func(old *Snapshot) (iter.Seq2[Entry, error], Stats, error)

// Update writes the next snapshot. When it returns nil the snapshot is durable.
// change is called again if another run was quicker. Where it can't be told
// whether the snapshot counted, its entries are written again, but not its
// figures: those are forgotten rather than told twice.
//
// Memory: one part.
// Errors: those of change and the store; Transient if others always were quicker.
func (q *Queue) Update(ctx context.Context, now time.Time, change Change) (*Snapshot, error) {
	doubt := false
	for range maxTries {
		old, err := q.Load(ctx)
		if err != nil {
			return nil, err
		}
		entries, stats, err := change(old)
		if err != nil {
			return nil, err
		}
		figures := old.Meta.Figures
		if !doubt {
			figures.Stats = figures.Stats.Add(stats)
		}
		s, err := q.write(ctx, old.Number+1, entries, figures)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		stood, err := q.settled(ctx, s, now)
		if stood || err != nil {
			return s, err
		}
		doubt = true
	}
	return nil, q.raced()
}

// settled reports whether a snapshot that was created counts, and tidies up if
// so. One that took so long that others went several further may have a number
// anew that was removed meanwhile: nobody reads it. It counts if it is the
// newest, or the one before it, which goes with its number, is still there.
func (q *Queue) settled(ctx context.Context, s *Snapshot, now time.Time) (bool, error) {
	names, err := q.list(ctx)
	if err != nil {
		return false, err
	}
	newest, before := int64(0), false
	for _, e := range names {
		if n, ok := snapshotNumber(e.Name); ok {
			newest, before = max(newest, n), before || n == s.Number-1
		}
	}
	if newest > s.Number && !before {
		return false, nil
	}
	return true, q.tidy(ctx, s, names, now)
}

// part is rows on their way to a file.
type part struct {
	buffer bytes.Buffer
	out    *parquet.GenericWriter[entryRow]
	rows   int
	bytes  int
}

func newPart() *part {
	p := &part{}
	p.out = newWriter[entryRow](&p.buffer)
	return p
}

func (p *part) add(e *Entry) error {
	p.rows++
	p.bytes += len(e.Path)
	_, err := p.out.Write([]entryRow{e.row()})
	return err
}

func (q *Queue) write(ctx context.Context, number int64, entries iter.Seq2[Entry, error], figures Figures) (*Snapshot, error) {
	s := &Snapshot{Number: number, q: q, Meta: Meta{Schema: 1, Figures: figures}}
	id, p, last := q.id(), newPart(), ""
	for e, err := range entries {
		if err == nil && (e.Path == "" || s.Meta.Entries > 0 && e.Path <= last) {
			err = &lake.Error{Op: "write blob queue", Kind: lake.Internal, Err: fmt.Errorf("%q after %q", e.Path, last)}
		}
		if err != nil {
			return nil, err
		}
		if p.rows > 0 && (p.rows >= q.t.PartRows || p.bytes+len(e.Path) > q.t.PartBytes) {
			if err := p.out.Close(); err != nil {
				return nil, err
			}
			name := fmt.Sprintf("%s-%05d%s", id, len(s.Meta.Parts)+1, partExt)
			if err := create(ctx, q.r, q.w, queueDir+"/"+name, p.buffer.Bytes()); err != nil {
				return nil, fmt.Errorf("write %s: %w", name, err)
			}
			s.Meta.Parts, p = append(s.Meta.Parts, name), newPart()
		}
		if err := p.add(&e); err != nil {
			return nil, err
		}
		last = e.Path
		s.Meta.Entries++
	}
	return s, q.publish(ctx, s, p)
}

// publish makes a snapshot durable, whose last rows are in p.
func (q *Queue) publish(ctx context.Context, s *Snapshot, p *part) error {
	meta, err := json.Marshal(&s.Meta)
	if err != nil {
		return err
	}
	p.out.SetKeyValueMetadata(metaKey, string(meta))
	if err := p.out.Close(); err != nil {
		return err
	}
	s.last = p.buffer.Bytes()
	return create(ctx, q.r, q.w, s.name(), s.last)
}

// create creates a file. One that is there already counts as ours if it holds
// the same bytes: a request that was repeated may meet its own first try.
func create(ctx context.Context, r store.Reader, w store.Writer, name string, data []byte) error {
	err := w.PutIfAbsent(ctx, name, data)
	if errors.Is(err, fs.ErrExist) {
		if have, rerr := readAll(ctx, r, name); rerr == nil && bytes.Equal(have, data) {
			return nil
		}
	}
	return err
}

func readAll(ctx context.Context, r store.Reader, name string) ([]byte, error) {
	in, err := r.Open(ctx, name, 0, -1)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(in)
	return data, errors.Join(err, in.Close())
}

// tidy removes what no reader can be at any more: snapshots before the last
// two, and old parts that neither of these names. names are the folder's files.
func (q *Queue) tidy(ctx context.Context, s *Snapshot, names []store.Info, now time.Time) error {
	// The oldest goes first: while one is there, no later number is free.
	slices.SortFunc(names, func(a, b store.Info) int { return strings.Compare(a.Name, b.Name) })
	needed := slices.Clone(s.Meta.Parts)
	for _, e := range names {
		if n, ok := snapshotNumber(e.Name); ok && n == s.Number-1 {
			before, err := q.read(ctx, n)
			if err != nil {
				return nil //nolint:nilerr // which parts it needs isn't known: all stay
			}
			needed = append(needed, before.Meta.Parts...)
		}
	}
	for _, e := range names {
		if n, ok := snapshotNumber(e.Name); ok {
			if n >= s.Number-1 {
				continue
			}
		} else {
			base := strings.TrimPrefix(e.Name, queueDir+"/")
			if !strings.HasSuffix(base, partExt) || slices.Contains(needed, base) {
				continue
			}
			young, err := younger(ctx, q.r, e, now.Add(-partsKept))
			if err != nil || young {
				continue
			}
		}
		if err := remove(ctx, q.w, e.Name); err != nil {
			return err
		}
	}
	return nil
}

// younger reports whether a listed file was modified after a moment.
func younger(ctx context.Context, r store.Reader, e store.Info, than time.Time) (bool, error) {
	if e.Modified.IsZero() {
		var err error
		if e, err = r.Stat(ctx, e.Name); err != nil {
			return false, err
		}
	}
	return e.Modified.After(than), nil
}

func remove(ctx context.Context, w store.Writer, name string) error {
	if err := w.Remove(ctx, name, ""); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
