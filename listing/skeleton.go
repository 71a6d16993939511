package listing

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/lakesweep/lakesweep/store"
)

const (
	skeletonRequests = 16  // at most so many
	skeletonEnough   = 256 // directories
)

// skeleton looks for split points where the caller had none: the directories
// near the top, level by level while a level is small enough to be read whole.
// A directory of more than a page only teaches what names look like.
func (w *walk) skeleton(ctx context.Context, bounds []Range) error {
	var level []string
	for _, r := range bounds {
		level = append(level, directoryOf(r.prefix()))
	}
	var found []string
	for budget := skeletonRequests; len(level) > 0 && len(level) <= budget && len(found) < skeletonEnough; {
		budget -= len(level)
		pages := make([]store.Page, len(level))
		g, gctx := errgroup.WithContext(ctx)
		for i, dir := range level {
			g.Go(func() (err error) {
				if pages[i], err = w.retried(gctx, store.PageRequest{Prefix: dir, Dirs: true}); err != nil {
					return rangeError(fmt.Sprintf("directory %q", dir), err)
				}
				return nil
			})
		}
		if err := g.Wait(); err != nil {
			return err
		}
		w.st.Skeleton += int64(len(level))
		level = nil
		for _, page := range pages {
			w.points.page(page.Entries)
			for _, e := range page.Entries {
				if e.Kind == store.Dir && page.Next == "" {
					level = append(level, e.Listed())
				}
			}
		}
		found = append(found, level...)
	}
	w.points.add(found)
	return nil
}

// directoryOf returns prefix up to its last slash.
func directoryOf(prefix string) string {
	for i := len(prefix); i > 0; i-- {
		if prefix[i-1] == '/' {
			return prefix[:i]
		}
	}
	return ""
}
