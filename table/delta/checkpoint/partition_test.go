package checkpoint

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lakesweep/lakesweep/table/delta/meta"
)

func TestPartitionValuesAreInternedByValue(t *testing.T) {
	p := NewPartitions([]meta.Column{{Name: "a", Physical: "col-1"}, {Name: "b", Physical: "b"}})
	intern := p.Interner()
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
	if d := cmp.Diff("[{b 2 false}]", fmt.Sprint(p.Tuple(ids[`{"a":"1","b":"2"}`]))); d != "" {
		t.Error(d)
	}
	if _, err := intern([]byte(`{"a":7}`)); err == nil {
		t.Error("a number taken for a string")
	}
}
