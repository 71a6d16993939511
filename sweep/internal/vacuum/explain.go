package vacuum

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table"
)

// Explain says why a path is protected or dead: what the log says of it under
// any spelling, and where the log is silent what its name and its storage time
// say.
func (run *Run) Explain(ctx context.Context, path string) (table.Explanation, error) {
	keys := run.Root.Named(path, run.Aliases...)
	if len(keys) == 0 {
		return table.Explanation{}, run.Invalid(fmt.Sprintf("%q lies outside the table", path), "Name a path below the table's root.")
	}
	key, info, err := run.find(ctx, keys)
	if err != nil {
		return table.Explanation{}, err
	}
	x, err := run.table.Explain(ctx, key, run.cutoff)
	if err != nil {
		return x, err
	}
	x.Path = string(key)
	switch {
	case x.Verdict != "":
	case !run.rules.Visible(key):
		x.Verdict = "hidden"
		x.Because = append(x.Because, table.Because{Action: "hidden", Rule: "A name that begins with '_' or '.' is never a candidate, at any level, unless it is a partition folder or _change_data."})
	case info == nil:
	default:
		foreign, _, err := run.Insides()(ctx, key.Dir())
		if err != nil {
			return x, err
		}
		x = run.byAge(x, info.Modified, string(foreign))
	}
	if info == nil {
		if x.Verdict == "" {
			x.Verdict = "absent"
		}
		x.Because = append(x.Because, table.Because{Action: "absent", Rule: "Nothing stands there in storage."})
	}
	return x, nil
}

// find stats the readings of a path until one exists; else the first counts.
func (run *Run) find(ctx context.Context, keys []lake.Key) (lake.Key, *storeInfo, error) {
	for _, k := range keys {
		info, err := run.Reader.Stat(ctx, string(k))
		switch {
		case err == nil:
			return k, &storeInfo{info.Size, info.Modified}, nil
		case !errors.Is(err, fs.ErrNotExist):
			return "", nil, err
		}
	}
	return keys[0], nil, nil
}

type storeInfo struct {
	Size     int64
	Modified time.Time
}

func (run *Run) byAge(x table.Explanation, modified time.Time, foreign string) table.Explanation {
	because := func(action, format string, args ...any) {
		x.Because = append(x.Because, table.Because{Action: action, Rule: fmt.Sprintf(format, args...)})
	}
	stamp := func(t time.Time) string { return t.UTC().Format(time.RFC3339) }
	switch {
	case foreign != "":
		x.Verdict = "foreign"
		because("foreign", "It lies in %s, which is a table of its own.", foreign)
	case modified.IsZero() || !modified.Before(run.cutoff):
		x.Verdict = "young"
		because("age", "It was modified at %s, not before the cutoff %s.", stamp(modified), stamp(run.cutoff))
	default:
		x.Verdict = "dead"
		because("age", "Nothing in the log needs it, and it was modified at %s, before the cutoff %s.", stamp(modified), stamp(run.cutoff))
	}
	return x
}
