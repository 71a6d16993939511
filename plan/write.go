package plan

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
)

// NewID returns the id of a plan made at an instant: sortable by time, unique,
// and fit for a file name on every system.
func NewID(now time.Time) string {
	return now.UTC().Format("20060102T150405Z") + "-" + strings.ToLower(rand.Text()[:10])
}

// Write writes a plan: h with the rows, which come in byte order of their
// paths. h.Totals must be those of the rows; h.Digest is ignored.
//
// Errors: those of rows and w; Internal if the totals aren't those of the rows.
func Write(ctx context.Context, w io.Writer, h filelist.Head, rows iter.Seq2[lake.Verdict, error]) error {
	internal := func(err error) error {
		if _, ok := errors.AsType[*lake.Error](err); ok {
			return err
		}
		return &lake.Error{Op: "write plan", Table: h.Table, Kind: lake.Internal, Err: err}
	}
	list := filelist.NewWriter(w, filelist.Options{})
	var sum sums
	for v, err := range rows {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = sum.add(&v)
		}
		if err == nil {
			err = list.Append(v)
		}
		if err != nil {
			return internal(err)
		}
	}
	if err := sum.match(&h.Totals); err != nil {
		return internal(err)
	}
	h.Schema, h.Digest = Schema, ""
	text, err := json.Marshal(h)
	if err == nil {
		_, err = list.Close(map[string]string{filelist.HeadKey: string(text)})
	}
	if err != nil {
		return internal(err)
	}
	return nil
}

// Create writes a plan to a file, whole or not at all, and opens it. A file
// that is there already is replaced.
func Create(ctx context.Context, path string, h filelist.Head, rows iter.Seq2[lake.Verdict, error]) (*Plan, error) {
	if err := filelist.Replace(path, func(w io.Writer) error { return Write(ctx, w, h, rows) }); err != nil {
		return nil, fileError(path, err)
	}
	return Open(ctx, path)
}

func fileError(path string, err error) error {
	if _, ok := errors.AsType[*lake.Error](err); ok {
		return err
	}
	return &lake.Error{Op: "write plan " + path, Kind: lake.Invalid, Err: err, Hint: "Name a place that can be written to with --out."}
}
