package shape

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/lakesweep/lakesweep/lake"
)

// Reader finds the references in Avro binary records of one schema. One
// goroutine may use it.
type Reader struct {
	Schema *Schema
	// Emit is told each reference; its error ends the record.
	Emit func(Reference) error
	// Image is told those in the images of a change that are JSON text; nil leaves text alone, as in records that are no changes.
	Image func(Reference) error

	rest  []byte
	path  []string
	key   string // of the record
	depth int
}

// Read reads one record.
//
// Errors: Damaged where the bytes don't fit the schema.
func (r *Reader) Read(record []byte) error {
	r.rest, r.path, r.key, r.depth = record, r.path[:0], "", 0
	if err := r.value(r.Schema.root); err != nil {
		return err
	}
	if len(r.rest) > 0 {
		return badRecord("%d bytes left over", len(r.rest))
	}
	return nil
}

func badRecord(format string, args ...any) error {
	return &lake.Error{Op: "read Avro record", Kind: lake.Damaged, Err: fmt.Errorf(format, args...)}
}

var errRecordEnds = badRecord("the record ends early")

func (r *Reader) value(n *node) error {
	if r.depth++; r.depth > 4*maxDepth {
		return badRecord("values more than %d deep", 4*maxDepth)
	}
	defer func() { r.depth-- }()
	switch n.kind {
	case kindNull:
		return nil
	case kindBool:
		return r.skip(1)
	case kindFloat:
		return r.skip(4)
	case kindDouble:
		return r.skip(8)
	case kindFixed:
		return r.skip(int64(n.size))
	case kindVarint, kindEnum:
		_, err := r.long()
		return err
	case kindText:
		n, err := r.long()
		if err != nil || n < 0 {
			return errorOr(err, "text of %d bytes", n)
		}
		return r.skip(n)
	case kindUnion:
		b, err := r.branch(n)
		if err != nil {
			return err
		}
		return r.value(b)
	case kindArray, kindMap:
		return r.items(n)
	}
	return r.record(n)
}

func (r *Reader) record(n *node) error {
	if n.shape {
		return r.blob(n)
	}
	top := len(r.path) == 0
	for _, f := range n.fields {
		if top && f.name == RecordKey {
			text, err := r.textOf(f.node)
			if err != nil {
				return err
			}
			r.key = text
			continue
		}
		if top && r.Image != nil && isImage(f) {
			text, err := r.textOf(f.node)
			if err == nil {
				err = imageReferences(text, r.Image)
			}
			if err != nil {
				return err
			}
			continue
		}
		r.path = append(r.path, f.name)
		if err := r.value(f.node); err != nil {
			return err
		}
		r.path = r.path[:len(r.path)-1]
	}
	return nil
}

// blob reads a struct of a blob's shape.
func (r *Reader) blob(n *node) error {
	ref, found := Reference{RecordKey: r.key}, false
	depth := len(r.path)
	for _, f := range n.fields {
		var err error
		r.path = append(r.path[:depth], f.name)
		switch f.name {
		case FieldType:
			var text string
			text, err = r.textOf(f.node)
			ref.OutOfLine = text == OutOfLine
		case FieldReference:
			found, err = r.reference(f.node, &ref)
		default:
			err = r.value(f.node)
		}
		if err != nil {
			return err
		}
	}
	r.path = r.path[:depth]
	if !found {
		return nil
	}
	ref.Column = strings.Join(r.path, ".")
	return r.Emit(ref)
}

func (r *Reader) reference(n *node, ref *Reference) (found bool, err error) {
	for n.kind == kindUnion {
		if n, err = r.branch(n); err != nil {
			return false, err
		}
	}
	if n.kind != kindRecord {
		return false, r.value(n)
	}
	depth := len(r.path)
	for _, f := range n.fields {
		r.path = append(r.path[:depth], f.name)
		switch f.name {
		case FieldReference: // n has a blob's shape itself
			err = r.within(f.node)
		case FieldPath:
			ref.Path, err = r.textOf(f.node)
			found = true
		case FieldManaged:
			ref.Managed, err = r.boolOf(f.node)
		default:
			err = r.value(f.node)
		}
		if err != nil {
			return false, err
		}
	}
	return found && ref.Path != "", nil
}

// within reads a reference that lies in another one.
func (r *Reader) within(n *node) error {
	if r.depth++; r.depth > 4*maxDepth {
		return badRecord("values more than %d deep", 4*maxDepth)
	}
	defer func() { r.depth-- }()
	ref := Reference{RecordKey: r.key}
	depth := len(r.path)
	found, err := r.reference(n, &ref)
	if err != nil || !found {
		return err
	}
	ref.Column = strings.Join(r.path[:depth-1], ".")
	return r.Emit(ref)
}

// textOf reads a string, bytes or enum, in unions too; "" for other values.
func (r *Reader) textOf(n *node) (string, error) {
	for n.kind == kindUnion {
		b, err := r.branch(n)
		if err != nil {
			return "", err
		}
		n = b
	}
	switch n.kind {
	case kindText:
		return r.text()
	case kindEnum:
		i, err := r.long()
		if err != nil || i < 0 || i >= int64(len(n.symbols)) {
			return "", errorOr(err, "symbol %d", i)
		}
		return n.symbols[i], nil
	}
	return "", r.value(n)
}

func (r *Reader) boolOf(n *node) (bool, error) {
	for n.kind == kindUnion {
		b, err := r.branch(n)
		if err != nil {
			return false, err
		}
		n = b
	}
	if n.kind != kindBool || len(r.rest) == 0 {
		return false, r.value(n)
	}
	v := r.rest[0] != 0
	return v, r.skip(1)
}

func errorOr(err error, format string, args ...any) error {
	if err != nil {
		return err
	}
	return badRecord(format, args...)
}

// items reads the blocks of an array or map.
func (r *Reader) items(n *node) error {
	for {
		count, err := r.long()
		if err != nil || count == 0 {
			return err
		}
		if count < 0 {
			if count == math.MinInt64 {
				return badRecord("a block of %d items", count)
			}
			count = -count
			if _, err := r.long(); err != nil { // the block's bytes
				return err
			}
		}
		for range count {
			before := len(r.rest)
			if n.kind == kindMap {
				if err := r.value(&node{kind: kindText}); err != nil {
					return err
				}
			}
			if err := r.value(n.items); err != nil {
				return err
			}
			if len(r.rest) == before {
				break // items without bytes say nothing
			}
		}
	}
}

func (r *Reader) branch(n *node) (*node, error) {
	i, err := r.long()
	if err != nil || i < 0 || i >= int64(len(n.branches)) {
		return nil, errorOr(err, "branch %d of %d", i, len(n.branches))
	}
	return n.branches[i], nil
}

func (r *Reader) long() (int64, error) {
	v, n := binary.Varint(r.rest)
	if n <= 0 {
		return 0, errRecordEnds
	}
	r.rest = r.rest[n:]
	return v, nil
}

func (r *Reader) text() (string, error) {
	n, err := r.long()
	if err != nil {
		return "", err
	}
	if n < 0 || n > int64(len(r.rest)) {
		return "", errRecordEnds
	}
	text := string(r.rest[:n])
	r.rest = r.rest[n:]
	return text, nil
}

func (r *Reader) skip(n int64) error {
	if n > int64(len(r.rest)) {
		return errRecordEnds
	}
	r.rest = r.rest[n:]
	return nil
}
