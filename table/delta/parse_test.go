package delta

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

func TestZ85(t *testing.T) {
	// The vector of Delta PROTOCOL.md.
	p, ok, err := (&Table{}).dvPaths(&dvRef{storage: "u", text: "ab^-aqEH.-t@S}K{vb[*k^", offset: -1})
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
		p, ok, err := (&Table{}).dvPaths(&dvRef{storage: "u", text: s, offset: -1})
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

// lines are commit lines of all shapes, for tests and fuzzing.
var lines = []string{
	`{"add":{"path":"p=1/f","partitionValues":{"p":"1"},"size":7,"modificationTime":1,"dataChange":true,"stats":"{\"n\":1}"}}`,
	`{"remove":{"path":"f","deletionTimestamp":1700000000000,"dataChange":true,"extendedFileMetadata":true,"partitionValues":{},"size":3}}`,
	`{"add":{"path":"f","deletionVector":{"storageType":"u","pathOrInlineDv":"ab^-aqEH.-t@S}K{vb[*k^","offset":4,"sizeInBytes":40,"cardinality":6}}}`,
	`{"cdc":{"path":"_change_data/c","partitionValues":{},"size":1,"dataChange":false}}`,
	`{"metaData":{"id":"x"}}`, `{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}`, `{"commitInfo":{"inCommitTimestamp":5}}`, `{"txn":{}}`,
	` { "add" : { "path" : "\u0061\/\n\ud83d\ude00" , "size" : -0 } } `, `{"add":null}`, `{}`, `{"a":[1,-2.5E+7,[],{},true,false,null,"x"]}`,
	`{"remove":{"path":"f","deletionTimestamp":null,"deletionVector":null,"size":null}}`, `{"add":{"path":"x","size":9223372036854775807}}`,
	`{"add":{"path":"x","size":9223372036854775808}}`, `{"add":{"path":"x"},"add":{"path":"y"}}`, `{"add":{"path":"x"`, `{"add":{"path":"x"}}x`, `{"add":{"path":"x",}}`,
	`{"add":{"path":01}}`, `{"\u0061dd":{"p\u0061th":"x"}}`, "{\"add\":{\"path\":\"\xff\"}}", "{\"add\":{\"path\":\"a\tb\"}}", `{"add":{"path":"\ud800"}}`,
}

// plainAction is what encoding/json makes of a line.
type plainAction struct {
	Path              *string
	Size              *int64
	DeletionTimestamp *int64
	DeletionVector    *struct {
		StorageType    string
		PathOrInlineDv string
		Offset         *int64
	}
}

// agree compares parseLine with two libraries: jsontext says whether a line is
// strict JSON, encoding/json what is in it.
func agree(t *testing.T, line string) {
	t.Helper()
	a, err := parseLine([]byte(line), nil)
	if valid := jsontext.Value(line).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)); !valid && err == nil {
		t.Fatalf("%q isn't valid JSON and was taken", line)
	}
	if err != nil || a.op != opAdd && a.op != opRemove && a.op != opCDC {
		return
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal([]byte(line), &all); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	var p plainAction
	name := map[op]string{opAdd: "add", opRemove: "remove", opCDC: "cdc"}[a.op]
	members := map[string]json.RawMessage{}
	if err := json.Unmarshal(all[name], &members); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	// Exact case only.
	exact := map[string]json.RawMessage{}
	for _, m := range []string{"path", "size", "deletionTimestamp", "deletionVector"} {
		if v, ok := members[m]; ok {
			exact[m] = v
		}
	}
	b, err := json.Marshal(exact)
	if err == nil {
		err = json.Unmarshal(b, &p)
	}
	if err != nil {
		return // a member in the wrong case inside the vector, or a size that only this library refuses
	}
	if p.Path == nil || *p.Path != a.path || p.Size != nil && *p.Size != a.size || p.DeletionTimestamp != nil && *p.DeletionTimestamp != a.removed ||
		(p.DeletionVector != nil) != (a.dv != nil) {
		t.Fatalf("%q: %+v, want %s", line, a, b)
	}
}

func TestParseLineAgreesWithLibraries(t *testing.T) {
	for _, line := range lines {
		agree(t, line)
		for i := range line { // every cut of it
			agree(t, line[:i])
		}
	}
	a, err := parseLine([]byte(lines[2]), nil)
	if err != nil || a.dv.id() != "uab^-aqEH.-t@S}K{vb[*k^@4" || a.size != -1 {
		t.Errorf("%+v %v", a, err)
	}
	if a, err = parseLine([]byte(lines[8]), nil); err != nil || a.path != "a/\n😀" || a.size != 0 {
		t.Errorf("%+v %v", a, err)
	}
	if a, err = parseLine([]byte(lines[13]), nil); err != nil || a.size != math.MaxInt64 {
		t.Errorf("%+v %v", a, err)
	}
	deep := `{"x":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`
	if _, err := parseLine([]byte(deep), nil); err == nil {
		t.Error("no bound on nesting")
	}
}

func FuzzCommitLine(f *testing.F) {
	for _, line := range lines {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) { agree(t, line) })
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
