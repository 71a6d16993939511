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
	"github.com/lakesweep/lakesweep/reap/drain"
	"github.com/lakesweep/lakesweep/store"
	tables "github.com/lakesweep/lakesweep/sweep/internal/place"
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

	allowed func(ctx context.Context, r store.Reader, root lake.Root, dir string) error // asks a claim; nil before lookAround
	mu      sync.Mutex
	folders map[string]func() error // those between the roots and blobs that were asked last
}

// mostFolders bounds how many folders are remembered.
const mostFolders = 1 << 16

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
			return nil, invalid(r.String(), "no blob can die below it: "+strings.ReplaceAll(standing.String(), "_", " "), "Name a folder outside of the table, spelled without doubt, with --blob-root.")
		}
		root, _ := at.Parent()
		s, err := stores.OpenStore(ctx, root)
		if errors.Is(err, fs.ErrNotExist) {
			// A mount that is missing must not pass for blobs that are gone.
			return nil, &lake.Error{Op: "open blob root", Table: root.String(), Kind: lake.Refused, Code: "blob_root_missing", Err: errors.New("there is no such folder"),
				Hint: "Mount or make the folder, correct --blob-root or --map, or plan with --blobs off if the blobs are to stay for good."}
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
// Errors: drain.ErrForeign if a folder on the way is a table's; Refused if a
// table that isn't known has claimed one, or a symlink leads to it.
func (b *places) open(ctx context.Context, at lake.Root) (reap.Place, string, error) {
	for _, p := range b.list {
		if p.root.Contains(at) && at.Path != p.root.Path {
			name := strings.TrimPrefix(strings.TrimPrefix(at.Path, p.root.Path), "/")
			return p.store, name, b.between(ctx, p, path.Dir(name))
		}
	}
	return nil, "", fmt.Errorf("%s lies below no blob root", at)
}

// between asks the folders from dir up to the root of p whether blobs may die
// in them, each once.
func (b *places) between(ctx context.Context, p place, dir string) error {
	if b.allowed == nil || dir == "." {
		return nil
	}
	key := p.root.Join(lake.Key(dir))
	b.mu.Lock()
	ask, asked := b.folders[key]
	if !asked {
		if len(b.folders) >= mostFolders {
			clear(b.folders)
		}
		ask = sync.OnceValue(func() error {
			if err := b.between(ctx, p, path.Dir(dir)); err != nil {
				return err
			}
			return b.folder(ctx, p, dir)
		})
		b.folders[key] = ask
	}
	b.mu.Unlock()
	err := ask()
	if err != nil && lake.KindOf(err) != lake.Refused && !errors.Is(err, drain.ErrForeign) {
		b.mu.Lock()
		delete(b.folders, key) // the next blob asks again
		b.mu.Unlock()
	}
	return err
}

// folder asks one folder below the root of p.
func (b *places) folder(ctx context.Context, p place, dir string) error {
	at := p.root.Join(lake.Key(dir))
	if err := straight(at); err != nil {
		return err
	}
	table, claim, err := tables.LookAt(ctx, p.store, dir+"/", lake.ClaimName)
	switch {
	case err != nil:
		return err
	case table:
		return fmt.Errorf("%w: %s", drain.ErrForeign, at)
	case !claim:
		return nil
	}
	return b.allowed(ctx, p.store, p.root, dir)
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

// around asks a root and the folders above it whether one is a table's, and
// those above for claims, as far as they may be read.
//
// Errors: Refused if one is, or is claimed by a table that isn't known.
func (b *places) around(ctx context.Context, p place) error {
	table, _, err := tables.LookAt(ctx, p.store, "", lake.ClaimName)
	if err != nil {
		return err
	}
	for root := p.root; ; {
		if table {
			return &lake.Error{Op: "open blob root", Table: p.root.String(), Kind: lake.Refused, Code: "blob_root_in_table", Err: fmt.Errorf("%s is the folder of a table", root),
				Hint: "No blob dies in a table's folder. Name folders outside of every table with --blob-root, or move the table out of the blobs' folder."}
		}
		up, more := root.Parent()
		if !more {
			return nil
		}
		root = up
		if table, err = b.above(ctx, root); err != nil && !errors.Is(err, fs.ErrPermission) {
			return err
		}
	}
}

// above asks one folder above a root.
func (b *places) above(ctx context.Context, root lake.Root) (table bool, err error) {
	r, err := b.stores.OpenReader(ctx, root)
	if err != nil {
		return false, err
	}
	claim := true
	if root.Path != "" || root.Class() != "file" { // a disk's own root is no table's
		// A folder that may not be listed may still let its claim be read.
		if table, claim, err = tables.LookAt(ctx, r, "", lake.ClaimName); table || err != nil && !errors.Is(err, fs.ErrPermission) {
			return table, err
		}
	}
	if !claim {
		return false, nil
	}
	return false, b.allowed(ctx, r, root, "")
}

// lookAround lets open look at the folders on the way, and ask allowed of their
// claims.
func (b *places) lookAround(allowed func(context.Context, store.Reader, lake.Root, string) error) {
	b.folders, b.allowed = make(map[string]func() error), allowed
}

// claim makes the roots' other tables known.
//
// Errors: Refused if a table that also doesn't name has claimed one, or a
// folder above, or if one lies in a table.
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
	b.lookAround(func(ctx context.Context, r store.Reader, root lake.Root, dir string) error {
		return blobqueue.Allowed(ctx, r, root, dir, me, known)
	})
	for _, p := range b.list {
		if err := b.around(ctx, p); err != nil {
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
