package shape

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/lakesweep/lakesweep/lake"
)

// kind is the type of an Avro value as it is laid out.
type kind uint8

const (
	kindNull kind = iota
	kindBool
	kindVarint // int, long
	kindFloat
	kindDouble
	kindText // string, bytes
	kindFixed
	kindEnum
	kindRecord
	kindArray
	kindMap
	kindUnion
)

var primitives = map[string]kind{"null": kindNull, "boolean": kindBool, "int": kindVarint, "long": kindVarint,
	"float": kindFloat, "double": kindDouble, "string": kindText, "bytes": kindText}

// node is a type of a schema. Named types are shared by all that refer to them.
type node struct {
	kind     kind
	logical  string
	fields   []field // of a record
	items    *node   // of an array or map
	branches []*node // of a union
	symbols  []string
	size     int  // of a fixed
	shape    bool // a struct of a blob's shape
}

type field struct {
	name string
	node *node
}

// Schema is a parsed Avro schema. Safe for concurrent use.
type Schema struct {
	root   *node
	named  map[string]*node
	copies []copied // types that are named again with a logical type of their own
	depth  int
	shaped bool // some record in it has a blob's shape
}

// copied is a node that takes over the type of another.
type copied struct{ own, of *node }

// maxDepth bounds how deep types and values lie in each other.
const maxDepth = 64

// Parse reads a schema as Avro JSON.
//
// Errors: Damaged.
func Parse(text string) (*Schema, error) {
	var doc any
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		return nil, badSchema("%w", err)
	}
	s := &Schema{named: make(map[string]*node)}
	var err error
	if s.root, err = s.parse(doc, ""); err != nil {
		return nil, err
	}
	for _, n := range s.named {
		n.shape = n.shaped()
		s.shaped = s.shaped || n.shape
	}
	for _, c := range s.copies { // the whole type is known only now
		logical := c.own.logical
		*c.own = *c.of
		c.own.logical = logical
	}
	return s, nil
}

func badSchema(format string, args ...any) error {
	return &lake.Error{Op: "read Avro schema", Kind: lake.Damaged, Err: fmt.Errorf(format, args...)}
}

func (s *Schema) parse(doc any, space string) (*node, error) {
	if s.depth++; s.depth > maxDepth {
		return nil, badSchema("types more than %d deep", maxDepth)
	}
	defer func() { s.depth-- }()
	switch d := doc.(type) {
	case string:
		return s.reference(d, space)
	case []any:
		n := &node{kind: kindUnion}
		for _, b := range d {
			branch, err := s.parse(b, space)
			if err != nil {
				return nil, err
			}
			n.branches = append(n.branches, branch)
		}
		return n, nil
	case map[string]any:
		return s.object(d, space)
	}
	return nil, badSchema("%T where a type should be", doc)
}

func (s *Schema) reference(name, space string) (*node, error) {
	if k, ok := primitives[name]; ok {
		return &node{kind: k}, nil
	}
	if !strings.Contains(name, ".") && space != "" {
		if n := s.named[space+"."+name]; n != nil {
			return n, nil
		}
	}
	if n := s.named[strings.TrimPrefix(name, ".")]; n != nil { // ".blob" is of no namespace
		return n, nil
	}
	return nil, badSchema("unknown type %q", name)
}

func (s *Schema) object(d map[string]any, space string) (*node, error) {
	typ, ok := d["type"].(string)
	if !ok {
		return s.parse(d["type"], space)
	}
	n := &node{}
	n.logical, _ = d["logicalType"].(string)
	var err error
	switch typ {
	case "array":
		n.kind = kindArray
		n.items, err = s.parse(d["items"], space)
	case "map":
		n.kind = kindMap
		n.items, err = s.parse(d["values"], space)
	case "record", "error", "enum", "fixed":
		err = s.define(n, typ, d, space)
	default:
		var of *node
		if of, err = s.reference(typ, space); err == nil && n.logical != "" {
			own := *of
			own.logical = n.logical
			s.copies = append(s.copies, copied{&own, of})
			of = &own
		}
		n = of
	}
	return n, err
}

// define reads a named type.
func (s *Schema) define(n *node, typ string, d map[string]any, space string) error {
	name, _ := d["name"].(string)
	if name == "" {
		return badSchema("a %s without a name", typ)
	}
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		space = name[:i]
	} else {
		if given, ok := d["namespace"].(string); ok {
			space = given
		}
		if space != "" {
			name = space + "." + name
		}
	}
	if s.named[name] != nil {
		return badSchema("%s is defined twice", name)
	}
	s.named[name] = n
	switch typ {
	case "enum":
		n.kind = kindEnum
		symbols, _ := d["symbols"].([]any)
		for _, one := range symbols {
			text, _ := one.(string)
			n.symbols = append(n.symbols, text)
		}
		return nil
	case "fixed":
		n.kind = kindFixed
		size, ok := d["size"].(float64)
		if !ok || size < 0 || size > 1<<30 {
			return badSchema("%s of size %v", name, d["size"])
		}
		n.size = int(size)
		return nil
	}
	n.kind = kindRecord
	fields, ok := d["fields"].([]any)
	if !ok {
		return badSchema("the record %s has no fields", name)
	}
	for _, one := range fields {
		f, _ := one.(map[string]any)
		fieldName, _ := f["name"].(string)
		of, err := s.parse(f["type"], space)
		if err != nil {
			return fmt.Errorf("field %s: %w", fieldName, err)
		}
		n.fields = append(n.fields, field{fieldName, of})
	}
	return nil
}

// get returns the type of a record's field, nil if there is none.
func (n *node) get(name string) *node {
	i := slices.IndexFunc(n.fields, func(f field) bool { return f.name == name })
	if i < 0 {
		return nil
	}
	return n.fields[i].node
}

// only returns the branch of a union that isn't null, or n itself.
func (n *node) only(k kind) *node {
	if n == nil || n.kind == k {
		return n
	}
	for _, b := range n.branches {
		if b.kind == k {
			return b
		}
	}
	return nil
}

// shaped reports a struct with reference.external_path of text.
func (n *node) shaped() bool {
	if n.kind != kindRecord {
		return false
	}
	reference := n.get(FieldReference)
	if reference == nil {
		return false
	}
	return slices.ContainsFunc(append([]*node{reference}, reference.branches...), func(b *node) bool {
		return b.kind == kindRecord && b.get(FieldPath).only(kindText) != nil
	})
}

// each calls fn with every record and what it holds, by its path without
// lists and maps. It goes on into a record while fn says so.
func (n *node) each(path []string, fn func([]string, *node) bool) { n.visit(path, nil, fn) }

func (n *node) visit(path []string, open []*node, fn func([]string, *node) bool) {
	switch n.kind {
	case kindArray, kindMap:
		n.items.visit(path, open, fn)
	case kindUnion:
		for _, b := range n.branches {
			b.visit(path, open, fn)
		}
	case kindRecord:
		if slices.Contains(open, n) || len(open) > maxDepth || !fn(path, n) {
			return // a type within itself adds no new path that ends
		}
		for _, f := range n.fields {
			f.node.visit(append(slices.Clip(path), f.name), append(slices.Clip(open), n), fn)
		}
	default:
		fn(path, n)
	}
}
