package verify

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/keyset"
	"github.com/lakesweep/lakesweep/listing"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/sweep/internal/place"
	"github.com/lakesweep/lakesweep/table"
	"github.com/lakesweep/lakesweep/table/delta"
	"github.com/lakesweep/lakesweep/table/delta/meta"
)

// Options say how a table is compared.
type Options struct {
	Stores  store.Opener // of files outside the root
	Workers int
	Observe lake.Observer
}

// Delta compares the live files of t, which lies at p, with storage, and emits what doesn't fit,
// one at a time. Where listings give sizes the table is listed once and only
// what doesn't fit is stat'ed; elsewhere each live file is.
func Delta(ctx context.Context, p *place.Place, t *delta.Table, o Options, emit func(table.Finding) error) error {
	v := &verifier{Place: p, o: o, emit: emit, rules: t.Rules()}
	present, err := v.list(ctx)
	if err != nil {
		return err
	}
	group, gctx := errgroup.WithContext(ctx)
	group.SetLimit(max(o.Workers, 32))
	for f, err := range t.LiveFiles(ctx) {
		if err != nil {
			return errors.Join(err, group.Wait())
		}
		if f.Key != "" && !present.Has(sized(f.Key, f.Size)) {
			group.Go(func() error { return v.look(gctx, f.Key, f.Size) })
		}
		if f.DV != "" && !present.Has(f.DV) {
			group.Go(func() error { return v.look(gctx, f.DV, -1) })
		}
		for _, uri := range []string{f.URI, f.DVURI} {
			if uri != "" {
				group.Go(func() error { return v.lookOutside(gctx, uri) })
			}
		}
	}
	return group.Wait()
}

// verifier collects findings.
type verifier struct {
	*place.Place
	o     Options
	rules meta.Rules
	mu    sync.Mutex
	emit  func(table.Finding) error
}

// sized is a key that stands for an object with its size.
func sized(k lake.Key, size int64) lake.Key {
	return k + "\x00" + lake.Key(strconv.FormatInt(size, 10))
}

// list returns what is there: keys, and keys with sizes where listings have
// them. Tables inside the table are reported.
func (v *verifier) list(ctx context.Context) (*keyset.Set, error) {
	present := keyset.New()
	var mu sync.Mutex
	foreign := map[lake.Key]bool{}
	found := func(root lake.Key) error {
		mu.Lock()
		defer mu.Unlock()
		if foreign[root] {
			return nil
		}
		foreign[root] = true
		return v.tell(table.Finding{Type: "foreign_table", Path: string(root), Detail: "another table lies inside this one; its files are never candidates"})
	}
	names := v.Reader.Traits().NamesFirst
	o := listing.Options{Workers: v.o.Workers, Observer: v.o.Observe}
	o.Enter = func(_ context.Context, dir string, entries []store.Info) (listing.Decision, error) {
		for _, entry := range entries {
			if root, ok := meta.ForeignRoot(lake.Listed(entry.Name + "/x")); ok {
				return listing.Decision{Drop: true}, found(root)
			}
		}
		return listing.Decision{Descend: func(dir string) bool { return v.rules.Visible(lake.Listed(dir)) }}, nil
	}
	_, err := listing.Walk(ctx, v.Reader, o, func(batch []store.Info) error {
		for _, info := range batch {
			k := lake.Listed(info.Name)
			if root, ok := meta.ForeignRoot(k); ok {
				if err := found(root); err != nil {
					return err
				}
			}
			if info.Kind != store.File {
				continue
			}
			present.Add(k)
			if !names {
				present.Add(sized(k, info.Size))
			}
		}
		return nil
	})
	return present.Done(), err
}

// look stats one live object. size -1 is any.
func (v *verifier) look(ctx context.Context, k lake.Key, size int64) error {
	info, err := v.Reader.Stat(ctx, string(k))
	return v.judge(string(k), size, info, err)
}

// lookOutside stats a live object outside the table's root, which a shallow
// clone has.
func (v *verifier) lookOutside(ctx context.Context, uri string) error {
	place, err := lake.ParseURI(uri, v.Root)
	if err != nil {
		return v.tell(table.Finding{Type: "unreadable", Path: uri, Detail: err.Error()})
	}
	dir, _ := place.Parent()
	r, err := v.o.Stores.OpenReader(ctx, dir)
	var info store.Info
	if err == nil {
		info, err = r.Stat(ctx, lake.Key(place.Path).Base())
	}
	return v.judge(uri, -1, info, err)
}

func (v *verifier) judge(path string, size int64, info store.Info, err error) error {
	f := table.Finding{Path: path}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.Type, f.Detail = "missing", "the log names it, and storage doesn't have it"
	case errors.Is(err, fs.ErrPermission):
		f.Type, f.Detail = "unreadable", err.Error()
	case err != nil:
		return err
	case info.Kind != store.File:
		f.Type, f.Detail = "unreadable", "no file stands there"
	case size >= 0 && info.Size >= 0 && info.Size != size:
		f.Type, f.Detail = "size_mismatch", fmt.Sprintf("the log says %d bytes, storage has %d", size, info.Size)
		f.Size, f.Actual = &size, &info.Size
	default:
		return nil
	}
	return v.tell(f)
}

func (v *verifier) tell(f table.Finding) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.emit(f)
}
