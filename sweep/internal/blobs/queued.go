package blobs

import (
	"context"
	"fmt"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/lake/keyset"
	"github.com/lakesweep/lakesweep/table/hudi/blobqueue"
)

// queued adds the blobs to the plan's rows that wait in the table's queue and
// whose grace time is over. A blob that the clean lets go once more waits anew.
//
// Memory: 10 bytes a blob that the clean lets go, and a part of the queue.
func (p *Planner) queued(ctx context.Context, rows *filelist.Sorter, totals *filelist.Totals) error {
	snap, err := blobqueue.New(p.t.Reader, nil, nil, blobqueue.Tuning{}).Load(ctx)
	if err != nil || snap.Meta.Entries == 0 {
		return err
	}
	fresh := keyset.New()
	for v, err := range rows.Sorted() {
		if err != nil {
			return err
		}
		if v.URI != "" {
			fresh.Add(lake.Key(v.URI))
		}
	}
	again, grace := fresh.Done(), p.due.Sub(p.t.Began)
	for e, err := range snap.Entries(ctx) {
		if err != nil {
			return err
		}
		p.counts.Queued++
		due := e.At.Add(grace)
		if e.At.IsZero() || !due.Before(p.t.Began) || again.Has(lake.Key(e.Path)) {
			continue
		}
		p.counts.Due++
		v := lake.Verdict{URI: e.Path, Size: e.Size, Modified: e.Modified, ETag: e.ETag, Reason: lake.ExpiredBlob, DueAt: due}
		totals.Count(&v)
		if err := rows.Add(v); err != nil {
			return err
		}
	}
	if p.counts.Due == 0 {
		return nil
	}
	held, err := heldBy(ctx, p.t)
	if held != "" {
		p.notes = append(p.notes, fmt.Sprintf("the %d blobs that are due wait: %s", p.counts.Due, held))
	}
	return err
}
