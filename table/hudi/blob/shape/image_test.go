package shape

import (
	"slices"
	"testing"
)

// The texts that Hudi's writers and Avro make of a record: plain, with unions
// that name their branch, with bytes that do.
func TestImagesInEveryTextKeep(t *testing.T) {
	for text, want := range map[string][]string{
		"":                       nil,
		`{"id": 1, "img": null}`: nil,
		`{"img": {"type": "OUT_OF_LINE", "reference": {"external_path": "s3://b/1", "offset": null}}}`:                                                 {"s3://b/1"},
		`{"img": {"x.blob": {"type": {"string": "OUT_OF_LINE"}, "reference": {"x.ref": {"external_path": {"string": "s3://b/2"}}}}}}`:                  {"s3://b/2"},
		`{"img": {"reference": {"external_path": {"bytes": "s3://b/3"}}}}`:                                                                             {"s3://b/3"},
		`{"list": [{"reference": {"external_path": "s3://b/4"}}, {"reference": {"external_path": ""}}, {"reference": {"external_path": "s3://b/5"}}]}`: {"s3://b/4", "s3://b/5"},
	} {
		var got []string
		err := imageReferences(text, func(r Reference) error { got = append(got, r.Path); return nil })
		if slices.Sort(got); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
	if err := imageReferences(`{"img": `, nil); err == nil {
		t.Error("a torn image was read")
	}
}
