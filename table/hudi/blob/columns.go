package blob

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
	s, err := parseSchema(schema)
	if err != nil {
		return nil, err
	}
	return s.blobs(), nil
}

// Shaped reports whether a record in a table's Avro schema has a blob's shape,
// of the logical type or not.
//
// Errors: Damaged for what is no Avro schema.
func Shaped(schema string) (bool, error) {
	s, err := parseSchema(schema)
	if err != nil {
		return false, err
	}
	return s.shaped, nil
}

// blobs returns the paths of the records of the logical type.
func (s *avroSchema) blobs() (c Columns) {
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
	s, err := parseSchema(schema)
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

// cover reports whether the struct at path is a blob column or lies in one.
func (c Columns) cover(path string) bool {
	return slices.ContainsFunc(c, func(name string) bool {
		rest, ok := strings.CutPrefix(path, name)
		return ok && (rest == "" || rest[0] == '.')
	})
}

// The names of a blob's shape.
const (
	fieldType      = "type"
	fieldReference = "reference"
	fieldPath      = "external_path"
	fieldManaged   = "managed"
	outOfLine      = "OUT_OF_LINE"
)
