package datafile

import (
	"regexp"
	"slices"
	"testing"
)

func TestParse(t *testing.T) {
	for name, want := range map[string]File{
		"73aa7ea5-5a3b-4886-a403-419a8b00af8c-0_0-1141-4974_20260603090000195.parquet": {FileID: "73aa7ea5-5a3b-4886-a403-419a8b00af8c-0", Token: "0-1141-4974", Instant: "20260603090000195", Ext: "parquet"},
		"files-0000-0_0-1060-4863_00000000000000000.hfile":                             {FileID: "files-0000-0", Token: "0-1060-4863", Instant: "00000000000000000", Ext: "hfile"},
		"f1_1_001.orc":             {FileID: "f1", Token: "1", Instant: "001", Ext: "orc"},
		".f-0_001.log.1_0-1-2":     {FileID: "f-0", Instant: "001", Token: "0-1-2", Log: true, Version: 1},
		".f-0_001.log.12":          {FileID: "f-0", Instant: "001", Log: true, Version: 12},
		".f-0_001.log.1_0-1-2.cdc": {FileID: "f-0", Instant: "001", Token: "0-1-2", Log: true, Version: 1, CDC: true},
		".f-0_001.archive.1_0-1-2": {FileID: "f-0", Instant: "001", Token: "0-1-2", Log: true, Version: 1},
	} {
		want.Name = name
		if got, ok := Parse(name); !ok || got != want {
			t.Errorf("%s: %+v, %v", name, got, ok)
		}
	}
	for _, name := range []string{"", ".", "a.parquet", "a_b.parquet", "f_1_001.parquet.crc", ".f_1_001.parquet.crc", "..f-0_001.log.1_0-1-2.crc", ".hoodie_partition_metadata", "f_1_x.parquet",
		"f_1_001.csv", ".f_001.log.x", ".f_001.log.1_0-1", ".f_001.log.1.cdc", "_SUCCESS", "part-00000_1_2.snappy.parquet", ".f_001.log.99999999999999999999"} {
		if got, ok := Parse(name); ok {
			t.Errorf("%q: %+v", name, got)
		}
	}
}

func TestCompareLogs(t *testing.T) {
	var logs []File
	for _, n := range []string{".f_2.log.1_0-1-2", ".f_1.log.10_0-1-2", ".f_1.log.2_10-1-2", ".f_1.log.2_9-1-2", ".f_1.log.2_9-1-2.cdc", ".f_1.log.2"} {
		f, ok := Parse(n)
		if !ok {
			t.Fatal(n)
		}
		logs = append(logs, f)
	}
	slices.SortFunc(logs, CompareLogs)
	var got []string
	for _, l := range logs {
		got = append(got, l.Name)
	}
	if want := []string{".f_1.log.2", ".f_1.log.2_9-1-2", ".f_1.log.2_9-1-2.cdc", ".f_1.log.2_10-1-2", ".f_1.log.10_0-1-2", ".f_2.log.1_0-1-2"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// Hudi's own expression for log names accepts all that we do.
func FuzzParse(f *testing.F) {
	hudi := regexp.MustCompile(`^\.([^._]+)_([^.]*)\.(log|archive)\.(\d+)(_((\d+)-(\d+)-(\d+))(\.cdc)?)?$`)
	f.Add(".f-0_001.log.1_0-1-2.cdc")
	f.Add("f-0_0-1-2_001.parquet")
	f.Fuzz(func(t *testing.T, name string) {
		if got, ok := Parse(name); ok && got.Log && !hudi.MatchString(name) {
			t.Fatalf("%q: %+v", name, got)
		}
	})
}
