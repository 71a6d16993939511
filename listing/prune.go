package listing

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/lakesweep/lakesweep/store"
)

// Reach is how much of what lies below a directory a walk is after.
type Reach uint8

// The reaches, as Options.Reach returns them.
const (
	Nothing Reach = iota // nothing below it: it isn't listed
	Part                 // maybe something: its subdirectories tell
	Whole                // all of it
)

// Except returns the ranges of all names but those below the given
// directories, none of which may lie in another: such as a table's log. Names
// that begin with U+10FFFF there may come all the same.
func Except(dirs ...string) []Range {
	ranges := []Range{{}}
	for _, dir := range slices.Sorted(slices.Values(dirs)) {
		ranges[len(ranges)-1].Before = dir + "/"
		ranges = append(ranges, Range{After: afterAll(dir)})
	}
	return ranges
}

// afterAll is greater than the names below a directory, but those that begin
// with U+10FFFF there.
func afterAll(dir string) string { return dir + "/\U0010FFFF" }

// A pruning finds out which parts of a flat listing Options.Reach needs, by
// reading upper directories one by one, level by level. It must not need more
// requests than listing everything does, so it goes by what is known to exist,
// Options.Seeds: a directory is read if the names that this spares surely fill
// more pages, and ranges are joined across names that fill no page.
//
// Why that suffices, with pages of P names: a range of n names takes at most
// n/P+1 requests, all names N at least N/P. So whatever is skipped between two
// ranges must be P names for the second one, and P more for each directory read.
type pruning struct {
	w      *walk
	seeds  []string           // sorted
	weight float64            // names that a seed stands for at least
	page   float64            // names that a page holds
	read   map[string]float64 // directories to read, and of how many pages they seem to be
	early  map[string]*node   // those of them that are read together with the root
}

const (
	pruneWorkers = 64 // concurrent requests
	// pruneLikely is how many pages a request for a directory must spare where
	// directories that nobody knows of might spoil it: those that are wanted and
	// lie between unwanted ones too small to be jumped over one by one.
	pruneLikely = 16
)

// prune reads directories, emits the files in them and returns the ranges that
// are still to be listed.
func (w *walk) prune(ctx context.Context) ([]Range, error) {
	within := w.o.Within
	if within == nil {
		within = []Range{{}}
	}
	p := &pruning{w: w, seeds: slices.Compact(slices.Sorted(slices.Values(w.o.Seeds))), weight: 1, page: w.pageKeys(), read: make(map[string]float64)}
	if w.o.PerSeed > 1 {
		p.weight = w.o.PerSeed / 2 // a sample may be uneven
	}
	sure, _ := p.estimate("", p.seeds)
	if p.read[""] == 0 {
		return within, nil
	}
	p.early = p.readAtOnce(sure)
	root := &node{}
	for level := []*node{root}; len(level) > 0; {
		var err error
		if level, err = p.level(ctx, level); err != nil {
			return nil, err
		}
	}
	j := joiner{page: p.page, within: within}
	p.walk(root, &j)
	files, ranges := j.done()
	if w.o.Expected > 0 {
		w.guess = max(1, j.names/p.weight*max(1, w.o.PerSeed))
	}
	if len(files) == 0 {
		return ranges, nil
	}
	w.mu.Lock()
	w.st.Keys += int64(len(files))
	w.mu.Unlock()
	return ranges, w.emit(files)
}

// pageKeys returns how many names a page of the store holds.
func (w *walk) pageKeys() float64 {
	if n := w.r.Traits().PageSize; n > 0 {
		return float64(n)
	}
	return 1000
}

// node is a directory that was read.
type node struct {
	dir     string
	entries []store.Info
	cut     bool // more entries follow
	read    map[string]*node
}

// readAtOnce returns the directories whose turn surely comes: those above them
// fill a page each and lead there. What is surely spared must be twice as much,
// should the store hold more than anyone knows and their turn not come after all.
func (p *pruning) readAtOnce(sure float64) map[string]*node {
	nodes := make(map[string]*node)
	for dir := range p.read {
		if dir != "" && p.comesToTurn(dir) {
			nodes[dir] = &node{dir: dir}
		}
	}
	if sure < 2*float64(len(nodes)) {
		return nil
	}
	return nodes
}

// comesToTurn reports whether reading the directories above leads to dir.
func (p *pruning) comesToTurn(dir string) bool {
	for dir != "" {
		if p.w.o.Reach(dir) != Part {
			return false
		}
		dir = dir[:max(strings.LastIndexByte(dir, '/'), 0)]
		if p.read[dir] != 1 {
			return false
		}
	}
	return true
}

// level reads directories and returns those of their subdirectories to read
// next. Together with the root those of early are read.
func (p *pruning) level(ctx context.Context, nodes []*node) (next []*node, err error) {
	unread := slices.DeleteFunc(slices.Clone(nodes), func(n *node) bool { return n.read != nil })
	if nodes[0].dir == "" {
		unread = slices.AppendSeq(unread, maps.Values(p.early))
	}
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(pruneWorkers)
	for _, n := range unread {
		g.Go(func() error {
			if err := p.directory(gctx, n); err != nil {
				return rangeError(fmt.Sprintf("directory %q", n.dir), err)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	for _, n := range nodes {
		for i, e := range n.entries {
			if n.cut && i == len(n.entries)-1 {
				break // it counts to the rest of the directory
			}
			if e.Kind == store.Dir && p.read[e.Name] > 0 && p.w.o.Reach(e.Name) == Part {
				child := p.early[e.Name]
				if child == nil {
					child = &node{dir: e.Name}
				}
				n.read[e.Name] = child
				next = append(next, child)
			}
		}
	}
	return next, nil
}

// directory reads a directory, at most as many pages as it seemed to have and
// as those read so far spare more than was sure before.
func (p *pruning) directory(ctx context.Context, n *node) error {
	n.read = make(map[string]*node)
	req := store.PageRequest{Dirs: true}
	if n.dir != "" {
		req.Prefix = n.dir + "/"
	}
	sure, spared, run := 0.0, 0.0, 0.0
	for pages := 1.0; ; pages++ {
		page, err := p.w.retried(ctx, req)
		if err != nil {
			return err
		}
		p.w.mu.Lock()
		p.w.st.Skeleton++
		p.w.mu.Unlock()
		prev := ""
		if len(n.entries) > 0 {
			prev = n.entries[len(n.entries)-1].Listed()
		}
		for _, e := range page.Entries {
			if e.Listed() <= prev {
				return fmt.Errorf("%w: %q comes after %q", errOrder, e.Listed(), prev)
			}
			prev = e.Listed()
			switch {
			case e.Kind != store.Dir:
			case p.w.o.Reach(e.Name) == Nothing:
				names := p.known(e.Name)
				sure, run = sure+p.spares(names), run+names
			default:
				spared, run = spared+p.spares(run), 0
			}
		}
		n.entries = append(n.entries, page.Entries...)
		if page.Next == "" {
			return nil
		}
		if pages >= p.read[n.dir] && spared+p.spares(run)-sure < pages+1-p.read[n.dir] {
			n.cut = true
			return nil
		}
		req.Token = page.Next
	}
}

// walk hands what a directory holds to j, in key order.
func (p *pruning) walk(n *node, j *joiner) {
	entries, rest := n.entries, Below(n.dir)
	if n.cut {
		last := entries[len(entries)-1]
		rest.After = last.Listed()
		if last.Kind == store.Dir {
			entries = entries[:len(entries)-1]
		}
	}
	for _, e := range entries {
		switch child := n.read[e.Name]; {
		case e.Kind != store.Dir:
			j.file(e)
		case child != nil:
			p.walk(child, j)
		case p.w.o.Reach(e.Name) == Nothing:
			j.skip(p.known(e.Name))
		default:
			j.want(Below(e.Name), p.known(e.Name))
		}
	}
	if n.cut {
		p.rest(n.dir, rest, j)
	}
}

// rest hands on the part of a directory that wasn't read, without what is known
// not to be needed of it.
func (p *pruning) rest(dir string, rest Range, j *joiner) {
	names := below(dir, p.seeds)
	first, _ := slices.BinarySearch(names, rest.After)
	known := 0.0
	for names = names[first:]; len(names) > 0; {
		n := 1
		if unwanted := p.w.unwanted(dir, names[0]); unwanted != "" && unwanted+"/" >= rest.After {
			n = len(below(unwanted, names))
			j.want(Range{After: rest.After, Before: unwanted + "/"}, known)
			j.skip(float64(n) * p.weight)
			rest.After, known = afterAll(unwanted), 0
		} else {
			known += p.weight
		}
		names = names[n:]
	}
	j.want(rest, known)
}

// unwanted returns the uppermost directory between dir and a name in which
// nothing is wanted; "" if there is none.
func (w *walk) unwanted(dir, name string) string {
	for {
		child, isDir := childOf(dir, name)
		if !isDir {
			return ""
		}
		switch w.o.Reach(child) {
		case Nothing:
			return child
		case Whole:
			return ""
		}
		dir = child
	}
}

// jump lets s go on behind the directory that its last name lies in, if nothing
// is wanted there: the next page begins where it would have begun, or later.
// closed reports that nothing is left of s.
func (w *walk) jump(s *span) (jumped, closed bool) {
	if w.o.Reach == nil {
		return false, false
	}
	dir := w.unwanted("", s.last)
	if dir == "" {
		return false, false
	}
	behind := afterAll(dir)
	if s.past(behind) {
		return true, true
	}
	s.last = max(s.last, behind)
	return true, false
}
