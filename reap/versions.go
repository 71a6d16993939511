package reap

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/store"
)

// purgeVersions deletes every version of the objects that are gone, and the
// delete markers over them. An object of which something remains has failed: a
// later run of the plan takes it up again.
func (r *run) purgeVersions(ctx context.Context, items []item) {
	slots := make(chan struct{}, statsAtOnce)
	var purges sync.WaitGroup
	for i := range items {
		it := &items[i]
		if it.outcome != filelist.Deleted && it.outcome != filelist.Gone || it.v.URI != "" {
			continue
		}
		slots <- struct{}{}
		purges.Go(func() {
			defer func() { <-slots }()
			if err := purge(ctx, it.place, it.target.Name, r.lastVersion(it)); err != nil {
				it.outcome, it.err = filelist.Failed, fmt.Errorf("deleted, but old versions remain: %w", err)
			}
		})
	}
	purges.Wait()
}

// lastVersion is the time of the youngest version that the plan knows: what
// came later is somebody else's, who uses the name again.
func (r *run) lastVersion(it *item) time.Time {
	switch {
	case !it.v.Modified.IsZero():
		return it.v.Modified.Add(time.Second) // listings and plans may differ in precision
	case !r.head.Cutoff.IsZero():
		return r.head.Cutoff
	}
	return r.head.Created
}

// purge deletes the versions of one object that aren't younger than last.
// Delete markers go after them, and only if no version stays, so that nothing
// comes to light that was deleted.
func purge(ctx context.Context, p Place, name string, last time.Time) error {
	younger := false
	var versions, markers []store.Target
	for token := ""; ; {
		page, err := p.List(ctx, store.PageRequest{Prefix: name, Versions: true, Token: token})
		if err != nil {
			return err
		}
		beyond := false
		for _, e := range page.Entries {
			switch {
			case e.Name != name:
				beyond = beyond || e.Name > name
			case e.Version == "":
				return errors.New("the store listed an object without its version")
			case e.ETag == "":
				markers = append(markers, store.Target{Name: name, Version: e.Version})
			case e.Modified.IsZero() || e.Modified.After(last):
				younger = true
			default:
				versions = append(versions, store.Target{Name: name, Version: e.Version})
			}
		}
		if token = page.Next; token == "" || beyond {
			break
		}
	}
	if younger {
		markers = nil
	}
	for _, targets := range [][]store.Target{versions, markers} {
		for len(targets) > 0 {
			n := min(len(targets), p.Traits().DeleteBatch)
			if err := deleteAll(ctx, p, targets[:n]); err != nil {
				return err
			}
			targets = targets[n:]
		}
	}
	return nil
}

// deleteAll deletes versions; those that are gone already are fine.
func deleteAll(ctx context.Context, p Place, targets []store.Target) error {
	outcomes, err := p.Delete(ctx, targets)
	if err == nil && len(outcomes) != len(targets) {
		err = store.ErrTruncated
	}
	if err != nil {
		return err
	}
	for _, o := range outcomes {
		if o.Err != nil && !errors.Is(o.Err, fs.ErrNotExist) {
			return o.Err
		}
	}
	return nil
}
