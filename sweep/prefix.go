package sweep

import (
	"context"
	"errors"
	"io"
	"sync/atomic"

	"github.com/lakesweep/lakesweep/inventory"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/listing"
	"github.com/lakesweep/lakesweep/store"
)

// BenchList lists all of a prefix, keeps nothing, and tells what that took.
//
// Errors: those of the store and of the listing.
func (e *Engine) BenchList(ctx context.Context, req ListRequest) (Listed, error) {
	place, err := e.places().Folder(req.Place)
	if err != nil {
		return Listed{}, err
	}
	r, err := e.Stores.OpenReader(ctx, place)
	if err != nil {
		return Listed{}, err
	}
	began := e.Now()
	var objects, bytes atomic.Int64
	stats, err := listing.Walk(ctx, r, listing.Options{Workers: req.Tuning.Workers, Observer: e.Observe}, func(batch []store.Info) error {
		for i := range batch {
			if batch[i].Kind == store.File {
				objects.Add(1)
				bytes.Add(max(batch[i].Size, 0))
			}
		}
		return nil
	})
	l := Listed{Place: place.String(), Objects: objects.Load(), Bytes: bytes.Load(), Seconds: e.Now().Sub(began).Seconds()}
	l.took(stats, listRate(r, req.Tuning))
	return l, err
}

// MakeInventory lists all files of a prefix into one Parquet list at out, a
// local file, that serves as an inventory of all tables there.
//
// Shape: nothing is held; rows are in no order. On disks each file is stat'ed.
// Errors: those of the store and of the listing; Invalid if out can't be written.
func (e *Engine) MakeInventory(ctx context.Context, req ListRequest, out string) (Listed, error) {
	place, err := e.places().Folder(req.Place)
	if err != nil {
		return Listed{}, err
	}
	r, err := e.Stores.OpenReader(ctx, place)
	if err != nil {
		return Listed{}, err
	}
	if err := e.places().Outside(ctx, "--out", out); err != nil {
		return Listed{}, err
	}
	began := e.Now()
	l := Listed{Place: place.String(), Out: out}
	err = writeFile(out, func(w io.Writer) error {
		made, err := inventory.Make(ctx, r, place, e.Tool, e.Now, listing.Options{Workers: req.Tuning.Workers, Observer: e.Observe}, w)
		l.Objects, l.Bytes = made.Objects, made.Bytes
		l.took(made.Listing, listRate(r, req.Tuning))
		return err
	})
	l.Seconds = e.Now().Sub(began).Seconds()
	return l, err
}

// ConvertInventory reads a list of any kind and writes it as MakeInventory
// does. Names that the list gives with their place become URIs, where the
// request's maps say that they are reached; others stay relative, to whatever
// table they are used for.
//
// Errors: those of package inventory; Invalid if out can't be written.
func (e *Engine) ConvertInventory(ctx context.Context, req InventoryRequest, out string) (Listed, error) {
	if err := e.places().Outside(ctx, "--out", out); err != nil {
		return Listed{}, err
	}
	began := e.Now()
	src, err := inventory.Open(ctx, e.inventory(req))
	if err != nil {
		return Listed{}, err
	}
	l := Listed{Place: req.Name(), Out: out}
	err = writeFile(out, func(w io.Writer) error {
		made, _, err := inventory.Convert(ctx, src, e.Tool, req.maps(), w)
		l.Objects, l.Bytes = made.Objects, made.Bytes
		return err
	})
	l.Seconds = e.Now().Sub(began).Seconds()
	return l, err
}

// listRate is the request limit of a listing: ours, else the service's own.
func listRate(r store.Reader, t Tuning) float64 {
	if t.ListRate > 0 {
		return t.ListRate
	}
	return r.Traits().ListRate
}

// took takes over what a listing took.
func (l *Listed) took(s listing.Stats, rate float64) {
	l.Pages, l.Splits, l.Wasted, l.Throttled = s.Requests, s.Splits, s.Wasted, s.Throttled
	if rate > 0 {
		l.Floor = float64(s.Requests) / rate
	}
}

// writeFile writes a local file, whole or not at all.
func writeFile(out string, fill func(io.Writer) error) error {
	err := filelist.Replace(out, fill)
	if _, ok := errors.AsType[*lake.Error](err); ok || err == nil {
		return err
	}
	return listFileError(out, err)
}

func listFileError(out string, err error) error {
	return &lake.Error{Op: "write inventory", Table: out, Kind: lake.Invalid, Err: err, Hint: "Name a file in a folder that can be written to with --out."}
}
