package delta_test

import (
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table/delta"
	"github.com/lakesweep/lakesweep/table/delta/deltatest"
)

// O7, B045: metadata/ of an Iceberg-readable table.
func TestO7UniForm(t *testing.T) {
	for name, c := range map[string]struct {
		key, value string
		features   []string
		hide       bool
	}{
		"on":     {"delta.universalFormat.enabledFormats", "iceberg", nil, true},
		"two":    {"delta.universalFormat.enabledFormats", "hudi, iceberg", nil, true},
		"hudi":   {"delta.universalFormat.enabledFormats", "hudi", nil, false},
		"off":    {"x", "y", nil, false},
		"compat": {"x", "y", []string{"icebergCompatV2"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.Configure(c.key, c.value)
			if c.features != nil {
				f.Features([]string{"columnMapping"}, c.features)
			}
			f.Commit(day(0))
			if got := f.mustOpen(t).Rules().HideMetadata; got != c.hide {
				t.Errorf("hidden: %v", got)
			}
		})
	}
	f := newFixture(t)
	f.Commit(day(0))
	newest := func() time.Time {
		t.Helper()
		got, err := delta.NewestIcebergMetadata(t.Context(), f.s)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if !newest().IsZero() {
		t.Error("no folder at all")
	}
	f.Data("metadata/v1.metadata.json", 1, day(9))
	f.Data("metadata/other.json", 1, day(11))
	if got := newest(); !got.Equal(day(9)) {
		t.Errorf("got %v: other files don't count", got)
	}
	f.Data("metadata/snap-1.avro", 1, day(10))
	if got := newest(); !got.Equal(day(10)) {
		t.Errorf("got %v, want the youngest", got)
	}
}

// O12: every refusing feature and version, before anything else.
func TestO12ProtocolGate(t *testing.T) {
	type p = deltatest.Protocol
	rw := func(names ...string) p {
		return p{MinReaderVersion: 3, MinWriterVersion: 7, ReaderFeatures: names, WriterFeatures: names}
	}
	w := func(names ...string) p { return p{MinReaderVersion: 1, MinWriterVersion: 7, WriterFeatures: names} }
	for name, c := range map[string]struct {
		p  p
		ok bool
	}{
		"1/2": {p{MinReaderVersion: 1, MinWriterVersion: 2}, true}, "2/6": {p{MinReaderVersion: 2, MinWriterVersion: 6}, true},
		"0/2": {p{MinReaderVersion: 0, MinWriterVersion: 2}, false}, "4/7": {p{MinReaderVersion: 4, MinWriterVersion: 7, WriterFeatures: []string{"x"}}, false},
		"1/8":              {p{MinReaderVersion: 1, MinWriterVersion: 8}, false},
		"3/7 without list": {p{MinReaderVersion: 3, MinWriterVersion: 7}, false},
		"reader list only": {p{MinReaderVersion: 3, MinWriterVersion: 7, ReaderFeatures: []string{"deletionVectors"}, WriterFeatures: []string{"appendOnly"}}, false},
		"list below 7":     {p{MinReaderVersion: 1, MinWriterVersion: 5, WriterFeatures: []string{"appendOnly"}}, false},
		"known":            {rw("deletionVectors", "v2Checkpoint", "vacuumProtocolCheck", "columnMapping", "timestampNtz", "typeWidening"), true},
		"known writer":     {w("appendOnly", "changeDataFeed", "rowTracking", "domainMetadata", "clustering", "inCommitTimestamp", "icebergCompatV1", "checkpointProtection"), true},
		"catalogManaged":   {rw("catalogManaged"), false}, "catalogOwned-preview": {rw("catalogOwned-preview"), false},
		"coordinatedCommits-preview": {w("coordinatedCommits-preview"), false}, "managedCommit": {w("managedCommit"), false},
		"redirectReaderWriter-preview": {rw("redirectReaderWriter-preview"), false}, "redirectWriterOnly-preview": {w("redirectWriterOnly-preview"), false},
		"adaptiveMetadata": {rw("adaptiveMetadata"), false}, "adaptiveMetadata-preview": {rw("adaptiveMetadata-preview"), false},
		"unknown": {w("somethingNew"), false}, "case": {w("AppendOnly"), false},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.Protocol = c.p
			f.Commit(day(0), deltatest.NewAdd("f", 1))
			check := func() {
				t.Helper()
				if _, err := f.open(t); c.ok != (err == nil) || err != nil && (lake.KindOf(err) != lake.Unsupported || lake.HintOf(err) == "") {
					t.Error(err)
				}
			}
			check()
			f.Commit(day(1))
			f.Checkpoint(0, day(2), deltatest.Checkpoint{})
			check()
		})
	}
	f := newFixture(t)
	f.Configure("delta.coordinatedCommits.commitCoordinator-preview", "dynamodb")
	f.Commit(day(0))
	f.refused(t, lake.Unsupported, f.now)
}

func TestRetentionProperty(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"interval 30 days": 30 * 24 * time.Hour, "": week, "interval 1 week": week, "30 days": 30 * 24 * time.Hour,
		"nonsense": -1, "interval -1 days": -1, "interval 1 month": -1,
	} {
		f := newFixture(t)
		if text != "" {
			f.Configure("delta.deletedFileRetentionDuration", text)
		}
		f.Commit(day(0))
		d, err := f.mustOpen(t).Retention()
		if want < 0 && lake.KindOf(err) != lake.Damaged || want >= 0 && (err != nil || d != want) {
			t.Errorf("%q: %v, %v", text, d, err)
		}
	}
}
