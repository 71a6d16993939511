package blobs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/reap"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table/hudi/blobqueue"
)

// place is an allowed root, opened where --map says that it is reached.
type place struct {
	root   lake.Root
	store  store.Store
	status store.Status
	behind time.Duration // its clock, ours
}

// places are the allowed roots of a run.
type places struct {
	stores store.Opener
	list   []place

	allowed func(ctx context.Context, r store.Reader, root lake.Root, dir string) error // asks a claim; nil before claim
	mu      sync.Mutex
	folders map[string]error // those between the roots and blobs that were asked
}

// openPlaces opens the places in which blobs may die.
//
// Errors: Invalid for a root that names no place, or one in the table; Refused
// for a folder that isn't there.
func openPlaces(ctx context.Context, stores store.Opener, names *lake.BlobNames, roots []lake.Root) (*places, error) {
	b := &places{stores: stores}
	for _, r := range roots {
		if err := notLinked(r); err != nil {
			return nil, err
		}
		at, standing := names.Place(lake.BlobID(r.Join("x")))
		if standing != lake.MayDie {
			return nil, invalid(r.String(), "no blob can die below it: "+standing.String(), "Name a folder outside of the table with --blob-root.")
		}
		root, _ := at.Parent()
		s, err := stores.OpenStore(ctx, root)
		if errors.Is(err, fs.ErrNotExist) {
			// A mount that is missing must not pass for blobs that are gone.
			return nil, &lake.Error{Op: "open blob root", Table: root.String(), Kind: lake.Refused, Code: "blob_root_missing", Err: errors.New("there is no such folder"),
				Hint: "Mount or make the folder, correct --blob-root or --map, or clean without --blobs."}
		}
		if err != nil {
			return nil, err
		}
		b.list = append(b.list, place{root: root, store: s})
	}
	return b, nil
}

// notLinked refuses a folder of a local disk that is reached through a symlink:
// records may spell what lies in it in two ways.
func notLinked(r lake.Root) error {
	if r.Class() != "file" {
		return nil
	}
	real, err := filepath.EvalSymlinks(filepath.FromSlash(r.String()))
	if err != nil {
		return nil // what isn't there is told of elsewhere
	}
	at, err := lake.ParsePlace(real)
	if err != nil || at.Same(r) {
		return err
	}
	return invalid(r.String(), "a symlink leads to "+real, fmt.Sprintf("Name the folder itself, and say that its names are one: --blob-root %s --map file://%s=file://%s", at, r, at))
}

// open returns the allowed root that holds a place, and its name there.
//
// Errors: Refused if a table that isn't known has claimed a folder on the way,
// or a symlink leads to one.
func (b *places) open(ctx context.Context, at lake.Root) (reap.Place, string, error) {
	for _, p := range b.list {
		if p.root.Contains(at) && at.Path != p.root.Path {
			name := strings.TrimPrefix(strings.TrimPrefix(at.Path, p.root.Path), "/")
			return p.store, name, b.between(ctx, p, path.Dir(name))
		}
	}
	return nil, "", fmt.Errorf("%s lies below no blob root", at)
}

// between asks the folders from dir up to the root of p for claims, and whether
// they are what they are called.
func (b *places) between(ctx context.Context, p place, dir string) error {
	if b.allowed == nil || dir == "." {
		return nil
	}
	key := p.root.Join(lake.Key(dir))
	b.mu.Lock()
	err, asked := b.folders[key]
	b.mu.Unlock()
	if asked {
		return err
	}
	if err = b.between(ctx, p, path.Dir(dir)); err == nil {
		err = b.allowed(ctx, p.store, p.root, dir)
	}
	if err == nil {
		err = straight(key)
	}
	if err == nil || lake.KindOf(err) == lake.Refused {
		b.mu.Lock()
		b.folders[key] = err
		b.mu.Unlock()
	}
	return err
}

// straight refuses a folder of a local disk that a symlink leads to: what lies
// behind it has another name, by which files may refer to it.
func straight(folder string) error {
	if !strings.HasPrefix(folder, "/") {
		return nil
	}
	info, err := os.Lstat(filepath.FromSlash(folder))
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return &lake.Error{Op: "look at blob", Table: folder, Kind: lake.Refused, Code: "blob_root", Err: errors.New("a symlink leads there"),
			Hint: "Blobs behind it stay queued. Name what it leads to with --blob-root, and say that the two names are one with --map."}
	}
	return nil // what isn't there is told of by who looks at it
}

// above asks the folders above a root for claims, as far as they may be read.
func (b *places) above(ctx context.Context, root lake.Root) error {
	for {
		up, more := root.Parent()
		if !more {
			return nil
		}
		root = up
		r, err := b.stores.OpenReader(ctx, root)
		if err == nil {
			err = b.allowed(ctx, r, root, "")
		}
		if err != nil && !errors.Is(err, fs.ErrPermission) {
			return err
		}
	}
}

// claim makes the roots' other tables known.
//
// Errors: Refused if a table that also doesn't name has claimed one, or a
// folder above.
func (b *places) claim(ctx context.Context, me blobqueue.Claimer, also []lake.Root) error {
	known := func(table string) bool {
		root, err := lake.ParseRoot(table)
		if err != nil {
			return false
		}
		for _, a := range also {
			if a.Same(root) {
				return true
			}
		}
		return false
	}
	b.folders = make(map[string]error)
	b.allowed = func(ctx context.Context, r store.Reader, root lake.Root, dir string) error {
		return blobqueue.Allowed(ctx, r, root, dir, me, known)
	}
	for _, p := range b.list {
		if err := b.above(ctx, p.root); err != nil {
			return err
		}
		if err := blobqueue.Claim(ctx, p.store, p.root, me, known); err != nil {
			return err
		}
	}
	return nil
}

// emptied refuses a root that lost its claim: blobs below it are queued, which
// were only after it was claimed, and no folder from the first one's up says so
// any more. Such as a folder on which nothing is mounted must not pass for blobs
// that are gone.
//
// Errors: Refused; those of the stores.
func (b *places) emptied(ctx context.Context, me blobqueue.Claimer, names *lake.BlobNames, queue *blobqueue.Queue) error {
	for _, p := range b.list {
		claimed, err := blobqueue.Claimed(ctx, p.store, p.root, "", me)
		if err != nil {
			return err
		}
		if claimed {
			continue
		}
		snap, err := queue.Load(ctx)
		if err != nil {
			return err
		}
		for e, err := range snap.Entries(ctx) {
			if err != nil {
				return err
			}
			at, standing := names.Place(lake.BlobID(e.Path))
			if standing != lake.MayDie || !p.root.Contains(at) {
				continue
			}
			if claimed, err = b.claimedAbove(ctx, p, at, me); err != nil {
				return err
			}
			if !claimed {
				return &lake.Error{Op: "open blob root", Table: p.root.String(), Kind: lake.Refused, Code: "blob_root_missing", Err: fmt.Errorf("%s, which was there when %s was queued, is gone", lake.ClaimName, e.Path),
					Hint: "Mount what belongs there. If the folder was emptied on purpose, put a file of that name there which names this table again: {\"schema\":1,\"tables\":[{\"table\":\"" + me.Table + "\"}]}."}
			}
			break
		}
	}
	return nil
}

// claimedAbove reports whether a folder that holds a place of p is claimed by me.
func (b *places) claimedAbove(ctx context.Context, p place, at lake.Root, me blobqueue.Claimer) (bool, error) {
	for dir := path.Dir(strings.TrimPrefix(strings.TrimPrefix(at.Path, p.root.Path), "/")); dir != "."; dir = path.Dir(dir) {
		if claimed, err := blobqueue.Claimed(ctx, p.store, p.root, dir, me); err != nil || claimed {
			return claimed, err
		}
	}
	for root, more := p.root.Parent(); more; root, more = root.Parent() {
		claimed := false
		r, err := b.stores.OpenReader(ctx, root)
		if err == nil {
			claimed, err = blobqueue.Claimed(ctx, r, root, "", me)
		}
		if claimed || err != nil && !errors.Is(err, fs.ErrPermission) {
			return claimed, err
		}
	}
	return false, nil
}

// ask asks the places' stores for their state and clocks.
func (b *places) ask(ctx context.Context, now func() time.Time) error {
	for i := range b.list {
		p := &b.list[i]
		asked := now()
		var err error
		if p.status, err = p.store.Status(ctx); err != nil && !errors.Is(err, store.ErrUnsupported) {
			return err
		}
		if !p.status.Now.IsZero() {
			p.behind = max(asked.Sub(p.status.Now), 0)
		}
	}
	return nil
}

// behind is how far the clock of the store that holds a place lies behind ours.
func (b *places) behind(at lake.Root) time.Duration {
	for _, p := range b.list {
		if p.root.Contains(at) {
			return p.behind
		}
	}
	return 0
}

// earliest is a moment of our clock by that of the store which lies furthest behind.
func (b *places) earliest(now time.Time) time.Time {
	behind := time.Duration(0)
	for _, p := range b.list {
		behind = max(behind, p.behind)
	}
	return now.Add(-behind)
}

// versioned reports whether deletes leave old versions in one of the roots.
func (b *places) versioned() bool {
	return slices.ContainsFunc(b.list, func(p place) bool { return p.status.Versioned })
}
