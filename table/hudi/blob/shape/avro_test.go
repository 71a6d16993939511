package shape

import (
	"slices"
	"testing"
)

// A reference that lies in another one keeps its blob too, as in a base file.
func TestReferencesWithinReferences(t *testing.T) {
	s, err := Parse(`{"type":"record","name":"r","fields":[{"name":"img","type":{"type":"record","name":"blob","fields":[{"name":"reference","type":["null",{"type":"record","name":"f","fields":[
		{"name":"external_path","type":"string"},{"name":"reference","type":["null","f"]}]}]}]}}]}`)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	r := Reader{Schema: s, Emit: func(ref Reference) error { got = append(got, ref.Path+" "+ref.Column); return nil }}
	err = r.Read([]byte{2, 2, 'a', 2, 2, 'b', 2, 2, 'c', 0})
	if want := []string{"a img", "b img.reference", "c img.reference.reference"}; err != nil || !slices.Equal(slices.Sorted(slices.Values(got)), want) {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
}
