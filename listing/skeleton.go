package listing

import (
	"context"
	"fmt"
	"time"

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

// retried asks for a page until it comes or the tries are used up.
func (w *walk) retried(ctx context.Context, req store.PageRequest) (store.Page, error) {
	since := time.Now()
	page, err := w.request(ctx, req)
	for try := 0; err != nil && w.again(ctx, err, try, since); try++ {
		page, err = w.request(ctx, req)
	}
	return page, err
}
