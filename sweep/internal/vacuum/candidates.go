package vacuum

import (
	"context"
	"strings"

	"github.com/lakesweep/lakesweep/antijoin"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/predicate"
	"github.com/lakesweep/lakesweep/listing"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/sweep/internal/memo"
	"github.com/lakesweep/lakesweep/sweep/internal/where"
	"github.com/lakesweep/lakesweep/table/delta/meta"
)

// joinMemory is what an anti-join sorts in where nobody says how much memory there is.
const joinMemory = 32 << 20

// join returns the anti-join of the run, ready for candidates, one of several that
// share the memory.
func (run *Run) join(several int) *antijoin.Join {
	memory := run.req.Memory / 4
	if memory == 0 {
		memory = joinMemory
	}
	traits := run.Reader.Traits()
	o := antijoin.Options{
		Protected: run.protected.Set,
		Cutoff:    run.cutoff,
		Hidden:    func(k lake.Key) bool { return !run.rules.Visible(k) },
		Reason:    run.reason(),
		Stat:      run.Reader.Stat,
		CaseFolds: traits.CaseFolds,
		Grain:     traits.ClockGrain,
		NotAfter:  run.inventory.Taken,
		Repeats:   run.req.Inventory != nil,
		Memory:    memory / int64(several),
		Absent:    run.gone,
		Observe:   run.host.Observe,
	}
	if o.Repeats {
		o.Inside = run.Insides()
	}
	if run.where != nil {
		var within func(lake.Key) bool
		if run.narrow {
			within = run.expectedIn()
		}
		o.Match, o.DirMatch = run.where.Match(run.protected, within), run.where.DirMatches
	}
	return antijoin.New(o)
}

// reason says why an unprotected old object is dead.
func (run *Run) reason() func(lake.Key) antijoin.Removal {
	schema := where.Schema(run.meta)
	values := memo.ByDir(func(dir lake.Key) lake.Partition {
		// A copy, for what is remembered would hold the whole page that the name is a part of.
		values, _ := predicate.FromPath(lake.Key(strings.Clone(string(dir)))+"/", schema)
		return values
	})
	return func(k lake.Key) antijoin.Removal {
		if r, ok := run.protected.Removed(k); ok {
			removal := antijoin.Removal{Reason: r.Reason, Time: r.Time}
			if len(r.Partitions) == 1 {
				removal.Partition = r.Partitions[0]
			}
			return removal
		}
		return antijoin.Removal{Reason: lake.Orphan, Partition: values(k.Dir())}
	}
}

// list feeds the table's objects to j, whole or as far as WHERE needs them.
func (run *Run) list(ctx context.Context, j *antijoin.Join) (listing.Stats, error) {
	o := listing.Options{
		Workers:  run.req.Workers,
		Expected: run.protected.Set.Len(),
		Observer: run.host.Observe,
		Enter:    run.enter(j),
	}
	if !listing.Fans(run.Reader.Traits()) {
		o.Within = listing.Except(meta.LogDir)
		if run.where != nil {
			o.Reach = run.reach()
		}
	}
	for _, k := range run.protected.Seeds {
		o.Seeds = append(o.Seeds, string(k))
	}
	o.PerSeed = float64(run.protected.LiveFiles-run.protected.OutsideFiles) / float64(max(len(o.Seeds), 1))
	return listing.Walk(ctx, run.Reader, o, func(batch []store.Info) error { return j.Batch(ctx, batch) })
}

// enter decides about each directory where the store lists directories: what
// is hidden, foreign or out of WHERE's reach isn't entered.
func (run *Run) enter(j *antijoin.Join) func(context.Context, string, []store.Info) (listing.Decision, error) {
	needs := run.needsDir()
	descend := func(dir string) bool {
		k := lake.Listed(dir)
		return run.rules.Visible(k) && needs(k)
	}
	return func(ctx context.Context, dir string, entries []store.Info) (listing.Decision, error) {
		if dir != "" {
			foreign, err := run.Foreign(ctx, dir, entries)
			if err != nil {
				return listing.Decision{}, err
			}
			if foreign {
				j.Foreign(lake.Listed(dir))
				return listing.Decision{Drop: true}, nil
			}
		}
		for _, e := range entries {
			if e.Kind != store.Symlink {
				continue
			}
			if file, ok := run.Names.Target(lake.Listed(e.Name)); ok {
				j.Spare(file)
			}
		}
		j.Directory(dir, entries)
		return listing.Decision{Descend: descend}, nil
	}
}

// reach says where the store lists flat what WHERE needs of a directory. A
// hidden one is listed all the same: it may betray the table that it belongs to.
func (run *Run) reach() func(string) listing.Reach {
	needs := run.needsDir()
	return func(dir string) listing.Reach {
		k := lake.Listed(dir)
		switch {
		case dir == meta.LogDir:
			return listing.Nothing
		case !run.rules.Visible(k) || run.where.DirMatches(k):
			return listing.Whole
		case needs(k):
			return listing.Part
		}
		return listing.Nothing
	}
}
