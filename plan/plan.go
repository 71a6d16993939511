package plan

import (
	"context"
	"encoding/json"
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

// Plan is a plan that was verified. It never changes. Safe for concurrent use.
type Plan struct {
	rows  iter.Seq2[lake.Verdict, error]
	head  filelist.Head
	close func() error

	oldest, youngest time.Time
}

// Open reads and verifies a plan file.
//
// Errors: as Read; Invalid if the file can't be opened.
func Open(ctx context.Context, path string) (*Plan, error) {
	info, err := os.Stat(path) // before it is opened: a pipe would wait for its writer
	switch {
	case err != nil:
	case info.IsDir():
		err = fmt.Errorf("%s is a folder", path)
	case !info.Mode().IsRegular():
		err = fmt.Errorf("%s is no file", path)
	}
	var f *os.File
	if err == nil {
		f, err = os.Open(path)
	}
	if err != nil {
		return nil, &lake.Error{Op: "open plan", Kind: lake.Invalid, Err: err, Hint: "Name one file that `lakesweep plan --out` wrote."}
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
	return verified(ctx, "read plan", h, list.Rows(), func() error { return nil })
}

// Hold makes a plan that lies in no file, for what carries it out at once: its
// rows are those of rows, in byte order of their paths, which gives the same
// ones whenever it is ranged over, by several at once too, until release. Close
// calls release; after an error of Hold the caller does.
//
// Errors: those of rows; Internal if the totals in h aren't those of the rows.
func Hold(ctx context.Context, h filelist.Head, rows iter.Seq2[lake.Verdict, error], release func() error) (*Plan, error) {
	h.Schema, h.Digest = Schema, ""
	text, err := json.Marshal(h)
	if err != nil {
		return nil, &lake.Error{Op: "hold plan", Table: h.Table, Kind: lake.Internal, Err: err}
	}
	var own filelist.Head // what the caller does with h afterwards is nothing to the plan
	if err := json.Unmarshal(text, &own); err != nil {
		return nil, &lake.Error{Op: "hold plan", Table: h.Table, Kind: lake.Internal, Err: err}
	}
	return verified(ctx, "hold plan", own, rows, release)
}

// verified looks at each row once: their order, and that the totals in the
// head, which the guards judged, are theirs.
func verified(ctx context.Context, op string, h filelist.Head, rows iter.Seq2[lake.Verdict, error], release func() error) (*Plan, error) {
	var sum sums
	for v, err := range rows {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = sum.add(&v)
		}
		if err != nil {
			return nil, planError(op, &h, err)
		}
	}
	if err := sum.match(&h.Totals); err != nil {
		return nil, planError(op, &h, err)
	}
	return &Plan{rows: rows, head: h, close: release, oldest: sum.oldest, youngest: sum.youngest}, nil
}

// Times returns when the oldest and the youngest of the dead files were
// modified, zero if no time is known.
func (p *Plan) Times() (oldest, youngest time.Time) { return p.oldest, p.youngest }

// Head returns a copy of the head.
func (p *Plan) Head() filelist.Head {
	h := p.head
	h.Guards = slices.Clone(h.Guards)
	h.State = maps.Clone(h.State)
	h.Version, h.Watermark = clone(h.Version), clone(h.Watermark)
	h.Totals.ByReason = maps.Clone(h.Totals.ByReason)
	h.Totals.ProtectedLive = clone(h.Totals.ProtectedLive)
	h.Totals.EstimatedCost, h.Totals.MonthlySaving = clone(h.Totals.EstimatedCost), clone(h.Totals.MonthlySaving)
	if h.Totals.Blobs = clone(h.Totals.Blobs); h.Totals.Blobs != nil {
		h.Totals.Blobs.Columns, h.Totals.Blobs.Kept = slices.Clone(h.Totals.Blobs.Columns), slices.Clone(h.Totals.Blobs.Kept)
	}
	h.Evidence.LiveMissing = slices.Clone(h.Evidence.LiveMissing)
	h.Evidence.LiveUnseen = slices.Clone(h.Evidence.LiveUnseen)
	h.Evidence.Foreign = slices.Clone(h.Evidence.Foreign)
	h.Evidence.Warnings = slices.Clone(h.Evidence.Warnings)
	h.Evidence.Blocked = slices.Clone(h.Evidence.Blocked)
	h.Evidence.Unqueued = slices.Clone(h.Evidence.Unqueued)
	return h
}

// clone returns a copy of what p points at, nil for nil.
func clone[T any](p *T) *T {
	if p == nil {
		return nil
	}
	return new(*p)
}

// Rows yields the dead objects in byte order of their paths. It may be called
// again. A file that was changed meanwhile ends in an error, after rows that
// aren't the plan's: so take care that nobody writes to it.
//
// Errors: Damaged, or those of what Hold holds, once, as the last element.
func (p *Plan) Rows() iter.Seq2[lake.Verdict, error] { return p.rows }

// Close closes the file that Open opened, or gives up what Hold holds.
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
