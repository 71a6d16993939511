package cleandoc

import (
	"context"
	"fmt"
	"strings"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table/hudi/datafile"
	"github.com/lakesweep/lakesweep/table/hudi/folder"
	"github.com/lakesweep/lakesweep/table/hudi/snapshot"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// Pending returns the oldest clean that isn't complete with its plan, nil
// if there is none. One whose plan has no bytes, left by a crash, counts as
// none. A completed one without bytes counts as pending.
//
// Errors: Damaged for a plan that can't be read.
func Pending(ctx context.Context, t *snapshot.Table) (*timeline.Instant, timeline.CleanPlan, error) {
	for _, i := range t.Timeline.Instants {
		if i.Action != timeline.Clean {
			continue
		}
		if i.State == timeline.Completed {
			data, err := t.Timeline.Read(ctx, i, timeline.Completed)
			if err != nil || len(data) > 0 {
				if err != nil {
					return nil, timeline.CleanPlan{}, err
				}
				continue
			}
			return nil, timeline.CleanPlan{}, &lake.Error{Op: "read clean metadata", Key: lake.Key(t.Timeline.Dir + "/" + i.Files[timeline.Completed]), Kind: lake.Damaged, Err: fmt.Errorf("the completed clean has no bytes"),
				Hint: "Let a Hudi writer clean once, which repairs this, or remove the file if no writer runs."}
		}
		data, err := t.Timeline.Read(ctx, i, timeline.Requested)
		if err != nil {
			return nil, timeline.CleanPlan{}, err
		}
		if len(data) == 0 {
			t.Services.Warn("the pending clean " + i.Time + " has an empty plan and is passed over")
			continue
		}
		plan, err := timeline.DecodeCleanPlan(data)
		if err != nil {
			return nil, plan, fmt.Errorf("%s/%s: %w", t.Timeline.Dir, i.Files[timeline.Requested], err)
		}
		return &i, plan, nil
	}
	return nil, timeline.CleanPlan{}, nil
}

// Names returns the names that a clean's plan holds, by partition.
func Names(t *snapshot.Table, plan timeline.CleanPlan) (map[string]map[string]bool, error) {
	out := make(map[string]map[string]bool)
	add := func(partition, name string) error {
		if err := folder.Check(partition); err != nil {
			return err
		}
		if _, ok := datafile.Parse(name); !ok {
			return &lake.Error{Op: "read clean plan", Key: lake.Key(name), Kind: lake.Refused, Code: "pending_clean", Err: fmt.Errorf("the plan names what is no base or log file"),
				Hint: "Let Hudi finish its clean."}
		}
		if out[partition] == nil {
			out[partition] = make(map[string]bool)
		}
		out[partition][name] = true
		return nil
	}
	for partition, names := range plan.FilesV1 {
		for _, n := range names {
			if err := add(partition, lake.Key(n).Base()); err != nil {
				return nil, err
			}
		}
	}
	for partition, files := range plan.Files {
		for _, f := range files {
			if f.Bootstrap != nil && *f.Bootstrap {
				return nil, &lake.Error{Op: "read clean plan", Kind: lake.Unsupported, Err: fmt.Errorf("the plan deletes files that the table was bootstrapped from"), Hint: "Let Hudi finish its clean."}
			}
			if f.Path == nil {
				return nil, &lake.Error{Op: "read clean plan", Kind: lake.Damaged, Err: fmt.Errorf("a file without a path")}
			}
			name, err := nameIn(t, partition, *f.Path)
			if err == nil {
				err = add(partition, name)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// nameIn returns the name of a fully qualified path that must lie in a
// partition of this table.
func nameIn(t *snapshot.Table, partition, path string) (string, error) {
	if place, err := lake.ParsePlace(path); err == nil {
		for _, root := range append([]lake.Root{t.Root}, t.Options.Aliases...) {
			if !root.Contains(place) {
				continue
			}
			key := lake.Key(strings.TrimPrefix(strings.TrimPrefix(place.Path, root.Path), "/"))
			if string(key.Dir()) == partition && key.Base() != "" {
				return key.Base(), nil
			}
		}
	}
	return "", &lake.Error{Op: "read clean plan", Kind: lake.Refused, Code: "pending_clean", Err: fmt.Errorf("the pending clean would delete %s, which is not in the partition %q of this table", path, partition),
		Hint: "The table was copied or renamed with a clean pending. Remove the pending clean with Hudi's CLI (repair corrupted clean files) or by hand."}
}
