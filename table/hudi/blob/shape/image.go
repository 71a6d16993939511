package shape

import (
	"slices"

	"github.com/go-json-experiment/json"
)

// isImage reports a field of a change that holds a record as JSON text, as
// older writers had it.
func isImage(f field) bool {
	return (f.name == "before" || f.name == "after") && f.node.only(kindText) != nil && f.node.only(kindRecord) == nil
}

// Images reports whether a schema's records are changes with images as text.
func (s *Schema) Images() bool {
	root := s.root.only(kindRecord)
	return root != nil && slices.ContainsFunc(root.fields, isImage)
}

// imageReferences yields every external_path in a record as JSON text, alone
// or within what names its type: {"string": …} as Avro's JSON has unions,
// {"bytes": …} as a record's own text has bytes.
func imageReferences(text string, emit func(Reference) error) error {
	if text == "" {
		return nil
	}
	var doc any
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		return badRecord("image of a change: %w", err)
	}
	return pathsIn(doc, false, emit)
}

// pathsIn yields the texts that are an external_path or lie in one.
func pathsIn(doc any, within bool, emit func(Reference) error) error {
	switch d := doc.(type) {
	case string:
		if within && d != "" {
			return emit(Reference{Path: d})
		}
	case []any:
		for _, one := range d {
			if err := pathsIn(one, within, emit); err != nil {
				return err
			}
		}
	case map[string]any:
		for name, one := range d {
			if err := pathsIn(one, within || name == FieldPath, emit); err != nil {
				return err
			}
		}
	}
	return nil
}
