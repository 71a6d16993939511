package blobs

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/lake/keyset"
	"github.com/lakesweep/lakesweep/listing"
	"github.com/lakesweep/lakesweep/reap/drain"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table"
	"github.com/lakesweep/lakesweep/table/hudi/blob"
	"github.com/lakesweep/lakesweep/table/hudi/blob/shape"
)

// Verify names references below the allowed roots whose blob is missing,
// and objects there that no file of the table refers to, but for those in the
// folders of tables. What another table refers to counts as unreferenced.
//
// Memory: a fingerprint of each reference; a share of --memory for their paths.
// Errors: those of the stores; Invalid without a root; Refused for one in a
// table, once its missing blobs are told.
func (t *Table) Verify(ctx context.Context, emit func(table.Finding) error) (err error) {
	if len(t.Request.Roots) == 0 {
		return invalid(t.Given, "verify --blobs without --blob-root", "Name the folders that blobs of this table lie in with --blob-root.")
	}
	columns, err := t.Hudi.BlobColumns(ctx, t.Request.Columns)
	if err != nil || len(columns) == 0 {
		return err
	}
	_, others, err := t.others(ctx)
	if err != nil {
		return err
	}
	names, err := t.names(others)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	tell := func(f table.Finding) error {
		mu.Lock()
		defer mu.Unlock()
		return emit(f)
	}
	sorted := filelist.NewSorter("", t.Memory/8)
	defer func() { err = errors.Join(err, sorted.Close()) }()
	referenced := keyset.New()
	keep := func(f blob.File, r shape.Reference, _ bool) error {
		id := lake.BlobID(r.Path)
		for _, form := range names.Forms(id) {
			referenced.Add(lake.Key(form))
		}
		if _, standing := names.Place(id); standing != lake.MayDie || f.Inflight || r.Pending {
			return nil
		}
		return sorted.Add(lake.Verdict{URI: r.Path, Size: -1, Referrer: f.Key})
	}
	whole := true
	unread := func(f blob.File, err error) error {
		whole = false
		return tell(table.Finding{Type: "unreadable", Path: string(f.Key), Detail: "what it refers to isn't known: " + err.Error()})
	}
	if err := blob.References(ctx, t.judgeOptions(names), columns, t.Hudi.DataFiles(ctx), keep, unread); err != nil {
		return err
	}
	places, err := openPlaces(ctx, t.Stores, names, t.Request.Roots)
	if err != nil {
		return err
	}
	if err := missingBlobs(ctx, tell, names, places, sorted); err != nil || !whole {
		return err // with a file unread nothing can be called unreferenced
	}
	set := referenced.Done()
	held, err := heldBy(ctx, t)
	if err != nil {
		return err
	}
	detail := "no file of the table refers to it"
	if held != "" {
		detail += ", but " + held
	}
	places.lookAround(func(context.Context, store.Reader, lake.Root, string) error { return nil })
	for _, p := range places.list {
		if err := places.around(ctx, p); err != nil {
			return err
		}
		if err := t.unreferenced(ctx, tell, names, places, p, set, detail); err != nil {
			return err
		}
	}
	return nil
}

// statsAtOnce is how many referenced blobs are looked at at once.
const statsAtOnce = 32

func missingBlobs(ctx context.Context, tell func(table.Finding) error, names *lake.BlobNames, places *places, sorted *filelist.Sorter) error {
	group, gctx := errgroup.WithContext(ctx)
	group.SetLimit(statsAtOnce)
	for ref, err := range distinct(sorted.Sorted()) {
		if err != nil || gctx.Err() != nil {
			return errors.Join(err, cmp.Or(group.Wait(), ctx.Err()))
		}
		group.Go(func() error {
			at, _ := names.Place(lake.BlobID(ref.URI))
			p, name, err := places.open(gctx, at)
			if err == nil {
				_, err = p.Stat(gctx, name)
			}
			if errors.Is(err, fs.ErrNotExist) {
				return tell(table.Finding{Type: "missing", Path: ref.URI, Detail: string(ref.Referrer) + " refers to it, and storage doesn't have it"})
			}
			return err
		})
	}
	return group.Wait()
}

// unreferenced lists an allowed root.
func (t *Table) unreferenced(ctx context.Context, tell func(table.Finding) error, names *lake.BlobNames, places *places, p place, referenced *keyset.Set, detail string) error {
	_, err := listing.Walk(ctx, store.ReadOnly(p.store), listing.Options{Workers: t.Workers, Observer: t.Observe}, func(batch []store.Info) error {
		for _, info := range batch {
			uri := p.root.Join(lake.Listed(info.Name))
			if info.Kind != store.File || info.Name == lake.ClaimName {
				continue
			}
			if _, standing := names.Place(lake.BlobID(uri)); standing == lake.InsideTable {
				continue
			}
			if slices.ContainsFunc(names.Forms(lake.BlobID(uri)), func(form string) bool { return referenced.Has(lake.Key(form)) }) {
				continue
			}
			if err := places.between(ctx, p, path.Dir(info.Name)); err != nil {
				if errors.Is(err, drain.ErrForeign) {
					continue
				}
				return err
			}
			f := table.Finding{Type: "unreferenced", Path: uri, Detail: detail}
			if info.Size >= 0 {
				f.Actual = &info.Size
			}
			if err := tell(f); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}
