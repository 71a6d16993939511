package shape

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lakesweep/lakesweep/lake"
)

// Columns are the paths of the blob columns of a table: field names joined
// with '.', without what lists and maps put between.
type Columns []string

// Detect returns the blob columns that a table's Avro schema says: records of
// the logical type "blob", named or in place, within records, arrays, maps
// and unions.
//
// Errors: Damaged for what is no Avro schema.
// Source: spec/hudi-metadata-table.md section 5.
func Detect(schema string) (Columns, error) {
	s, err := Parse(schema)
	if err != nil {
		return nil, err
	}
	return s.Blobs(), nil
}

// Shaped reports whether a record in it has a blob's shape, of the logical type
// or not.
func (s *Schema) Shaped() bool { return s.shaped }

// Blobs returns the paths of the records of the logical type.
func (s *Schema) Blobs() (c Columns) {
	s.root.each(nil, func(path []string, n *node) bool {
		if n.logical == "blob" {
			c = append(c, strings.Join(path, "."))
		}
		return n.logical != "blob"
	})
	slices.Sort(c)
	return slices.Compact(c)
}

// With adds columns that a user names. The schema may lack one, as it may have
// had it once.
//
// Errors: Invalid for a column of the schema without a struct of a blob's shape.
func (c Columns) With(schema string, names []string) (Columns, error) {
	if len(names) == 0 {
		return c, nil
	}
	s, err := Parse(schema)
	if err != nil {
		return nil, err
	}
	known, shaped := make(map[string]bool), make(map[string]bool)
	s.root.each(nil, func(path []string, n *node) bool {
		for i := range path {
			name := strings.Join(path[:i+1], ".")
			known[name] = true
			shaped[name] = shaped[name] || n.shape
		}
		return true
	})
	for _, name := range names {
		if known[name] && !shaped[name] {
			return nil, &lake.Error{Op: "read --blob-columns", Kind: lake.Invalid, Err: fmt.Errorf("the column %s holds no struct with reference.external_path", name),
				Hint: "Name columns of the shape type, data, reference{external_path, offset, length, managed}."}
		}
		c = append(slices.Clone(c), name)
	}
	slices.Sort(c)
	return slices.Compact(c), nil
}

// Cover reports whether the struct at path is a blob column or lies in one.
func (c Columns) Cover(path string) bool {
	return slices.ContainsFunc(c, func(name string) bool {
		rest, ok := strings.CutPrefix(path, name)
		return ok && (rest == "" || rest[0] == '.')
	})
}

// The names of a blob's shape, and what its type says of an external file.
//
// Source: Hudi 1.2.0, HoodieSchema.Blob; spec/hudi-metadata-table.md section 5.
const (
	FieldType      = "type"
	FieldReference = "reference"
	FieldPath      = "external_path"
	FieldManaged   = "managed"
	OutOfLine      = "OUT_OF_LINE"
)

// RecordKey is the field in which Hudi keeps a record's key.
const RecordKey = "_hoodie_record_key"

// Reference is one reference of a record to an external file.
type Reference struct {
	Path      string // as spelled
	Managed   bool   // Hudi may delete it
	OutOfLine bool   // of type OUT_OF_LINE
	Column    string // path of the struct, such as "img" or "st.b"
	RecordKey string // "" if it wasn't asked for or isn't known
	Pending   bool   // in a log block whose instant isn't complete
}
