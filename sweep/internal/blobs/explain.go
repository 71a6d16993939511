package blobs

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table"
	"github.com/lakesweep/lakesweep/table/hudi/blob"
	"github.com/lakesweep/lakesweep/table/hudi/blob/shape"
	"github.com/lakesweep/lakesweep/table/hudi/blobqueue"
)

// mostReferences bounds how many references explain lists of one blob.
const mostReferences = 100

// Explain names the files, records and instants that refer to a blob,
// under any spelling. Every file of the table is read.
func (t *Table) Explain(ctx context.Context, uri string) (table.Explanation, error) {
	x := table.Explanation{Path: uri}
	_, others, err := t.others(ctx)
	if err != nil {
		return x, err
	}
	names, err := t.names(others)
	if err != nil {
		return x, err
	}
	forms := names.Forms(lake.BlobID(uri))
	var committed, pending []table.Because
	more := 0
	emit := func(f blob.File, r shape.Reference, _ bool) error {
		if !slices.ContainsFunc(names.Forms(lake.BlobID(r.Path)), func(form string) bool { return slices.Contains(forms, form) }) {
			return nil
		}
		if len(committed)+len(pending) == mostReferences {
			more++
			return nil
		}
		because := table.Because{Instant: f.Instant, Action: "reference", Rule: refers(f, r, uri)}
		if f.Inflight || r.Pending {
			because.Action = "inflight"
			pending = append(pending, because)
		} else {
			committed = append(committed, because)
		}
		return nil
	}
	unread := func(f blob.File, err error) error {
		pending = append(pending, table.Because{Instant: f.Instant, Action: "unreadable", Rule: fmt.Sprintf("%s can't be read, and may refer to it: %v", f.Key, err)})
		return nil
	}
	o := t.judgeOptions(names)
	o.Keys = true
	if err := blob.References(ctx, o, nil, t.Hudi.DataFiles(ctx), emit, unread); err != nil {
		return x, err
	}
	byRule := func(a, b table.Because) int { return strings.Compare(a.Instant+a.Rule, b.Instant+b.Rule) }
	slices.SortFunc(committed, byRule)
	slices.SortFunc(pending, byRule)
	x.Because = append(committed, pending...)
	if more > 0 {
		x.Because = append(x.Because, table.Because{Action: "reference", Rule: fmt.Sprintf("%d more references", more)})
	}
	_, standing := names.Place(lake.BlobID(uri))
	switch {
	case len(committed) > 0:
		x.Verdict = "live"
	case len(pending) > 0:
		x.Verdict = "young"
	case standing == lake.InsideTable || len(t.Request.Roots) > 0 && standing != lake.MayDie:
		x.Verdict = "foreign"
		x.Because = append(x.Because, table.Because{Action: standing.String(), Rule: "No file of the table refers to it, and it is never deleted: " + strings.ReplaceAll(standing.String(), "_", " ") + "."})
	default:
		x.Verdict = "dead"
		x.Because = append(x.Because, table.Because{Action: "unreferenced", Rule: "No file of the table refers to it. It is deleted only if a clean queued it."})
	}
	return x, t.explainQueued(ctx, names, forms, &x)
}

// explainQueued adds that a blob waits in the table's queue.
func (t *Table) explainQueued(ctx context.Context, names *lake.BlobNames, forms []string, x *table.Explanation) error {
	snap, err := blobqueue.New(t.Reader, nil, nil, blobqueue.Tuning{}).Load(ctx)
	if err != nil || snap.Meta.Entries == 0 {
		return err
	}
	for entry, err := range snap.Entries(ctx) {
		if err != nil {
			return err
		}
		if slices.ContainsFunc(names.Forms(lake.BlobID(entry.Path)), func(form string) bool { return slices.Contains(forms, form) }) {
			x.Because = append(x.Because, table.Because{Instant: entry.Enqueued, Action: "queued", Rule: fmt.Sprintf("It waits in the queue as %q since the clean %s let its last known reference go.", entry.Path, entry.Source)})
		}
	}
	return nil
}

func refers(f blob.File, r shape.Reference, uri string) string {
	rule := string(f.Key) + " refers to it in " + r.Column
	if r.RecordKey != "" {
		rule += fmt.Sprintf(", record %q", r.RecordKey)
	}
	if !r.Managed {
		rule += ", unmanaged"
	}
	if r.Path != uri {
		rule += fmt.Sprintf(", spelled %q", r.Path)
	}
	return rule
}
