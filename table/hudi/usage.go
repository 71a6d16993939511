package hudi

import (
	"context"
	"strings"
	"sync"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table"
	"github.com/lakesweep/lakesweep/table/hudi/cleanplan"
	"github.com/lakesweep/lakesweep/table/hudi/folder"
	"github.com/lakesweep/lakesweep/table/hudi/retain"
)

// Usage counts files and bytes of each partition: live in the newest slices,
// held for history, dead under the policy, and unknown. emit is called by one
// goroutine at a time.
//
// Errors: as Plan and Verdicts, but for Plan's refusal while writes are taken back: nothing is dead then.
func (t *Table) Usage(ctx context.Context, c retain.Config, emit func(table.Usage) error) error {
	c.Incremental = false
	p, err := t.look(ctx, c)
	if err != nil {
		return err
	}
	start, descend, err := t.snap.Folders.All()
	if err != nil {
		return t.snap.Wrap(err)
	}
	var mu sync.Mutex
	_, err = t.snap.Folders.Walk(ctx, start, descend, func(ctx context.Context, f folder.Partition) error {
		u, err := t.usage(ctx, p, f)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		return emit(u)
	})
	return t.snap.Wrap(err)
}

func (t *Table) usage(ctx context.Context, p *cleanplan.Plan, f folder.Partition) (table.Usage, error) {
	u := table.Usage{Partition: t.partitionValues(f.Path)}
	var err error
	add := func(to *[2]int64) func(*folder.File) {
		return func(one *folder.File) {
			if one.Missing || err != nil {
				return
			}
			size := one.Size
			if size < 0 {
				var info store.Info
				if info, err = t.snap.Reader.Stat(ctx, string(f.Key(one.Name))); err != nil {
					return
				}
				size = info.Size
			}
			to[0]++
			to[1] += size
		}
	}
	for i := range f.Unlisted {
		add(&u.Unknown)(&f.Unlisted[i])
	}
	groups, gerr := t.snap.View.Groups(ctx, f.Path, f.Files)
	if gerr != nil {
		return u, gerr
	}
	for _, g := range groups {
		for _, s := range g.Hidden {
			s.Files(add(&u.Unknown))
		}
		rulings, err := p.Rulings(&g, nil)
		if err != nil {
			return u, err
		}
		for _, v := range rulings {
			switch v.Verdict() {
			case "dead":
				v.Slice.Files(add(&u.Dead))
			case "live":
				v.Slice.Files(add(&u.Live))
			default:
				v.Slice.Files(add(&u.History))
			}
		}
	}
	return u, err
}

// partitionValues reads a partition path: in Hive style by its names, else by
// the order of the table's fields; as one column where neither fits.
func (t *Table) partitionValues(path string) lake.Partition {
	if path == "" {
		return lake.Partition{}
	}
	var fields []string
	for f := range strings.SplitSeq(t.snap.Properties["hoodie.table.partition.fields"], ",") {
		name, _, _ := strings.Cut(f, ":")
		fields = append(fields, name)
	}
	parts := strings.Split(path, "/")
	if len(parts) != len(fields) {
		return lake.Partition{{Column: strings.Join(fields, ","), Value: path}}
	}
	out := make(lake.Partition, len(parts))
	for i, part := range parts {
		out[i] = lake.PartitionValue{Column: fields[i], Value: strings.TrimPrefix(part, fields[i]+"=")}
	}
	return out
}
