package reap_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/reap"
	"github.com/lakesweep/lakesweep/store/mem"
	"github.com/lakesweep/lakesweep/table"
)

// BenchmarkRun measures what a run costs beside the store: 100,000 objects in
// batches of 1,000, journaled to a file.
func BenchmarkRun(b *testing.B) {
	var dead []string
	for i := range 100_000 {
		dead = append(dead, fmt.Sprintf("year=2023/month=07/part-%06d-0a1b2c3d-4e5f-6789-abcd-ef0123456789.c000.snappy.parquet", i))
	}
	objects := 0
	for b.Loop() {
		b.StopTimer()
		w := newWorld(b, mem.Default(), dead...)
		w.head.Evidence.LiveFiles = int64(len(dead))
		w.opt.Workers, w.opt.Outcome = 8, nil
		cleared := w.cleared()
		j, err := filelist.OpenJournal(b.Context(), journalFile(b), filelist.JournalHead{PlanID: "p1", Table: root.String()})
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		res, err := reap.Run(b.Context(), reap.Job{Cleared: cleared, Place: w.table, Guardian: w.watch, Recorder: quiet{}, Journal: j}, w.opt)
		if err != nil || res.Deleted != int64(len(dead)) {
			b.Fatal(res, err)
		}
		objects += len(dead)
	}
	b.ReportMetric(float64(objects)/b.Elapsed().Seconds(), "objects/s")
}

type quiet struct{}

func (quiet) Begin(context.Context, table.Intent) error    { return nil }
func (quiet) Confirm(context.Context, []lake.Key) error    { return nil }
func (quiet) Complete(context.Context, table.Result) error { return nil }
func (quiet) Fail(context.Context, table.Result) error     { return nil }
