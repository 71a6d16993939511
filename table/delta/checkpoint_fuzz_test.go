package delta_test

import (
	"testing"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table/delta"
	"github.com/lakesweep/lakesweep/table/delta/deltatest"
)

// FuzzCheckpoint damages a byte range of a checkpoint. Whatever happens, it
// must be an error or all live files: never fewer, never a panic.
func FuzzCheckpoint(f *testing.F) {
	f.Add(uint8(0), uint16(4), uint8(1), uint8(0xff))
	f.Add(uint8(2), uint16(100), uint8(3), uint8(0))
	f.Add(uint8(1), uint16(9999), uint8(8), uint8(7))
	f.Fuzz(func(t *testing.T, kind uint8, at uint16, n, with uint8) {
		f := eleven(t)
		dv, _ := deltatest.UUIDVector("", 1, 1)
		f.Commit(day(11), deltatest.NewAdd("withvector", 1).WithDV(dv), deltatest.NewRemove("f3", day(11)))
		names := f.Checkpoint(11, day(12), deltatest.Checkpoint{Kind: deltatest.Kind(kind % 4)})
		f.Checksum(11, day(12))
		f.remove(t, commitsTo(10)...)
		name := names[int(at)%len(names)]
		body := f.read(t, name)
		for i := range int(n) {
			body[(int(at)+i)%len(body)] = with
		}
		f.Put(name, body, day(12))
		tab, err := f.open(t)
		if err != nil {
			return
		}
		p, err := tab.Protect(t.Context(), delta.ProtectRequest{Cutoff: day(50), Partitions: true})
		if err != nil {
			if k := lake.KindOf(err); k != lake.Damaged && k != lake.Unsupported {
				t.Fatalf("%v (%v)", err, k)
			}
			return
		}
		if p.LiveFiles != 11 {
			t.Fatalf("%d live files", p.LiveFiles)
		}
	})
}
