package plan

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
)

// Schema is the schema number of the heads that this package reads and writes.
const Schema = 1

// Plan is a plan whose digest was verified. It never changes. Safe for
// concurrent use.
type Plan struct {
	list  *filelist.Reader
	head  filelist.Head
	close func() error

	oldest, youngest time.Time
}

// Open reads and verifies a plan file.
//
// Errors: as Read; Invalid if the file can't be opened.
func Open(ctx context.Context, path string) (*Plan, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, &lake.Error{Op: "open plan", Kind: lake.Invalid, Err: err, Hint: "Name a file that `lakesweep plan --out` wrote."}
	}
	p, err := read(ctx, f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	p.close = f.Close
	return p, nil
}

func read(ctx context.Context, f *os.File) (*Plan, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, &lake.Error{Op: "open plan", Kind: lake.Internal, Err: err}
	}
	return Read(ctx, f, info.Size())
}

// Read reads a plan of size bytes and verifies it before anything else: the
// digest over head and rows, the order of the rows, and that the totals in the
// head, which the guards judged, are those of the rows.
//
// Errors: Damaged; Unsupported for a newer schema.
func Read(ctx context.Context, r io.ReaderAt, size int64) (*Plan, error) {
	list, err := filelist.Open(r, size)
	if err != nil {
		return nil, err
	}
	h, err := list.Head()
	if err != nil {
		return nil, err
	}
	if h.Schema != Schema {
		return nil, &lake.Error{Op: "read plan", Table: h.Table, Kind: lake.Unsupported, Err: fmt.Errorf("schema %d", h.Schema),
			Hint: "Use the version of lakesweep that wrote the plan, or plan again."}
	}
	var sum sums
	for v, err := range list.Rows() {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = sum.add(&v)
		}
		if err != nil {
			return nil, planError("read plan", &h, err)
		}
	}
	if err := sum.match(&h.Totals); err != nil {
		return nil, planError("read plan", &h, err)
	}
	return &Plan{list: list, head: h, close: func() error { return nil }, oldest: sum.oldest, youngest: sum.youngest}, nil
}

// Times returns when the oldest and the youngest of the dead files were
// modified, zero if no time is known.
func (p *Plan) Times() (oldest, youngest time.Time) { return p.oldest, p.youngest }

// Head returns a copy of the head.
func (p *Plan) Head() filelist.Head {
	h := p.head
	h.Guards = slices.Clone(h.Guards)
	h.State = maps.Clone(h.State)
	h.Totals.ByReason = maps.Clone(h.Totals.ByReason)
	h.Evidence.LiveMissing = slices.Clone(h.Evidence.LiveMissing)
	h.Evidence.LiveUnseen = slices.Clone(h.Evidence.LiveUnseen)
	h.Evidence.Foreign = slices.Clone(h.Evidence.Foreign)
	h.Evidence.Warnings = slices.Clone(h.Evidence.Warnings)
	return h
}

// Rows yields the dead objects in byte order of their paths. It may be called
// again. A file that was changed meanwhile ends in an error, after rows that
// aren't the plan's: so take care that nobody writes to it.
//
// Errors: Damaged, once, as the last element.
func (p *Plan) Rows() iter.Seq2[lake.Verdict, error] { return p.list.Rows() }

// Close closes the file that Open opened.
func (p *Plan) Close() error { return p.close() }

func planError(op string, h *filelist.Head, err error) error {
	if _, ok := errors.AsType[*lake.Error](err); ok {
		return err
	}
	kind := lake.Damaged
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		kind = lake.Interrupted
	}
	return &lake.Error{Op: op, Table: h.Table, Kind: kind, Err: err, Hint: "Make the plan again; nothing was deleted."}
}
