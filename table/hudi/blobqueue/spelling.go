package blobqueue

import (
	"github.com/go-json-experiment/json"
	"github.com/parquet-go/parquet-go"

	"github.com/lakesweep/lakesweep/lake"
)

// Spelling is what makes several spellings one blob for the run that wrote a
// sidecar or intent, so that a writer that asks compares them in the same way.
// The zero Spelling is that of a file which doesn't say.
type Spelling struct {
	Table string         `json:"table,omitempty"` // the root's URI
	Roots []string       `json:"roots,omitempty"` // in which blobs may die
	Maps  []lake.BlobMap `json:"maps,omitempty"`
}

// spellingKey is the key of a Spelling, as JSON, in a footer.
const spellingKey = "lakesweep.blob_names"

// SpellingOf is how a run with these names compares blobs.
func SpellingOf(n *lake.BlobNames) Spelling {
	o := n.Options()
	s := Spelling{Table: o.Table.String(), Maps: o.Maps}
	for _, r := range o.Roots {
		s.Roots = append(s.Roots, r.String())
	}
	return s
}

// Names compares blobs as s says.
//
// Errors: Damaged.
func (s Spelling) Names() (*lake.BlobNames, error) {
	o := lake.BlobOptions{Maps: s.Maps}
	var err error
	if o.Table, err = lake.ParseRoot(s.Table); err != nil {
		return nil, damaged(spellingKey, err)
	}
	for _, text := range s.Roots {
		r, err := lake.ParsePlace(text)
		if err != nil {
			return nil, damaged(spellingKey, err)
		}
		o.Roots = append(o.Roots, r)
	}
	return lake.NewBlobNames(o)
}

// readSpelling returns what a footer says.
//
// Errors: Damaged.
func readSpelling(name string, f *parquet.File) (s Spelling, err error) {
	if text, ok := f.Lookup(spellingKey); ok {
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			return s, damaged(name, err)
		}
	}
	return s, nil
}
