package logline

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// lines are commit lines of all shapes, for tests and fuzzing.
var lines = []string{
	`{"add":{"path":"p=1/f","partitionValues":{"p":"1"},"size":7,"modificationTime":1,"dataChange":true,"stats":"{\"n\":1}"}}`,
	`{"remove":{"path":"f","deletionTimestamp":1700000000000,"dataChange":true,"extendedFileMetadata":true,"partitionValues":{},"size":3}}`,
	`{"add":{"path":"f","deletionVector":{"storageType":"u","pathOrInlineDv":"ab^-aqEH.-t@S}K{vb[*k^","offset":4,"sizeInBytes":40,"cardinality":6}}}`,
	`{"cdc":{"path":"_change_data/c","partitionValues":{},"size":1,"dataChange":false}}`,
	`{"metaData":{"id":"x"}}`, `{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}`, `{"commitInfo":{"inCommitTimestamp":5}}`, `{"txn":{}}`,
	` { "add" : { "path" : "\u0061\/\n\ud83d\ude00" , "size" : -0 } } `, `{"add":null}`, `{}`, `{"a":[1,-2.5E+7,[],{},true,false,null,"x"]}`,
	`{"remove":{"path":"f","deletionTimestamp":null,"deletionVector":null,"size":null}}`, `{"add":{"path":"x","size":9223372036854775807}}`,
	`{"add":{"path":"x","size":9223372036854775808}}`, `{"add":{"path":"x"},"add":{"path":"y"}}`, `{"add":{"path":"x"},"add":null}`, `{"remove":null,"remove":{"path":"x"}}`, `{"add":{"path":"x"},"remove":null}`, `{"add":{"path":"x"`, `{"add":{"path":"x"}}x`, `{"add":{"path":"x",}}`,
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

// agree compares Parse with two libraries: jsontext says whether a line is
// strict JSON, encoding/json what is in it.
func agree(t *testing.T, line string) {
	t.Helper()
	a, err := Parse([]byte(line), nil)
	if valid := jsontext.Value(line).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)); !valid && err == nil {
		t.Fatalf("%q isn't valid JSON and was taken", line)
	}
	if err != nil || a.Op != Add && a.Op != Remove && a.Op != CDC {
		return
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal([]byte(line), &all); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	var p plainAction
	name := map[Op]string{Add: "add", Remove: "remove", CDC: "cdc"}[a.Op]
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
	if p.Path == nil || *p.Path != a.Path || p.Size != nil && *p.Size != a.Size || p.DeletionTimestamp != nil && *p.DeletionTimestamp != a.Removed ||
		(p.DeletionVector != nil) != (a.DV != nil) {
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
	a, err := Parse([]byte(lines[2]), nil)
	if err != nil || a.DV.ID() != "uab^-aqEH.-t@S}K{vb[*k^@4" || a.Size != -1 {
		t.Errorf("%+v %v", a, err)
	}
	if a, err = Parse([]byte(lines[8]), nil); err != nil || a.Path != "a/\n😀" || a.Size != 0 {
		t.Errorf("%+v %v", a, err)
	}
	if a, err = Parse([]byte(lines[13]), nil); err != nil || a.Size != math.MaxInt64 {
		t.Errorf("%+v %v", a, err)
	}
	deep := `{"x":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`
	if _, err := Parse([]byte(deep), nil); err == nil {
		t.Error("no bound on nesting")
	}
}

func FuzzCommitLine(f *testing.F) {
	for _, line := range lines {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) { agree(t, line) })
}

func BenchmarkParse(b *testing.B) {
	line := []byte(`{"add":{"path":"year=2023/month=07/day=01/hour=05/part-00010-999839d9489b30ba-1730c97eed569661.c000.snappy.parquet","partitionValues":{"day":"01","hour":"05","month":"07","year":"2023"},"size":1,"modificationTime":1793444369000,"dataChange":true,"stats":"{\"numRecords\":1000,\"minValues\":{\"value\":\"a10\"},\"maxValues\":{\"value\":\"z10\"},\"nullCount\":{\"value\":0}}"}}`)
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		if _, err := Parse(line, nil); err != nil {
			b.Fatal(err)
		}
	}
}
