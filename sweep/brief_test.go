package sweep

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lakesweep/lakesweep/table/delta/deltatest"
)

// TestMetadataFarDownALongCommit changes retention, and brings the partition
// column, behind a megabyte of adds: plans go by it as by any other.
func TestMetadataFarDownALongCommit(t *testing.T) {
	for property, dead := range map[string]int64{"interval 1 day": 2, "interval 20 days": 0} {
		w := newWorld(t)
		w.live("p=1/a", 40*24*hour)
		w.file("p=1/orphan", 3*24*hour)
		w.file("p=2/orphan", 3*24*hour)
		var long []deltatest.Action
		for i := range 70 {
			name := fmt.Sprintf("p=1/b%d", i)
			w.file(name, 39*24*hour)
			a := deltatest.NewAdd(name, 9)
			a.Add.Stats = strings.Repeat("s", 16<<10)
			long = append(long, a)
		}
		m := w.MetaData
		m.PartitionColumns, m.SchemaString = []string{"p"}, deltatest.Schema("p", "value")
		m.Configuration = map[string]string{"delta.deletedFileRetentionDuration": property}
		w.commit(39*24*hour, append(long, deltatest.Action{MetaData: &m})...)
		for where, share := range map[string]int64{"": 2, "p = '2'": 1} {
			p, err := w.e.Plan(t.Context(), PlanRequest{Table: w.dir, Mode: "full", Where: where}, "")
			if err != nil {
				t.Fatal(err)
			}
			if got, want := p.Head().Totals.Dead, dead*share/2; got != want {
				t.Errorf("%s, where %q: %d dead, want %d", property, where, got, want)
			}
			closePlan(t, p)
		}
	}
}
