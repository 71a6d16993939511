package output

import (
	"context"
	"encoding/json"
	"io"
	"sync"
	"time"

	"github.com/lakesweep/lakesweep/inventory/internal/part"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/listing"
	"github.com/lakesweep/lakesweep/store"
)

// Made says what a list that was written holds.
type Made struct {
	Objects int64
	Bytes   int64         // of those whose size is known
	Taken   time.Time     // when the scan began
	Listing listing.Stats // zero for a converted list
}

// Make lists a place and writes its files to out, in the Parquet form that
// plans have, with the start of the listing in the footer. Hidden names and
// logs are files like any other.
//
// Errors: those of the store and of out. After an error out holds no list.
func Make(ctx context.Context, r store.Reader, at lake.Root, tool string, now func() time.Time, walk listing.Options, out io.Writer) (Made, error) {
	taken := now().UTC()
	status, err := r.Status(ctx)
	if err != nil {
		return Made{}, err
	}
	if !status.Now.IsZero() && status.Now.Before(taken) {
		taken = status.Now.UTC()
	}
	w := NewWriter(out)
	stats, err := listing.Walk(ctx, r, walk, func(entries []store.Info) error {
		batch := make([]lake.Verdict, 0, len(entries))
		for _, e := range entries {
			v, ok, err := listed(ctx, r, e)
			if err != nil {
				return err
			}
			if ok {
				batch = append(batch, v)
			}
		}
		return w.Add(batch)
	})
	if err != nil {
		return Made{}, err
	}
	made, err := w.Finish(filelist.ListHead{Schema: 1, Tool: tool, Root: at.String(), Source: at.String(), Taken: taken, Created: now().UTC()})
	made.Listing = stats
	return made, err
}

// listed makes a row of a listed entry; false for what is gone or no file.
func listed(ctx context.Context, r store.Reader, e store.Info) (lake.Verdict, bool, error) {
	if e.Kind != store.File || e.Name == "" {
		return lake.Verdict{}, false, nil
	}
	if e.Modified.IsZero() || e.Size < 0 {
		now, err := r.Stat(ctx, e.Name)
		if part.Missing(err) {
			return lake.Verdict{}, false, nil
		}
		if err != nil {
			return lake.Verdict{}, false, err
		}
		e.Size, e.Modified, e.ETag = now.Size, now.Modified, now.ETag
	}
	return lake.Verdict{Key: lake.Listed(e.Name), Size: e.Size, Modified: e.Modified, ETag: e.ETag}, true, nil
}

// Writer writes rows that come from many goroutines.
type Writer struct {
	mu   sync.Mutex
	out  *filelist.Writer
	made Made
}

// NewWriter returns a Writer to out.
func NewWriter(out io.Writer) *Writer {
	return &Writer{out: filelist.NewWriter(out, filelist.Options{})}
}

// Add writes rows.
func (w *Writer) Add(rows []lake.Verdict) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, v := range rows {
		if err := w.out.Append(v); err != nil {
			return err
		}
		w.made.Bytes += max(v.Size, 0)
	}
	return nil
}

// Finish ends the list with its head.
func (w *Writer) Finish(h filelist.ListHead) (Made, error) {
	head, err := json.Marshal(h)
	if err != nil {
		return Made{}, &lake.Error{Op: "write list", Kind: lake.Internal, Err: err}
	}
	if _, err := w.out.Close(map[string]string{filelist.ListKey: string(head)}); err != nil {
		return Made{}, err
	}
	w.made.Objects, w.made.Taken = w.out.Rows(), h.Taken
	return w.made, nil
}
