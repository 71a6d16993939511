package mem

import (
	"context"
	"io/fs"
	"slices"
	"sort"
	"strings"

	"github.com/lakesweep/lakesweep/store"
)

// List returns a page in byte order. A token is the last name of the page before.
func (s *Store) List(ctx context.Context, req store.PageRequest) (store.Page, error) {
	t := s.opt.Traits
	switch {
	case ctx.Err() != nil:
		return store.Page{}, s.fail("list", req.Prefix, ctx.Err())
	case !req.Dirs && !t.Flat, req.After != "" && !t.StartAfter:
		return store.Page{}, s.fail("list", req.Prefix, store.ErrUnsupported)
	case req.After != "" && req.Token != "":
		return store.Page{}, s.fail("list", req.Prefix, fs.ErrInvalid)
	}
	limit := t.PageSize
	if req.Limit > 0 {
		limit = min(limit, req.Limit)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.merge()
	page := s.page(req, limit)
	if t.NamesFirst && !req.Details {
		for i := range page.Entries {
			page.Entries[i] = store.Info{Name: page.Entries[i].Name, Kind: page.Entries[i].Kind, Size: -1}
		}
	}
	return page, nil
}

func (s *Store) page(req store.PageRequest, limit int) store.Page {
	var page store.Page
	last := max(req.After, req.Token)
	i := sort.Search(len(s.sorted), func(i int) bool { return s.sorted[i] > last && s.sorted[i] >= req.Prefix })
	for ; i < len(s.sorted); i++ {
		name := s.sorted[i]
		if !strings.HasPrefix(name, req.Prefix) {
			break
		}
		o, ok := s.objects[name]
		if !ok || name == "/" {
			continue
		}
		info := o.info(name)
		if req.Dirs {
			below := name[len(req.Prefix):]
			if slash := strings.IndexByte(below, '/'); slash >= 0 {
				dir := name[:len(req.Prefix)+slash]
				if req.Token == dir+"/" {
					continue // the page before ended with it
				}
				info = store.Info{Name: dir, Kind: store.Dir, Size: -1}
			}
		}
		if n := len(page.Entries); n > 0 && page.Entries[n-1].Listed() == info.Listed() {
			continue
		} else if n == limit {
			page.Next = page.Entries[n-1].Listed()
			break
		}
		page.Entries = append(page.Entries, info)
	}
	return page
}

// merge brings the new names into the sorted ones and drops those that are
// gone once they are many.
func (s *Store) merge() {
	if len(s.fresh) == 0 && len(s.sorted) < 2*len(s.objects)+64 {
		return
	}
	slices.Sort(s.fresh)
	merged := make([]string, 0, len(s.objects))
	for a, b := s.sorted, s.fresh; len(a)+len(b) > 0; {
		var name string
		if len(b) == 0 || len(a) > 0 && a[0] <= b[0] {
			name, a = a[0], a[1:]
		} else {
			name, b = b[0], b[1:]
		}
		if _, ok := s.objects[name]; ok && (len(merged) == 0 || merged[len(merged)-1] != name) {
			merged = append(merged, name)
		}
	}
	s.sorted, s.fresh = merged, nil
}
