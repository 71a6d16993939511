package where

import (
	"slices"

	"github.com/lakesweep/lakesweep/antijoin"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/predicate"
	"github.com/lakesweep/lakesweep/sweep/internal/memo"
	"github.com/lakesweep/lakesweep/table/delta"
	"github.com/lakesweep/lakesweep/table/delta/meta"
)

// Filter narrows candidates to the partitions that WHERE names. It never
// touches the protected set. Safe for concurrent use.
//
// Source: spec/delta-vacuum.md 6.3.
type Filter struct {
	predicate *predicate.Predicate
	schema    predicate.Schema
}

// Compile compiles WHERE against the schema of a table.
//
// Errors: those of predicate.Compile.
func Compile(text string, m meta.Metadata, o predicate.Options) (*Filter, error) {
	schema := Schema(m)
	p, err := predicate.Compile(text, schema, o)
	if err != nil {
		return nil, err
	}
	return &Filter{predicate: p, schema: schema}, nil
}

// Schema is what predicates know of a table's columns.
func Schema(m meta.Metadata) predicate.Schema {
	schema := predicate.Schema{Other: m.DataColumns, Clustered: m.Clustered}
	for _, c := range m.PartitionColumns {
		schema.Partition = append(schema.Partition, predicate.Column{Name: c.Name, Physical: c.Physical, Type: c.Type})
	}
	return schema
}

// Match judges a key that nothing protects: by the log's values where the log
// knows it, by its directories otherwise. Outside the directories of within,
// unless it is nil, p doesn't know what is protected: nothing matches there.
func (f *Filter) Match(p *delta.Protection, within func(dir lake.Key) bool) func(lake.Key) antijoin.Match {
	byDir := memo.ByDir(func(dir lake.Key) antijoin.Match {
		values, ok := predicate.FromPath(dir+"/x", f.schema)
		if !ok {
			return antijoin.Unknown
		}
		return tri(f.predicate.Match(values))
	})
	return func(k lake.Key) antijoin.Match {
		m := antijoin.Unknown
		if r, ok := p.Removed(k); ok {
			m = f.matchAll(r.Partitions)
		} else {
			m = byDir(k.Dir())
		}
		if m == antijoin.True && within != nil && !within(k.Dir()) {
			return antijoin.Unknown
		}
		return m
	}
}

// NamesOnly reports whether the log places the files that match in no other
// directories than those of within.
func (f *Filter) NamesOnly(known []delta.PartitionDirs, within func(dir lake.Key) bool) bool {
	for _, p := range known {
		if f.predicate.Match(p.Values) == predicate.True && slices.ContainsFunc(p.Dirs, func(dir lake.Key) bool { return !within(dir) }) {
			return false
		}
	}
	return known != nil
}

// matchAll asks that a path seen with several values matches with all of them.
func (f *Filter) matchAll(all []lake.Partition) antijoin.Match {
	if len(all) == 0 {
		return antijoin.Unknown
	}
	m := antijoin.True
	for i, values := range all {
		if values == nil {
			return antijoin.Unknown
		}
		if impliedBy(values, all, i) {
			continue
		}
		switch tri(f.predicate.Match(values)) {
		case antijoin.Unknown:
			return antijoin.Unknown
		case antijoin.False:
			m = antijoin.False
		}
	}
	return m
}

// impliedBy reports whether another action of the same path says the same and
// more: Spark's removes leave out the columns that are NULL, its adds don't.
func impliedBy(values lake.Partition, all []lake.Partition, i int) bool {
	for j, other := range all {
		if j == i || len(other) <= len(values) {
			continue
		}
		if !slices.ContainsFunc(values, func(v lake.PartitionValue) bool { return !slices.Contains(other, v) }) {
			return true
		}
	}
	return false
}

// tri is what a predicate says, as a match: NULL is none in SQL, and as certain
// as FALSE.
func tri(t predicate.Tri) antijoin.Match {
	switch t {
	case predicate.True:
		return antijoin.True
	case predicate.Unknown:
		return antijoin.Unknown
	}
	return antijoin.False
}

// MayMatchDir reports whether something below a directory could match by its
// path alone.
func (f *Filter) MayMatchDir() func(lake.Key) bool {
	return memo.ByDir(func(dir lake.Key) bool {
		values, ok := predicate.FromDir(dir, f.schema)
		return ok && f.predicate.MayMatch(values)
	})
}

// Needs reports whether a directory has to be listed: something in or below it
// could match by its path, or the log places a matching file there, wherever
// that may be.
func (f *Filter) Needs(known []delta.PartitionDirs) func(lake.Key) bool {
	if known == nil {
		return func(lake.Key) bool { return true }
	}
	named := make(map[lake.Key]struct{})
	for _, p := range known {
		if f.predicate.Match(p.Values) != predicate.True {
			continue
		}
		for _, dir := range p.Dirs {
			for ; ; dir = dir.Dir() {
				named[dir] = struct{}{}
				if dir == "" {
					break
				}
			}
		}
	}
	may := f.MayMatchDir()
	return func(dir lake.Key) bool {
		if _, ok := named[dir]; ok {
			return true
		}
		return may(dir)
	}
}

// DirMatches reports whether everything below a directory matches.
func (f *Filter) DirMatches(dir lake.Key) bool {
	values, ok := predicate.FromDir(dir, f.schema)
	return ok && f.predicate.Match(values) == predicate.True
}
