package blob

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table/hudi/blob/shape"
)

// unreadable reports an error that is about one file: it is gone, torn, or of
// a form that isn't known. Others are about the store or the run.
func unreadable(err error) bool {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, store.ErrTruncated) {
		return true
	}
	k := lake.KindOf(err)
	return k == lake.Damaged || k == lake.Unsupported
}

// References yields what each of files refers to, Options.Workers files at
// once; emit is called by one goroutine at a time, with whether the reference
// stands in a blob column: of columns, or of the file's own schema.
//
// Errors: those of files, of the store and of emit. A file that can't be read
// is told to unread, whose error ends the call.
func References(ctx context.Context, o Options, columns shape.Columns, files iter.Seq2[File, error], emit func(f File, r shape.Reference, blob bool) error, unread func(File, error) error) error {
	o.schemas = new(schemas)
	var mu sync.Mutex
	group, gctx := errgroup.WithContext(ctx)
	group.SetLimit(o.workers())
	for f, err := range files {
		if err != nil || gctx.Err() != nil {
			return errors.Join(err, cmp.Or(group.Wait(), ctx.Err()))
		}
		group.Go(func() error {
			err := o.references(gctx, f, func(r shape.Reference, marked bool) error {
				mu.Lock()
				defer mu.Unlock()
				return emit(f, r, marked || columns.Cover(r.Column))
			})
			if err == nil || !unreadable(err) {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			return unread(f, err)
		})
	}
	return group.Wait()
}

func (o Options) workers() int {
	if o.Workers == 0 {
		return 10
	}
	return o.Workers
}

// references yields all references of one file.
func (o Options) references(ctx context.Context, f File, emit func(shape.Reference, bool) error) (err error) {
	defer func() { err = named(f, err) }()
	if f.Log {
		_, err := o.logBlocks(ctx, f, emit)
		return err
	}
	p, err := o.parquet(ctx, f)
	if err != nil {
		return err
	}
	p.keys = o.Keys
	return p.references(emit)
}

// logBlocks reads a log file.
func (o Options) logBlocks(ctx context.Context, f File, emit func(shape.Reference, bool) error) (res logResult, err error) {
	if f, err = o.sized(ctx, f); err != nil {
		return res, err
	}
	at, done, err := spool(ctx, o.Reader, string(f.Key), f.Size)
	if err != nil {
		return res, err
	}
	defer func() { err = errors.Join(err, done()) }()
	return (&logReader{o.Committed, o.schemas}).read(ctx, at, f.Size, emit)
}

func (o Options) parquet(ctx context.Context, f File) (*parquetFile, error) {
	f, err := o.sized(ctx, f)
	if err != nil {
		return nil, err
	}
	if f.Ext != "parquet" {
		return nil, &lake.Error{Op: "read references", Kind: lake.Unsupported, Err: fmt.Errorf("base files of format %s can't be read", f.Ext)}
	}
	return openParquet(newSource(ctx, o.Reader, string(f.Key), f.Size), o.schemas)
}

// linked tells that a symlink isn't followed.
func linked(f File) error {
	return &lake.Error{Op: "read references", Key: f.Key, Kind: lake.Unsupported, Err: errors.New("a symlink isn't followed, and what lies behind it may be part of the table"),
		Hint: "Move what it points to back into the table's folder, or plan with --blobs off if the blobs are to stay for good."}
}

// sized stats a file whose listing gave no size, and refuses a symlink.
func (o Options) sized(ctx context.Context, f File) (File, error) {
	if f.Link {
		return f, linked(f)
	}
	if f.Size >= 0 {
		return f, nil
	}
	info, err := o.Reader.Stat(ctx, string(f.Key))
	f.Size, f.Modified, f.ETag = info.Size, info.Modified, info.ETag
	return f, err
}

// named puts the file into an error that doesn't name one.
func named(f File, err error) error {
	if e, ok := errors.AsType[*lake.Error](err); ok && e.Key == "" {
		own := *e
		own.Key = f.Key
		return &own
	}
	if err != nil {
		return fmt.Errorf("%s: %w", f.Key, err)
	}
	return nil
}
