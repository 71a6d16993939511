package delta

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lakesweep/lakesweep/table/delta/logline"
)

func TestZ85(t *testing.T) {
	// The vector of Delta PROTOCOL.md.
	p, ok, err := (&Table{}).dvPaths(&logline.DV{Storage: "u", Text: "ab^-aqEH.-t@S}K{vb[*k^", Offset: -1})
	if err != nil || !ok || p.Key != "ab/deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin" {
		t.Errorf("%+v %v %v", p, ok, err)
	}
	for _, s := range []string{"", "#####", "##########" + "##########", "00000000000000000 00", "0000000000000000000\x00"} {
		if _, err := decodeZ85(s); err == nil {
			t.Errorf("%q decodes", s)
		}
	}
	if _, err := decodeZ85("%nSc0%nSc0%nSc0%nSc0"); err != nil { // the greatest word, 2^32-1
		t.Error(err)
	}
}

func FuzzZ85(f *testing.F) {
	for _, s := range []string{"^-aqEH.-t@S}K{vb[*k^", "ab^-aqEH.-t@S}K{vb[*k^", "", "00000000000000000000", "%nSc1%nSc0%nSc0%nSc0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, ok, err := (&Table{}).dvPaths(&logline.DV{Storage: "u", Text: s, Offset: -1})
		if err != nil {
			return
		}
		if !ok || p.Outside || strings.HasPrefix(string(p.Key), "/") || !strings.HasSuffix(string(p.Key), ".bin") || strings.Contains("/"+string(p.Key), "/../") {
			t.Fatalf("%q gives %+v", s, p)
		}
	})
}

func TestIntervals(t *testing.T) {
	const d = 24 * time.Hour
	for s, want := range map[string]time.Duration{
		"interval 1 week": 7 * d, "interval 7 days": 7 * d, "  INTERVAL   2   Days ": 2 * d, "30 days": 30 * d, "interval 1 week 2 days -3 hours": 9*d - 3*time.Hour,
		"interval 0 days": 0, "interval 1.5 seconds": 1500 * time.Millisecond, "interval .5 second": 500 * time.Millisecond, "interval 1. seconds": time.Second,
		"interval 1999 microseconds": time.Millisecond, "interval + 5 minutes": 5 * time.Minute, "interval - 1 hour 2 hours": time.Hour,
		"interval 1.9999999 seconds": 1999 * time.Millisecond, "interval 1 year -12 months 1 day": d, "interval 3 milliseconds": 3 * time.Millisecond,
	} {
		if got, err := parseInterval(s); err != nil || got != want {
			t.Errorf("%q: %v, %v; want %v", s, got, err, want)
		}
	}
	for _, s := range []string{"", "interval", "interval 1", "interval days", "interval -1 day", "interval 1 month", "interval 1 fortnight", "interval 1day",
		"interval '1' day", "interval 1.5 days", "interval 1.0000000001 seconds", "interval --1 day", "interval 1e3 days", "interval 99999999999999999999 days",
		"interval 1 day extra", "interval .  second", "interval 300000000 days", "interval interval 1 day", "interval 1 nanosecond", "interval + day"} {
		if got, err := parseInterval(s); err == nil {
			t.Errorf("%q: %v", s, got)
		}
	}
}

func FuzzInterval(f *testing.F) {
	for _, s := range []string{"interval 1 week", "interval 1 week 2 days -3 hours", "interval .5 second", "30 days", "interval - 1 hour", "interval 9223372036854775807 microseconds"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if d, err := parseInterval(s); err == nil && (d < 0 || d%time.Millisecond != 0) {
			t.Fatalf("%q: %v", s, d)
		}
	})
}

func FuzzSmallFiles(f *testing.F) {
	for _, s := range []string{"", "{}", `{"latestCommitVersionOutsideOfRetentionWindow":7}`, `{"latestCommitVersionOutsideOfRetentionWindow":-7,"lakesweepLastFullMillis":5}`,
		`{"version":20,"size":1}`, `{"minReaderVersion":3,"readerFeatures":["x"]}`, `{"id":"x","partitionColumns":["p"],"schemaString":"{}"}`, "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if w := parseWatermark([]byte(s)); w.Version != nil && *w.Version < 0 {
			t.Fatalf("%q: %d", s, *w.Version)
		}
		if p, err := parseProtocol([]byte(s)); err == nil {
			_ = p.gate()
		}
		if m, err := parseMetadata([]byte(s)); err == nil {
			_, _ = m.retention()
			_ = m.rules(protocol{})
		}
	})
}

func TestPartitionValuesAreInternedByValue(t *testing.T) {
	p := newPartitionTable([]Column{{Name: "a", Physical: "col-1"}, {Name: "b", Physical: "b"}})
	intern := p.interner()
	ids := map[string]int32{}
	for _, raw := range []string{`{"col-1":"1","b":"2"}`, `{"b":"2", "col-1":"1"}`, `{"col-1":"1","b":null}`, `{"col-1":"1","b":""}`, `{"col-1":"1"}`, `{}`, `{"a":"1","b":"2"}`} {
		id, err := intern([]byte(raw))
		if err != nil {
			t.Fatal(err)
		}
		ids[raw] = id
		if again, _ := intern([]byte(raw)); again != id {
			t.Errorf("%s: %d and %d", raw, id, again)
		}
	}
	if ids[`{"col-1":"1","b":"2"}`] != ids[`{"b":"2", "col-1":"1"}`] || ids[`{"col-1":"1","b":null}`] != ids[`{"col-1":"1","b":""}`] || ids[`{"col-1":"1"}`] == ids[`{}`] {
		t.Errorf("%v", ids)
	}
	if d := cmp.Diff("[{b 2 false}]", fmt.Sprint(p.tuple(ids[`{"a":"1","b":"2"}`]))); d != "" {
		t.Error(d)
	}
	if _, err := intern([]byte(`{"a":7}`)); err == nil {
		t.Error("a number taken for a string")
	}
}
