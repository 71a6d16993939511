package shape

import "testing"

// A named type may be named again in an object, with a logical type of its own.
func TestTypesNamedAgainInObjects(t *testing.T) {
	s, err := Parse(`{"type":"record","name":"t","fields":[
		{"name":"a","type":{"type":"record","name":"blob","logicalType":"blob","fields":[
			{"name":"type","type":"string"},
			{"name":"again","type":["null",{"type":"blob","logicalType":"other"}]},
			{"name":"reference","type":["null",{"type":"record","name":"odd","fields":[]},{"type":"record","name":"reference","fields":[{"name":"external_path","type":"string"},{"name":"managed","type":"boolean"}]}]}]}},
		{"name":"b","type":{"type":"blob","logicalType":"blob"}}]}`)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		if n := s.root.get(name); !n.shape || n.logical != "blob" || n.get(FieldReference) == nil {
			t.Errorf("%s: %+v", name, n)
		}
	}
	if n := s.root.get("a").get("again").only(kindRecord); !n.shape || n.get(FieldReference) == nil || n.logical != "other" {
		t.Errorf("within itself: %+v", n)
	}
}
