package blob

import (
	"slices"

	"github.com/go-json-experiment/json"
)

// isImage reports a field of a change that holds a record as JSON text, as
// older writers had it.
func isImage(f field) bool {
	return (f.name == "before" || f.name == "after") && f.node.only(kindText) != nil && f.node.only(kindRecord) == nil
}

// images reports whether a schema's records are changes with images as text.
func (s *avroSchema) images() bool {
	root := s.root.only(kindRecord)
	return root != nil && slices.ContainsFunc(root.fields, isImage)
}

// imageReferences yields every external_path in a record as JSON text.
func imageReferences(text string, emit func(Reference) error) error {
	if text == "" {
		return nil
	}
	var doc any
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		return badRecord("image of a change: %w", err)
	}
	return pathsIn(doc, emit)
}

func pathsIn(doc any, emit func(Reference) error) error {
	switch d := doc.(type) {
	case []any:
		for _, one := range d {
			if err := pathsIn(one, emit); err != nil {
				return err
			}
		}
	case map[string]any:
		for name, one := range d {
			if path, ok := one.(string); ok && name == fieldPath && path != "" {
				if err := emit(Reference{Path: path}); err != nil {
					return err
				}
			}
			if err := pathsIn(one, emit); err != nil {
				return err
			}
		}
	}
	return nil
}
