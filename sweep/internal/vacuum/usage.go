package vacuum

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/predicate"
	"github.com/lakesweep/lakesweep/listing"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/sweep/internal/where"
	"github.com/lakesweep/lakesweep/table"
	"github.com/lakesweep/lakesweep/table/delta/meta"
)

// Usage counts files and bytes by partition, in the order of their values: live
// in the newest version, held for history, dead, and unknown (too young to
// tell). Live files count in the partition that the log says, others in the one
// their directories say; a nil Partition gathers what neither tells.
func (run *Run) Usage(ctx context.Context) (rows []table.Usage, err error) {
	if err := run.protect(ctx, nil); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, run.Close()) }()
	u := &usage{run: run, rows: map[string]*table.Usage{}, schema: where.Schema(run.meta)}
	for f, err := range run.table.LiveFiles(ctx) {
		if err != nil {
			return nil, err
		}
		add(&u.row(f.Partition).Live, f.Size)
	}
	o := listing.Options{Workers: run.req.Workers, Observer: run.host.Observe, Enter: u.enter}
	if _, err := listing.Walk(ctx, run.Reader, o, func(batch []store.Info) error { return u.batch(ctx, batch) }); err != nil {
		return nil, err
	}
	return u.sorted(), nil
}

type usage struct {
	run    *Run
	schema predicate.Schema
	mu     sync.Mutex
	rows   map[string]*table.Usage
}

func (u *usage) enter(ctx context.Context, dir string, entries []store.Info) (listing.Decision, error) {
	if dir != "" {
		if foreign, err := u.run.Foreign(ctx, dir, entries); err != nil || foreign {
			return listing.Decision{Drop: true}, err
		}
	}
	return listing.Decision{Descend: func(dir string) bool { return u.run.rules.Visible(lake.Listed(dir)) }}, nil
}

// batch counts what isn't a live data file: those came from the log.
func (u *usage) batch(ctx context.Context, batch []store.Info) error {
	for _, info := range batch {
		k := lake.Listed(info.Name)
		if _, foreign := meta.ForeignRoot(k); info.Kind != store.File || foreign || !u.run.rules.Visible(k) {
			continue
		}
		protected := u.run.protected.Set.Has(k)
		live := protected && u.run.protected.Set.Expects(k)
		if live && !strings.HasSuffix(info.Name, ".bin") {
			continue
		}
		if info.Size < 0 {
			full, err := u.run.Reader.Stat(ctx, info.Name)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return err
			}
			info.Size, info.Modified = full.Size, full.Modified
		}
		values, _ := predicate.FromPath(k, u.schema)
		if len(u.schema.Partition) == 0 {
			values = lake.Partition{} // all of a table without partitions is one
		}
		u.mu.Lock()
		row := u.row(values)
		switch {
		case live:
			add(&row.Live, info.Size)
		case protected:
			add(&row.History, info.Size)
		case info.Modified.Before(u.run.cutoff):
			add(&row.Dead, info.Size)
		default:
			add(&row.Unknown, info.Size)
		}
		u.mu.Unlock()
	}
	return nil
}

func (u *usage) row(values lake.Partition) *table.Usage {
	var name strings.Builder
	for _, v := range values {
		if v.Null {
			v.Value = "\x01"
		}
		name.WriteString(v.Value + "\x00")
	}
	key := name.String()
	if values == nil {
		key = "\xff" // last
	}
	row := u.rows[key]
	if row == nil {
		row = &table.Usage{Partition: slices.Clone(values)}
		u.rows[key] = row
	}
	return row
}

func (u *usage) sorted() []table.Usage {
	var out []table.Usage
	for _, key := range slices.Sorted(maps.Keys(u.rows)) {
		out = append(out, *u.rows[key])
	}
	return out
}

func add(to *[2]int64, size int64) {
	to[0]++
	to[1] += max(size, 0)
}
