package listing

import (
	"math"
	"slices"
	"strings"
)

// estimate tells how many requests reading a directory spares, at least and
// likely, by the seeds below it; none if it had better be listed flat.
func (p *pruning) estimate(dir string, seeds []string) (sure, likely float64) {
	entries, run := 0.0, 0.0
	if dir == "" {
		entries = float64(max(len(p.w.o.Within)-1, 0)) // what Within leaves out lies there too
	}
	flush := func() {
		likely += p.spares(run)
		run = 0
	}
	for len(seeds) > 0 {
		entries++
		child, isDir := childOf(dir, seeds[0])
		if !isDir {
			seeds = seeds[1:]
			continue
		}
		n := max(1, len(below(child, seeds)))
		switch p.w.o.Reach(child) {
		case Nothing:
			names := float64(n) * p.weight
			run += names
			sure += p.spares(names)
		case Part:
			flush()
			s, l := p.estimate(child, seeds[:n])
			sure, likely = sure+s, likely+l
		case Whole:
			flush()
		}
		seeds = seeds[n:]
	}
	flush()
	pages := max(1, math.Ceil(entries/p.page))
	if likely <= pages || max(sure, likely/pruneLikely) < pages {
		return 0, 0
	}
	p.read[dir] = pages
	return sure - pages, likely - pages
}

// spares returns how many requests jumping over so many names spares at least.
func (p *pruning) spares(names float64) float64 { return max(0, math.Floor(names/p.page)-1) }

// childOf returns the subdirectory of dir that name lies in; false for a file.
func childOf(dir, name string) (string, bool) {
	start := 0
	if dir != "" {
		start = len(dir) + 1
	}
	i := strings.IndexByte(name[start:], '/')
	return name[:start+max(i, 0)], i >= 0
}

// below returns those of the sorted names that lie below dir.
func below(dir string, names []string) []string {
	if dir == "" {
		return names
	}
	r := Below(dir)
	lo, _ := slices.BinarySearch(names, r.After)
	hi, _ := slices.BinarySearch(names, r.Before)
	return names[lo:hi]
}

// known returns how many names below a directory are known to exist.
func (p *pruning) known(dir string) float64 { return float64(len(below(dir, p.seeds))) * p.weight }
