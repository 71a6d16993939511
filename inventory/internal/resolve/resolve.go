package resolve

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/lakesweep/lakesweep/inventory/internal/rowset"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
)

// Resolver says which rows lie below which of some roots. Safe for concurrent use.
type Resolver struct {
	roots   []lake.Root
	squeeze []bool              // of each root: empty components mean nothing there
	byStore map[string]*rootSet // by class and authority, as storeKeys spells it
	maps    Mappings
	counts  [resolved]atomic.Int64
	seen    []atomic.Int64 // rows below each root
	spare   sync.Pool      // *resolution
}

const (
	countOutside = iota
	countMetadata
	countOdd
	resolved
)

// Resolved says what became of the rows that a Resolver was given.
type Resolved struct {
	Outside  int64   // below none of the roots
	Metadata int64   // in the log of a root itself, never a candidate
	Odd      int64   // below a root, but "." or ".." stands in the name
	Inside   []int64 // handed on, for each root
}

// rootSet holds the roots in one bucket or file system.
type rootSet struct {
	paths   map[string][]int // path → indexes of roots
	lengths []int            // of the paths, each once
}

// NewResolver returns a Resolver for roots.
//
// Errors: Invalid for a Map that is empty or maps a scheme to a path.
func NewResolver(roots []lake.Root, rules []Map) (*Resolver, error) {
	parsed, err := ParseMaps(rules)
	if err != nil {
		return nil, err
	}
	r := &Resolver{roots: roots, maps: parsed, byStore: make(map[string]*rootSet), seen: make([]atomic.Int64, len(roots))}
	for i, root := range roots {
		r.squeeze = append(r.squeeze, isFileSystem(root.Class()))
		for _, key := range storeKeys(root.Class(), root.Authority) {
			set := r.byStore[key]
			if set == nil {
				set = &rootSet{paths: make(map[string][]int)}
				r.byStore[key] = set
			}
			set.paths[root.Path] = append(set.paths[root.Path], i)
			if !slices.Contains(set.lengths, len(root.Path)) {
				set.lengths = append(set.lengths, len(root.Path))
			}
		}
	}
	return r, nil
}

// Counts returns what became of the rows so far.
func (r *Resolver) Counts() Resolved {
	out := Resolved{Outside: r.counts[countOutside].Load(), Metadata: r.counts[countMetadata].Load(), Odd: r.counts[countOdd].Load(), Inside: make([]int64, len(r.seen))}
	for i := range r.seen {
		out.Inside[i] = r.seen[i].Load()
	}
	return out
}

// Resolve hands the rows on by root, as a listing of that root would show them:
// names relative to it, never decoded. A row below several roots goes to each.
// The rows of a root's own log are left out; those of a log further below are
// not, as they tell of a table inside. The slice is lent for the call.
//
// Errors: emit's.
func (r *Resolver) Resolve(rows []rowset.Row, emit func(root int, objects []store.Info) error) error {
	to := r.resolution()
	defer r.spare.Put(to)
	for i := range rows {
		r.resolve(&rows[i], to)
	}
	r.tally(to)
	for i, objects := range to.objects {
		if len(objects) == 0 {
			continue
		}
		r.seen[i].Add(int64(len(objects)))
		if err := emit(i, objects); err != nil {
			return err
		}
	}
	return nil
}

// Needed marks the rows that Resolve would hand on.
func (r *Resolver) Needed(rows []rowset.Row, marks []bool) {
	to := r.resolution()
	defer r.spare.Put(to)
	for i := range rows {
		r.resolve(&rows[i], to)
		for root, objects := range to.objects {
			if len(objects) > 0 {
				marks[i], to.objects[root] = true, objects[:0]
			}
		}
	}
}

// resolution is what rows were resolved to.
type resolution struct {
	objects [][]store.Info // by root
	counts  [resolved]int64
	last    place
}

func (r *Resolver) resolution() *resolution {
	to, ok := r.spare.Get().(*resolution)
	if !ok {
		to = &resolution{objects: make([][]store.Info, len(r.roots))}
	}
	for i := range to.objects {
		to.objects[i] = to.objects[i][:0]
	}
	to.counts = [resolved]int64{}
	return to
}

func (r *Resolver) tally(to *resolution) {
	for i, n := range to.counts {
		r.counts[i].Add(n)
	}
}

// place is a Row's Place, looked up. The rows of a batch mostly share one.
type place struct {
	spelled string
	rules   []placeRule // the first that fits holds; the last always does
}

// placeRule says where the names of a place that begin with prefix (whole
// components) are reached: in set, with path instead of the prefix.
type placeRule struct {
	prefix string
	set    *rootSet
	path   string
}

// lookUp finds where the names of a place are reached. Maps from further below
// are longer than those from the place itself or above, so they come first.
func (r *Resolver) lookUp(spelled string) place {
	p := place{spelled: spelled}
	for _, m := range r.maps {
		if prefix, ok := strings.CutPrefix(m.from, spelled+"/"); ok {
			set, path := r.locate(m.to)
			p.rules = append(p.rules, placeRule{prefix, set, path})
		}
	}
	set, path := r.locate(r.maps.Apply(spelled))
	p.rules = append(p.rules, placeRule{set: set, path: path})
	return p
}

// resolve puts a row to the objects of the roots that it lies below, or counts it.
func (r *Resolver) resolve(row *rowset.Row, to *resolution) {
	if !r.place(row, to) {
		to.counts[countOutside]++
	}
}

func (r *Resolver) place(row *rowset.Row, to *resolution) bool {
	switch {
	case row.Place != "":
	case IsAbsolute(row.Name):
		set, path := r.locate(r.maps.Apply(row.Name))
		return r.below(row, set, path, to)
	default: // relative to the table, whichever it is
		for i := range r.roots {
			r.put(row, i, strings.TrimPrefix(row.Name, "./"), to)
		}
		return len(r.roots) > 0
	}
	if to.last.rules == nil || to.last.spelled != row.Place {
		to.last = r.lookUp(row.Place)
	}
	for _, rule := range to.last.rules {
		rest, ok := strings.CutPrefix(row.Name, rule.prefix)
		switch {
		case !ok:
		case rule.prefix == "" && rule.path == "":
			return r.below(row, rule.set, rest, to)
		case rule.prefix == "":
			return r.below(row, rule.set, rule.path+"/"+rest, to)
		case rest == "" || rest[0] == '/':
			return r.below(row, rule.set, strings.TrimPrefix(rule.path+rest, "/"), to)
		}
	}
	return false
}

// below finds the roots above path and puts the row there.
func (r *Resolver) below(row *rowset.Row, set *rootSet, path string, to *resolution) bool {
	if set == nil {
		return false
	}
	found := false
	for _, n := range set.lengths {
		switch {
		case n == 0:
			for _, i := range set.paths[""] {
				found = true
				r.put(row, i, path, to)
			}
		case len(path) > n+1 && path[n] == '/':
			for _, i := range set.paths[path[:n]] {
				found = true
				r.put(row, i, path[n+1:], to)
			}
		case len(path) == n, len(path) == n+1 && path[n] == '/': // a root itself
			found = found || len(set.paths[path[:n]]) > 0
		}
	}
	return found
}

// put adds the row to the objects of a root, unless its name is one that no
// listing of the root would show, or lies in the root's own log.
func (r *Resolver) put(row *rowset.Row, i int, name string, to *resolution) {
	if r.squeeze[i] {
		name = squeeze(name)
	}
	switch {
	case name == "" || hasDots(name):
		to.counts[countOdd]++
	case strings.HasPrefix(name, "_delta_log/") || name == "_delta_log":
		to.counts[countMetadata]++
	default:
		to.objects[i] = append(to.objects[i], store.Info{Name: name, Kind: row.Kind, Size: row.Size, Modified: row.Modified, ETag: row.ETag})
	}
}
