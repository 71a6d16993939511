package blobqueue

import (
	"cmp"
	"iter"
	"strings"
	"time"
)

// Entry is one queued blob.
type Entry struct {
	Path     string    // as the records spell it
	Enqueued string    // instant, in the table's zone, at which it was queued
	Source   string    // instant of the clean that let its last known reference go
	At       time.Time // the same moment as Enqueued; zero in entries of other writers
	ETag     string    // of the object as it was queued; "" if unknown
	Size     int64     // bytes, -1 if unknown
	Modified time.Time // zero if unknown
}

// entryRow is an Entry in Parquet. The first three columns are those of Hudi's
// own draft, the others are ours.
type entryRow struct {
	Path     string  `parquet:"externalPath"`
	Enqueued string  `parquet:"enqueueInstant,dict"`
	Source   string  `parquet:"sourceCleanInstant,dict"`
	At       *int64  `parquet:"enqueuedAt,optional,timestamp(microsecond)"`
	ETag     *string `parquet:"etag,optional"`
	Size     *int64  `parquet:"size,optional"`
	Modified *int64  `parquet:"modified,optional,timestamp(microsecond)"`
}

func (e *Entry) row() entryRow {
	r := entryRow{Path: e.Path, Enqueued: e.Enqueued, Source: e.Source, At: micros(e.At), Modified: micros(e.Modified)}
	if e.ETag != "" {
		r.ETag = &e.ETag
	}
	if e.Size >= 0 {
		r.Size = &e.Size
	}
	return r
}

func (r *entryRow) entry() Entry {
	e := Entry{Path: strings.Clone(r.Path), Enqueued: strings.Clone(r.Enqueued), Source: strings.Clone(r.Source), At: instant(r.At), Modified: instant(r.Modified), Size: -1}
	if r.ETag != nil {
		e.ETag = strings.Clone(*r.ETag)
	}
	if r.Size != nil && *r.Size >= 0 {
		e.Size = *r.Size
	}
	return e
}

func micros(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	n := t.UnixMicro()
	return &n
}

func instant(n *int64) time.Time {
	if n == nil {
		return time.Time{}
	}
	return time.UnixMicro(*n).UTC()
}

// Merge joins two sequences in the order of their paths. Of two entries of one
// path that of fresh stays: the blob was let go once more.
func Merge(old, fresh iter.Seq2[Entry, error]) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		next, stop := iter.Pull2(fresh)
		defer stop()
		f, err, more := next()
		for o, oerr := range old {
			if oerr != nil {
				yield(o, oerr)
				return
			}
			for more && err == nil && f.Path < o.Path {
				if !yield(f, nil) {
					return
				}
				f, err, more = next()
			}
			if err != nil {
				yield(f, err)
				return
			}
			if more && cmp.Compare(f.Path, o.Path) == 0 {
				continue
			}
			if !yield(o, nil) {
				return
			}
		}
		for more && (yield(f, err) && err == nil) {
			f, err, more = next()
		}
	}
}
