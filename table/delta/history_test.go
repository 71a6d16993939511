package delta_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table/delta"
	"github.com/lakesweep/lakesweep/table/delta/deltatest"
	"github.com/lakesweep/lakesweep/table/delta/meta"
)

const week = 7 * 24 * time.Hour

// B016: a path added, removed and added again is live, for FULL and LITE.
func TestB016ReAdded(t *testing.T) {
	f := newFixture(t)
	f.Commit(day(0), deltatest.NewAdd("f", 1))
	f.Commit(day(1), deltatest.NewRemove("f", day(1)))
	f.Commit(day(40), deltatest.NewAdd("f", 1))
	kept(t, f.protect(t, delta.ProtectRequest{Cutoff: day(93)}), keys("f"))
	if got, err := f.lite(t, day(93)); err != nil || len(got) != 0 {
		t.Errorf("lite: %q, %v", got, err)
	}
}

// B027: identity is (path, vector); restoring brings the file back without it.
func TestB027RestoredWithoutItsVector(t *testing.T) {
	dv, file := deltatest.UUIDVector("", 1, 1)
	f := newFixture(t)
	add, remove := deltatest.NewAdd("f", 1), func(n float64) deltatest.Action { return deltatest.NewRemove("f", day(n)) }
	f.Commit(day(0), add)
	f.Commit(day(1), remove(1), add.WithDV(dv))
	f.Commit(day(2), remove(2).WithDV(dv), add)
	kept(t, f.protect(t, delta.ProtectRequest{Cutoff: day(2).Add(time.Hour)}), keys("f"), lake.Key(file))
	kept(t, f.protect(t, delta.ProtectRequest{Cutoff: day(2).Add(-time.Hour)}), keys("f", lake.Key(file)))
	p := f.protect(t, delta.ProtectRequest{Cutoff: day(50)})
	if r, ok := p.Removed(lake.Key(file)); !ok || r.Reason != lake.DeletionVector || !r.Time.Equal(day(2)) {
		t.Errorf("%+v, %v", r, ok)
	}
}

// A deletion vector update looks like a removal to whoever keys by path alone.
func TestVectorUpdateIsNoRemoval(t *testing.T) {
	dv1, file1 := deltatest.UUIDVector("ab", 1, 1)
	dv2, file2 := deltatest.UUIDVector("ab", 2, 1)
	shared := dv2
	offset := int32(77)
	shared.Offset = &offset
	f := newFixture(t)
	add := deltatest.NewAdd("f", 1)
	f.Commit(day(0), add.WithDV(dv1), deltatest.NewAdd("g", 1))
	f.Commit(day(1), add.WithDV(dv2), deltatest.NewRemove("f", day(1)).WithDV(dv1), deltatest.NewRemove("g", day(1)), deltatest.NewAdd("g", 1).WithDV(shared))
	p := f.protect(t, delta.ProtectRequest{Cutoff: day(50)})
	kept(t, p, keys("f", "g", lake.Key(file2)), lake.Key(file1))
	if p.LiveDVs != 1 || p.LiveFiles != 2 {
		t.Errorf("%d vectors of %d files", p.LiveDVs, p.LiveFiles)
	}
}

// B028, O5: no deletionTimestamp, or one long before the commit.
func TestO5DeletionTimestampMissingOrEarly(t *testing.T) {
	f := newFixture(t)
	f.Commit(day(0), deltatest.NewAdd("none", 1), deltatest.NewAdd("early", 1), deltatest.NewAdd("zero", 1), deltatest.NewAdd("seconds", 1), deltatest.NewAdd("late", 1))
	none, zero, seconds := deltatest.NewRemove("none", day0), deltatest.NewRemove("zero", time.UnixMilli(0)), deltatest.NewRemove("seconds", day0)
	none.Remove.DeletionTimestamp = nil
	s := day(30).Unix()
	seconds.Remove.DeletionTimestamp = &s
	f.Commit(day(20), none, zero, seconds, deltatest.NewRemove("early", day(10)), deltatest.NewRemove("late", day(40)))
	kept(t, f.protect(t, delta.ProtectRequest{Cutoff: day(19)}), keys("none", "early", "zero", "seconds", "late"))
	kept(t, f.protect(t, delta.ProtectRequest{Cutoff: day(21)}), keys("seconds", "late"), "none", "early", "zero")
	kept(t, f.protect(t, delta.ProtectRequest{Cutoff: day(35)}), keys("late"), "seconds")
	kept(t, f.protect(t, delta.ProtectRequest{Cutoff: day(41)}), nil, "none", "early", "zero", "seconds", "late")
}

// The cutoff itself is inside the window.
func TestRemovedAtTheCutoffIsNeeded(t *testing.T) {
	dv1, file1 := deltatest.UUIDVector("", 1, 1)
	dv2, file2 := deltatest.UUIDVector("", 2, 1)
	f := newFixture(t)
	f.Commit(day(0), deltatest.NewAdd("f", 1), deltatest.NewAdd("g", 1).WithDV(dv1))
	f.Commit(day(1), deltatest.NewRemove("f", day(1)), deltatest.NewRemove("g", day(1)).WithDV(dv1), deltatest.NewAdd("g", 1).WithDV(dv2))
	kept(t, f.protect(t, delta.ProtectRequest{Cutoff: day(1)}), keys("f", "g", lake.Key(file1), lake.Key(file2)))
	kept(t, f.protect(t, delta.ProtectRequest{Cutoff: day(1).Add(time.Millisecond)}), keys("g", lake.Key(file2)), "f", lake.Key(file1))
}

// O4, B032: RETAIN above the property. The commits know what checkpoints forgot.
func TestO4RetainAboveProperty(t *testing.T) {
	make := func() *fixture {
		f := newFixture(t)
		f.Configure("delta.deletedFileRetentionDuration", "interval 7 days")
		f.Commit(day(50), deltatest.NewAdd("f", 1), deltatest.NewAdd("g", 1))
		f.Commit(day(86), deltatest.NewRemove("f", day(86)))
		f.Commit(day(98), deltatest.NewRemove("g", day(98)))
		f.Checkpoint(2, day(98.1), deltatest.Checkpoint{Keep: day(91)})
		return f
	}
	f := make()
	p := f.protect(t, delta.ProtectRequest{Cutoff: day(80)})
	kept(t, p, keys("f", "g"))
	if p.HistoryGap != "" {
		t.Errorf("gap %q", p.HistoryGap)
	}
	f = make()
	f.remove(t, commitsTo(1)...)
	p = f.protect(t, delta.ProtectRequest{Cutoff: day(80)})
	kept(t, p, keys("g"))
	if !strings.Contains(p.HistoryGap, "commits before version 2 are gone") {
		t.Errorf("gap %q", p.HistoryGap)
	}
	if p = f.protect(t, delta.ProtectRequest{Cutoff: day(94)}); p.HistoryGap != "" {
		t.Errorf("gap %q within the property", p.HistoryGap)
	}
}

// O4: the property was raised after the checkpoint that forgot.
func TestO4PropertyRaised(t *testing.T) {
	f := newFixture(t)
	f.Configure("delta.deletedFileRetentionDuration", "interval 1 day")
	f.Commit(day(50), deltatest.NewAdd("f", 1))
	f.Commit(day(96), deltatest.NewRemove("f", day(96)))
	f.Commit(day(98))
	f.Checkpoint(2, day(98.1), deltatest.Checkpoint{Keep: day(97.1)})
	raised := f.MetaData
	raised.Configuration = map[string]string{"delta.deletedFileRetentionDuration": "interval 30 days"}
	f.Commit(day(99), deltatest.Action{MetaData: &raised})
	f.remove(t, commitsTo(1)...)
	if d, err := f.mustOpen(t).Retention(); err != nil || d != 30*24*time.Hour {
		t.Errorf("%v, %v", d, err)
	}
	if p := f.protect(t, delta.ProtectRequest{Cutoff: day(90)}); !strings.Contains(p.HistoryGap, "24h") {
		t.Errorf("gap %q", p.HistoryGap)
	}
}

// In a log cut short, a tombstone whose commit is unknown may be younger than it says.
func TestTombstoneOfUnknownCommitStays(t *testing.T) {
	f := newFixture(t)
	f.Commit(day(0), deltatest.NewAdd("f", 1), deltatest.NewAdd("g", 1))
	f.Commit(day(99), deltatest.NewRemove("f", day(92)))
	f.Commit(day(99.5))
	f.Checkpoint(1, day(99.1), deltatest.Checkpoint{Keep: day(90)})
	f.remove(t, commitsTo(1)...)
	kept(t, f.protect(t, delta.ProtectRequest{Cutoff: day(93)}), keys("f", "g"))
	kept(t, f.protect(t, delta.ProtectRequest{Cutoff: day(99.6)}), keys("g"), "f")
}

func TestInCommitTimestampsAreTheTimes(t *testing.T) {
	f := newFixture(t)
	f.Features(nil, []string{"inCommitTimestamp"}).Configure("delta.enableInCommitTimestamps", "true")
	info := func(n float64) deltatest.Action {
		return deltatest.Action{CommitInfo: map[string]any{"inCommitTimestamp": day(n).UnixMilli(), "operation": "WRITE"}}
	}
	f.Commit(day(90), info(0), deltatest.NewAdd("f", 1), deltatest.NewAdd("g", 1))
	f.Commit(day(90), info(10), deltatest.NewRemove("f", day(9)))
	f.Commit(day(90), info(20), deltatest.NewRemove("g", day(9)))
	kept(t, f.protect(t, delta.ProtectRequest{Cutoff: day(15)}), keys("g"), "f")
	f.Checkpoint(2, day(91), deltatest.Checkpoint{})
	kept(t, f.protect(t, delta.ProtectRequest{Cutoff: day(15)}), keys("g"), "f")
	r, err := f.mustOpen(t).LiteRange(t.Context(), delta.LiteRequest{Cutoff: day(15)})
	if err != nil || r.Last != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	if at := f.mustOpen(t).Info().Committed; !at.Equal(day(20)) {
		t.Errorf("committed %v", at)
	}
}

// O2, B008: vectors with absolute paths inside the root are the table's own.
func TestO2AbsoluteVectorInside(t *testing.T) {
	f := newFixture(t)
	dv := deltatest.DV{StorageType: "p", PathOrInlineDv: "mem:/t/sub/dv%20x.bin"}
	out := deltatest.DV{StorageType: "p", PathOrInlineDv: "mem:/elsewhere/dv.bin"}
	inline := deltatest.DV{StorageType: "i", PathOrInlineDv: "wi5b=000010000siXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L"}
	f.Commit(day(0), deltatest.NewAdd("f", 1).WithDV(dv), deltatest.NewAdd("g", 1).WithDV(out), deltatest.NewAdd("h", 1).WithDV(inline))
	p := f.protect(t, delta.ProtectRequest{Cutoff: day(50)})
	kept(t, p, keys("f", "g", "h", "sub/dv x.bin"))
	if p.LiveDVs != 1 {
		t.Errorf("%d vectors", p.LiveDVs)
	}
	var outside []string
	for path, err := range f.mustOpen(t).OutsidePaths(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		outside = append(outside, path)
	}
	if d := cmp.Diff([]string{"mem:/elsewhere/dv.bin"}, outside); d != "" {
		t.Error(d)
	}
}

func TestVectorsThatCantBeResolvedEndTheRun(t *testing.T) {
	for name, c := range map[string]struct {
		dv   deltatest.DV
		kind lake.Kind
	}{
		"adaptive metadata": {deltatest.DV{StorageType: "r", PathOrInlineDv: "x.bin"}, lake.Unsupported},
		"unknown":           {deltatest.DV{StorageType: "z", PathOrInlineDv: "x"}, lake.Unsupported},
		"short":             {deltatest.DV{StorageType: "u", PathOrInlineDv: "abc"}, lake.Damaged},
		"no z85":            {deltatest.DV{StorageType: "u", PathOrInlineDv: "~~~~~~~~~~~~~~~~~~~~"}, lake.Damaged},
		"leads out":         {deltatest.DV{StorageType: "u", PathOrInlineDv: "../xab^-aqEH.-t@S}K{vb[*"}, lake.Damaged},
		"relative p":        {deltatest.DV{StorageType: "p", PathOrInlineDv: "x.bin"}, lake.Damaged},
		"unknown scheme":    {deltatest.DV{StorageType: "p", PathOrInlineDv: "dbfs:/t/x.bin"}, lake.Unsupported},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.Commit(day(0), deltatest.NewAdd("f", 1).WithDV(c.dv))
			f.refused(t, c.kind, day(50))
			f.Checkpoint(0, day(1), deltatest.Checkpoint{})
			f.refused(t, c.kind, day(50))
		})
	}
}

// O1: over-encoded, lower-case-hex and once-decoded paths are the file's name.
// O9: own files by absolute path in every spelling.
func TestO1O9Spellings(t *testing.T) {
	f := newFixture(t)
	f.root = lake.Root{Scheme: "s3", Authority: "b", Path: "my t#1%2B"}
	for _, p := range []string{"a%3Db.parquet", "caf%c3%a9.parquet", "sub/a%3Ab.parquet", "p=50%2525/f1", "./x", "s//y", "x+y",
		"s3://b/my%20t%231%252B/one", "S3A://b/my%20t%231%252B/two", "s3n://b/my%20t%231%252B/p=1/three", "s3://access-point/my%20t%231%252B/maybe", "s3://other/folder/no"} {
		f.Commit(day(float64(f.Next())), deltatest.NewAdd(p, 1))
	}
	f.Checkpoint(f.Next()-1, day(20), deltatest.Checkpoint{})
	want := keys("a=b.parquet", "café.parquet", "sub/a:b.parquet", "p=50%25/f1", "x", "s/y", "s//y", "x+y", "one", "two", "p=1/three", "maybe")
	p := f.protect(t, delta.ProtectRequest{Cutoff: day(50)})
	kept(t, p, want, "no")
	if p.OutsideFiles != 2 || p.LiveFiles != 12 {
		t.Errorf("%d outside of %d", p.OutsideFiles, p.LiveFiles)
	}
}

// O10, B037: change data within the window stays, wherever it lies.
func TestO10ChangeData(t *testing.T) {
	f := newFixture(t)
	f.Configure("delta.enableChangeDataFeed", "true")
	f.Commit(day(0), deltatest.NewAdd("f", 1))
	f.Commit(day(10), deltatest.NewCDC("_change_data/old.parquet", 7))
	f.Commit(day(20), deltatest.NewCDC("xY/cdc-new.parquet", 7))
	p := f.protect(t, delta.ProtectRequest{Cutoff: day(15)})
	kept(t, p, keys("f", "xY/cdc-new.parquet"), "_change_data/old.parquet")
	if r, ok := p.Removed("_change_data/old.parquet"); !ok || r.Reason != lake.ChangeData || r.Size != 7 || !r.Time.Equal(day(10)) {
		t.Errorf("%+v, %v", r, ok)
	}
	if p.OldestFeed != 2 {
		t.Errorf("oldest feed %d, want 2", p.OldestFeed)
	}
	if got, err := f.lite(t, day(15)); err != nil || cmp.Diff(keys("_change_data/old.parquet"), got) != "" {
		t.Errorf("lite: %q, %v", got, err)
	}
}

// The tombstones of vectors that dropping the feature leaves.
func TestVectorTombstonesAreKeptLikeRemoves(t *testing.T) {
	_, file := deltatest.UUIDVector("", 3, -1)
	f := newFixture(t)
	f.Commit(day(0), deltatest.NewAdd("f", 1))
	f.Commit(day(10), deltatest.NewRemove(file, day(10)))
	kept(t, f.protect(t, delta.ProtectRequest{Cutoff: day(9)}), keys("f", lake.Key(file)))
	p := f.protect(t, delta.ProtectRequest{Cutoff: day(11)})
	kept(t, p, keys("f"), lake.Key(file))
	if r, ok := p.Removed(lake.Key(file)); !ok || r.Reason != lake.DeletionVector {
		t.Errorf("%+v, %v", r, ok)
	}
}

// O13: a folding store is protected by folded keys too.
func TestO13CaseFold(t *testing.T) {
	f := newFixture(t)
	f.Commit(day(0), deltatest.NewAdd("P=A/F.parquet", 1))
	f.Commit(day(60), deltatest.NewCDC("Café", 1))
	p := f.protect(t, delta.ProtectRequest{Cutoff: day(50), CaseFold: true})
	kept(t, p, keys("P=A/F.parquet", lake.Key("p=a/f.PARQUET").Fold(), lake.Key("CAFE\u0301").Fold()))
	if all, _ := p.Set.Expected(); all != 1 {
		t.Errorf("%d expected", all)
	}
}

func TestKeepVersions(t *testing.T) {
	f := newFixture(t)
	for v := range 10 {
		actions := []deltatest.Action{deltatest.NewAdd(fmt.Sprintf("f%d", v), 1)}
		if v > 0 {
			actions = append(actions, deltatest.NewRemove(fmt.Sprintf("f%d", v-1), day(float64(v))))
		}
		f.Commit(day(float64(v)), actions...)
	}
	f.Checkpoint(4, day(4.5), deltatest.Checkpoint{})
	p := f.protect(t, delta.ProtectRequest{Cutoff: day(50), KeepVersions: []int64{2, 6}, Keep: keys("somebody/needs/this")})
	kept(t, p, keys("f2", "f6", "f9", "somebody/needs/this"), "f0", "f1", "f3", "f4", "f5", "f7", "f8")
	if all, _ := p.Set.Expected(); all != 1 {
		t.Errorf("%d expected", all)
	}
	f.remove(t, commitsTo(3)...)
	for _, v := range []int64{2, 10, -1} {
		if _, err := f.mustOpen(t).Protect(t.Context(), delta.ProtectRequest{KeepVersions: []int64{v}}); lake.KindOf(err) != lake.Invalid {
			t.Errorf("version %d: %v", v, err)
		}
	}
	kept(t, f.protect(t, delta.ProtectRequest{Cutoff: day(50), KeepVersions: []int64{4, 5}}), keys("f4", "f5"), "f6")
}

func TestPartitionsOfRemovedFiles(t *testing.T) {
	v := deltatest.Value
	f := newFixture(t)
	f.Partition("year", "month")
	a := map[string]*string{"year": v("2023"), "month": v("07")}
	b := map[string]*string{"year": v("2024"), "month": nil}
	short := map[string]*string{"year": v("2023")}
	dv, file := deltatest.UUIDVector("", 1, 0)
	f.Commit(day(0), deltatest.NewAdd("wrong/dir/f", 1).WithValues(a), deltatest.NewAdd("g", 1).WithValues(a), deltatest.NewAdd("h", 1).WithValues(b).WithDV(dv),
		deltatest.NewAdd("s", 1).WithValues(short), deltatest.NewAdd("live", 1).WithValues(b))
	f.Commit(day(1), deltatest.NewRemove("wrong/dir/f", day(1)).WithValues(nil), deltatest.NewRemove("g", day(1)).WithValues(a),
		deltatest.NewRemove("h", day(1)).WithValues(b).WithDV(dv), deltatest.NewRemove("s", day(1)).WithValues(short))
	f.Commit(day(2), deltatest.NewAdd("g", 1).WithValues(b))
	f.Commit(day(3), deltatest.NewRemove("g", day(3)).WithValues(b))
	check := func(t *testing.T) {
		p := f.protect(t, delta.ProtectRequest{Cutoff: day(50), Partitions: true})
		pa := lake.Partition{{Column: "year", Value: "2023"}, {Column: "month", Value: "07"}}
		pb := lake.Partition{{Column: "year", Value: "2024"}, {Column: "month", Null: true}}
		for k, want := range map[lake.Key][]lake.Partition{
			"wrong/dir/f": {pa}, "g": {pa, pb}, "h": {pb}, lake.Key(file): {pb}, "s": {{{Column: "year", Value: "2023"}}},
		} {
			r, ok := p.Removed(k)
			if d := cmp.Diff(want, r.Partitions); !ok || d != "" {
				t.Errorf("%s: %v %s", k, ok, d)
			}
		}
		if _, ok := p.Removed("orphan"); ok {
			t.Error("an orphan is known")
		}
		dirs := map[string]bool{}
		for _, d := range p.Partitions {
			for _, dir := range d.Dirs {
				dirs[fmt.Sprint(d.Values, dir)] = true
			}
		}
		if !dirs[fmt.Sprint(pa, "wrong/dir")] || !dirs[fmt.Sprint(pb, "")] {
			t.Errorf("directories %v", dirs)
		}
	}
	t.Run("commits", check)
	f.Checkpoint(1, day(1.5), deltatest.Checkpoint{})
	t.Run("checkpoint at 1", check)
	f.Checkpoint(3, day(3.5), deltatest.Checkpoint{Kind: deltatest.V2Parquet})
	t.Run("checkpoint at 3", check)
}

func TestColumnMappingGivesLogicalNames(t *testing.T) {
	f := newFixture(t)
	f.MetaData.PartitionColumns = []string{"p"}
	f.MetaData.SchemaString = `{"type":"struct","fields":[{"name":"p","type":"integer","nullable":true,"metadata":{"delta.columnMapping.id":1,"delta.columnMapping.physicalName":"col-7"}},{"name":"v","type":{"type":"array","elementType":"string","containsNull":true},"nullable":true,"metadata":{}}]}`
	f.Commit(day(0), deltatest.NewAdd("aB/f", 1).WithValues(map[string]*string{"col-7": deltatest.Value("1")}))
	f.Checkpoint(0, day(1), deltatest.Checkpoint{})
	f.Commit(day(2))
	tab := f.mustOpen(t)
	m := tab.Metadata()
	if d := cmp.Diff([]meta.Column{{Name: "p", Physical: "col-7", Type: "integer"}}, m.PartitionColumns); d != "" || m.DataColumns[0] != "v" {
		t.Error(d, m.DataColumns)
	}
	for lf, err := range tab.LiveFiles(t.Context()) {
		if d := cmp.Diff(lake.Partition{{Column: "p", Value: "1"}}, lf.Partition); err != nil || d != "" {
			t.Error(err, d)
		}
	}
	if doc, err := json.Marshal(tab.Info()); err != nil || !strings.Contains(string(doc), `"partition_columns":["p"]`) {
		t.Errorf("%s %v", doc, err)
	}
}

func TestSeedsAreBoundedAndSorted(t *testing.T) {
	f := newFixture(t)
	var actions []deltatest.Action
	for i := range 20_000 {
		actions = append(actions, deltatest.NewAdd(fmt.Sprintf("p=%d/f%05d", i%7, i), 1))
	}
	f.Commit(day(0), actions...)
	p := f.protect(t, delta.ProtectRequest{Cutoff: day(50)})
	if n := len(p.Seeds); n < 2000 || n > 5000 {
		t.Errorf("%d seeds", n)
	}
	for i := range p.Seeds[1:] {
		if p.Seeds[i] >= p.Seeds[i+1] {
			t.Fatal("not sorted")
		}
	}
}
