package mdt

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/avro"
	"pgregory.net/rapid"

	"github.com/lakesweep/lakesweep/table/hudi/internal/fixture"
)

const (
	usualMap    = `["null",{"type":"map","values":{"type":"record","name":"HoodieMetadataFileInfo","fields":[{"name":"size","type":"long"},{"name":"isDeleted","type":"boolean"}]}}]`
	usualSchema = `{"type":"record","name":"HoodieMetadataRecord","fields":[{"name":"_hoodie_file_name","type":["null","string"]},{"name":"key","type":{"type":"string","avro.java.string":"String"}},
{"name":"type","type":"int"},{"name":"filesystemMetadata","type":` + usualMap + `},{"name":"SecondaryIndexMetadata","type":["null",{"type":"record","name":"i","fields":[{"name":"isDeleted","type":"boolean"}]}]}]}`
)

// bySchema is what the schema says of a record's bytes.
func bySchema(t interface{ Fatal(...any) }, text string, value []byte) (map[string]int64, error) {
	s, err := avro.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	r, err := decodeRecord(s, "p", value)
	out := map[string]int64{}
	for name, i := range r.Files {
		if !i.Deleted {
			out[name] = i.Size
		}
	}
	return out, err
}

// Every base file's record of every real table is read as its schema reads it.
func TestShapeOfRealTables(t *testing.T) {
	read := 0
	fixture.Each(t, func(t *testing.T, c *fixture.Case) {
		f, err := open(t, c.Table).Files(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if f.base == nil {
			return
		}
		if f.shape == nil {
			t.Fatalf("an unusual schema: %s", f.baseSchema)
		}
		for e, err := range f.base.All() {
			if err != nil {
				t.Fatal(err)
			}
			if e.Key == allPartitions {
				continue
			}
			want, err := bySchema(t, f.baseSchema, e.Value)
			if err != nil {
				t.Fatal(err)
			}
			got, ok := f.shape.sizes(e.Value)
			if diff := cmp.Diff(want, got); !ok || diff != "" {
				t.Errorf("%s: %v, %s", e.Key, ok, diff)
			}
			read++
		}
	})
	if read == 0 {
		t.Error("no record was read")
	}
}

func TestShapeEqualsSchema(t *testing.T) {
	s, err := avro.Parse(usualSchema)
	if err != nil {
		t.Fatal(err)
	}
	shape := shapeOf(usualSchema)
	if shape == nil || *shape != (struct{ before, after int }{1, 1}) {
		t.Fatal(shape)
	}
	rapid.Check(t, func(t *rapid.T) {
		files := map[string]any{}
		for _, name := range rapid.SliceOfDistinct(rapid.String(), rapid.ID).Draw(t, "names") {
			files[name] = map[string]any{"size": rapid.Int64().Draw(t, "size"), "isDeleted": rapid.Bool().Draw(t, "deleted")}
		}
		record := map[string]any{"_hoodie_file_name": nil, "key": rapid.String().Draw(t, "key"), "type": int32(typePartition), "filesystemMetadata": files, "SecondaryIndexMetadata": nil}
		if rapid.Bool().Draw(t, "named") {
			record["_hoodie_file_name"] = "x.hfile"
		}
		value, err := s.Encode(record)
		if err != nil {
			t.Fatal(err)
		}
		want, err := bySchema(t, usualSchema, value)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := shape.sizes(value)
		if diff := cmp.Diff(want, got); !ok || diff != "" {
			t.Fatal(ok, diff)
		}
	})
}

// Schemas of another shape are left to Avro.
func TestUnusualShapes(t *testing.T) {
	for name, change := range map[string][2]string{
		"a size of another type":  {`{"name":"size","type":"long"}`, `{"name":"size","type":"int"}`},
		"another field of a file": {`{"name":"isDeleted","type":"boolean"}]}}]`, `{"name":"isDeleted","type":"boolean"},{"name":"x","type":"int"}]}}]`},
		"the map first":           {`["null",{"type":"map"`, `[{"type":"map"`},
		"a field that isn't null": {`{"name":"SecondaryIndexMetadata","type":["null",`, `{"name":"SecondaryIndexMetadata","type":["int",`},
		"another order":           {`{"name":"type","type":"int"},`, ``},
		"a logical type":          {`{"name":"size","type":"long"}`, `{"name":"size","type":{"type":"long","logicalType":"timestamp-millis"}}`},
	} {
		text := strings.Replace(usualSchema, change[0], change[1], 1)
		if text == usualSchema || !json.Valid([]byte(text)) && name != "the map first" {
			t.Fatal(name)
		}
		if s := shapeOf(text); s != nil {
			t.Errorf("%s: %+v", name, *s)
		}
	}
	if shapeOf("no schema") != nil {
		t.Error("no schema")
	}
}

// What the shape reads of any bytes is what the schema reads.
func FuzzShape(f *testing.F) {
	f.Add([]byte("\x00\x00\x04\x02\x02\x02a\x06\x00\x00\x00"))
	f.Add([]byte("\x02\x02x\x00\x04\x02\x01\x08\x02a\x06\x01\x00\x00"))
	f.Add([]byte("\x00\x00\x04\x00\x00"))
	f.Add([]byte("\x80\x80\x80\x80\x80\x00\x00\x04\x00\x00")) // a branch of a union in six bytes
	shape := shapeOf(usualSchema)
	f.Fuzz(func(t *testing.T, value []byte) {
		got, ok := shape.sizes(value)
		if !ok {
			return
		}
		want, err := bySchema(t, usualSchema, value)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}
