package listing

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
)

// manyPending is the number of pending directories from which on the walk goes
// depth first, so that it holds few of them however many there are.
const manyPending = 200

// fanOut lists directory by directory.
func (w *walk) fanOut(ctx context.Context) error {
	ctx, w.stop = context.WithCancelCause(ctx)
	defer w.stop(nil)
	t := w.r.Traits()
	if w.o.Workers == 0 && t.NamesFirst {
		// A local disk: its directories are cached or seek-bound; more workers than a few for each core only queue.
		w.gate = &gate{limit: 4 * runtime.GOMAXPROCS(0), fixed: true}
	}
	d := &dirs{pending: []string{""}}
	w.mu.Lock()
	w.dispatchDirs(ctx, d)
	w.mu.Unlock()
	w.wg.Wait()
	if ctx.Err() != nil {
		return ended(ctx)
	}
	return nil
}

// dirs is the directories still to be listed: a queue while they are few, so
// that the walk spreads, and a stack when they are many.
type dirs struct{ pending []string }

func (d *dirs) next() (dir string, ok bool) {
	n := len(d.pending)
	switch {
	case n == 0:
		return "", false
	case n < manyPending:
		dir, d.pending = d.pending[0], d.pending[1:]
	default:
		dir, d.pending = d.pending[n-1], d.pending[:n-1]
	}
	return dir, true
}

// dispatchDirs starts workers for pending directories as far as the gate
// allows. Called under the lock.
func (w *walk) dispatchDirs(ctx context.Context, d *dirs) {
	for n := len(d.pending); n > 0 && w.busy < w.gate.limit; n-- {
		w.busy++
		w.st.Workers = max(w.st.Workers, w.busy)
		w.wg.Go(func() { w.walkDirs(ctx, d) })
	}
}

// walkDirs lists directories until none is pending or the walk ends.
func (w *walk) walkDirs(ctx context.Context, d *dirs) {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer func() { w.busy-- }()
	for ctx.Err() == nil && w.busy <= w.gate.limit {
		dir, ok := d.next()
		if !ok {
			return
		}
		w.mu.Unlock()
		subs, err := w.directory(ctx, dir)
		w.mu.Lock()
		if err != nil {
			w.stop(rangeError(fmt.Sprintf("directory %q", dir), err))
			return
		}
		d.pending = append(d.pending, subs...)
		w.dispatchDirs(ctx, d)
	}
}

// directory lists one directory, emits it and returns those below it to list.
func (w *walk) directory(ctx context.Context, dir string) ([]string, error) {
	entries, err := w.readDir(ctx, dir)
	if errors.Is(err, fs.ErrNotExist) && dir != "" {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.st.Vanished++ // removed since its parent was read
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	decision := Decision{}
	if w.o.Enter != nil {
		if decision, err = w.o.Enter(ctx, dir, entries); err != nil {
			return nil, err
		}
	}
	if decision.Drop {
		entries = nil
	}
	var subs []string
	kept := entries[:0:len(entries)]
	for _, e := range entries {
		switch {
		case e.Kind == store.Dir && !w.reaches(e.Name), e.Kind != store.Dir && !w.within(e.Listed()):
			continue
		case e.Kind == store.Dir && (decision.Descend == nil || decision.Descend(e.Name)):
			subs = append(subs, e.Name)
		}
		kept = append(kept, e)
	}
	if len(kept) > 0 {
		if err := w.emit(kept); err != nil {
			return nil, err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.st.Directories++
	w.st.Keys += int64(len(kept))
	w.o.Observer.Emit(lake.Event{Stage: "list", Done: w.st.Keys, Expected: w.o.Expected})
	return subs, nil
}

// readDir reads all pages of a directory.
func (w *walk) readDir(ctx context.Context, dir string) ([]store.Info, error) {
	var all []store.Info
	req := store.PageRequest{Dirs: true}
	if dir != "" {
		req.Prefix = dir + "/"
	}
	sorted, prev := w.r.Traits().Flat, ""
	since := time.Now()
	for try := 0; ; {
		page, err := w.request(ctx, req)
		if err != nil {
			if !w.again(ctx, err, try, since) {
				return nil, err
			}
			try++
			all, req.Token, prev = nil, "", "" // a directory's token serves once
			continue
		}
		for _, e := range page.Entries {
			if key := e.Listed(); sorted && key <= prev {
				return nil, fmt.Errorf("%w: %q comes after %q", errOrder, key, prev)
			} else {
				prev = key
			}
		}
		if all == nil {
			all = page.Entries
		} else {
			all = append(all, page.Entries...)
		}
		if page.Next == "" {
			return all, nil
		}
		req.Token = page.Next
	}
}

// within reports whether Options.Within holds a name.
func (w *walk) within(name string) bool {
	for _, r := range w.o.Within {
		if r.holds(name) {
			return true
		}
	}
	return w.o.Within == nil
}

// reaches reports whether anything below dir is wanted.
func (w *walk) reaches(dir string) bool {
	if w.o.Reach != nil {
		return w.o.Reach(dir) != Nothing
	}
	for _, r := range w.o.Within {
		if r.overlaps(Below(dir)) {
			return true
		}
	}
	return w.o.Within == nil
}
