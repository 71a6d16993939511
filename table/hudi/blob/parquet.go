package blob

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table/internal/leaf"
)

// parquetLeaves are the leaves of one struct of a blob's shape.
type parquetLeaves struct {
	column              string // path of the struct
	path, managed, kind *parquet.Column
	key                 *parquet.Column // of the records; nil where records and structs aren't one to one
	marked              bool            // the file's own schema says that it is a blob
}

// parquetFile is an opened Parquet file with its blob-shaped structs.
type parquetFile struct {
	file    *parquet.File
	src     *source
	structs []parquetLeaves
}

// openParquet reads the footer.
//
// Errors: the source's; Damaged, Unsupported.
func openParquet(src *source) (f *parquetFile, err error) {
	f = &parquetFile{src: src}
	err = guarded(func() error {
		if src.size <= wholeSize {
			err = src.fetch(0, src.size)
		} else {
			err = src.fetch(src.size-tailSize, src.size)
		}
		if err != nil {
			return err
		}
		f.file, err = parquet.OpenFile(src, src.size, parquet.SkipMagicBytes(true), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
		if err != nil {
			return err
		}
		f.find(f.file.Root(), nil)
		return f.mark()
	})
	return f, f.fault(err)
}

// fault tells the store's errors from those of the content.
func (f *parquetFile) fault(err error) error {
	if err == nil || f.src.err != nil {
		return errors.Join(f.src.err)
	}
	if _, ok := errors.AsType[*lake.Error](err); ok {
		return err
	}
	return &lake.Error{Op: "read Parquet file", Kind: lake.Damaged, Err: err}
}

// guarded runs read, which calls the Parquet library, and makes an error of a
// panic: on damaged bytes the library may run past a slice.
func guarded(read func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("malformed Parquet: %v", p)
		}
	}()
	return read()
}

// find gathers the structs of a blob's shape below c, whose path, without
// lists and maps, is path.
func (f *parquetFile) find(c *parquet.Column, path []string) {
	if leaves, ok := shapeOf(c); ok {
		leaves.column = strings.Join(path, ".")
		if key := f.file.Root().Column(recordKey); key != nil && key.Leaf() && leaves.path.MaxRepetitionLevel() == 0 {
			leaves.key = key
		}
		f.structs = append(f.structs, leaves)
	}
	for _, child := range c.Columns() {
		if !child.Leaf() {
			f.find(child, append(path[:len(path):len(path)], step(c, child)...))
		}
	}
}

// step is what a child adds to a path: nothing for the groups that lists and
// maps consist of.
func step(parent, child *parquet.Column) []string {
	if t := parent.Type().LogicalType(); child.Repeated() && (isList(parent, t) || isMap(parent, t)) {
		return nil
	}
	if parent.Repeated() && len(parent.Columns()) <= 2 {
		switch child.Name() {
		case "element", "array_element", "item", "value", "key":
			return nil
		}
	}
	return []string{child.Name()}
}

func isList(c *parquet.Column, t *format.LogicalType) bool {
	return annotated(t, func(v any) bool { _, ok := v.(*format.ListType); return ok }) || converted(c, "list", "bag", "array")
}

func isMap(c *parquet.Column, t *format.LogicalType) bool {
	return annotated(t, func(v any) bool { _, ok := v.(*format.MapType); return ok }) || converted(c, "key_value", "map")
}

func annotated(t *format.LogicalType, is func(any) bool) bool { return t != nil && is(t.Value) }

// converted reports a group whose only child is a repeated one of such a name:
// files of older writers have no logical types.
func converted(c *parquet.Column, names ...string) bool {
	children := c.Columns()
	if len(children) != 1 || !children[0].Repeated() {
		return false
	}
	for _, n := range names {
		if children[0].Name() == n {
			return true
		}
	}
	return false
}

// shapeOf returns the leaves of a struct with reference.external_path.
func shapeOf(c *parquet.Column) (l parquetLeaves, ok bool) {
	reference := c.Column(fieldReference)
	if reference == nil || reference.Leaf() {
		return l, false
	}
	l.path = reference.Column(fieldPath)
	if l.path == nil || !l.path.Leaf() || l.path.Type().Kind() != parquet.ByteArray {
		return l, false
	}
	if m := reference.Column(fieldManaged); m != nil && m.Leaf() && m.Type().Kind() == parquet.Boolean {
		l.managed = m
	}
	if k := c.Column(fieldType); k != nil && k.Leaf() && k.Type().Kind() == parquet.ByteArray {
		l.kind = k
	}
	for _, beside := range []**parquet.Column{&l.managed, &l.kind} {
		if *beside != nil && (*beside).MaxRepetitionLevel() != l.path.MaxRepetitionLevel() {
			*beside = nil // repeated within: the path keeps blobs, and makes no candidate
		}
	}
	return l, true
}

// mark takes from the Avro schema in the footer, where there is one, which
// structs were blobs when the file was written.
func (f *parquetFile) mark() error {
	text, ok := f.file.Lookup("parquet.avro.schema")
	if !ok {
		return nil
	}
	columns, err := Detect(text)
	if err != nil {
		return err
	}
	for i := range f.structs {
		f.structs[i].marked = columns.cover(f.structs[i].column)
	}
	return nil
}

// paths yields the path of every reference in the file, whoever manages it.
// A chunk that may be passed over, by its least and greatest value, isn't read.
func (f *parquetFile) paths(pass func(least, greatest string) bool, emit func(path string) error) error {
	return f.fault(guarded(func() error {
		kept := len(f.src.spans)
		for g := range f.file.RowGroups() {
			var want []*column
			for i := range f.structs {
				c := f.column(g, f.structs[i].path)
				if !c.allNull() && !c.passed(pass) {
					c.dictionary = c.allDictionary()
					want = append(want, c)
				}
			}
			if err := f.prefetch(want); err != nil {
				return err
			}
			for _, c := range want {
				if err := c.distinct(emit); err != nil {
					return err
				}
			}
			f.src.drop(kept)
		}
		return nil
	}))
}

// references yields every reference with what belongs to it. keys asks for the
// records' keys.
func (f *parquetFile) references(keys bool, emit func(Reference, bool) error) error {
	return f.fault(guarded(func() error {
		kept := len(f.src.spans)
		for g := range f.file.RowGroups() {
			for _, s := range f.structs {
				leaves := []*parquet.Column{s.path, s.managed, s.kind, nil}
				if keys {
					leaves[3] = s.key
				}
				if err := f.lockstep(g, s, leaves, emit); err != nil {
					return err
				}
				f.src.drop(kept)
			}
		}
		return nil
	}))
}

// lockstep reads the leaves of one struct side by side: where none is repeated
// within the struct they have a value, or a null, for each place of it.
func (f *parquetFile) lockstep(group int, s parquetLeaves, leaves []*parquet.Column, emit func(Reference, bool) error) error {
	columns := make([]*column, len(leaves))
	var want []*column
	for i, l := range leaves {
		if l != nil {
			columns[i] = f.column(group, l)
			want = append(want, columns[i])
		}
	}
	if err := f.prefetch(want); err != nil {
		return err
	}
	for _, c := range want {
		defer c.close()
	}
	for {
		var values [4]parquet.Value
		for i, c := range columns {
			if c == nil {
				continue
			}
			v, err := c.next()
			if errors.Is(err, io.EOF) && i == 0 {
				return nil
			}
			if err != nil {
				return fmt.Errorf("column %v: %w", c.leaf.Path(), noEOF(err))
			}
			values[i] = v
		}
		if values[0].IsNull() || len(values[0].ByteArray()) == 0 {
			continue
		}
		ref := Reference{Path: string(values[0].ByteArray()), Column: s.column, Managed: !values[1].IsNull() && values[1].Boolean(),
			OutOfLine: !values[2].IsNull() && string(values[2].ByteArray()) == outOfLine, RecordKey: text(values[3])}
		if err := emit(ref, s.marked); err != nil {
			return err
		}
	}
}

func text(v parquet.Value) string {
	if v.IsNull() || v.Kind() != parquet.ByteArray {
		return ""
	}
	return string(v.ByteArray())
}

func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// prefetch reads the chunks of columns in few requests; those too large for
// memory are streamed instead.
func (f *parquetFile) prefetch(columns []*column) error {
	for i := 0; i < len(columns); {
		c := columns[i]
		off, end := c.extent()
		if end-off > spanSize {
			c.stream = leaf.NewRange(f.src.ctx, f.src.r, f.src.name, end)
			f.src.bytes += end - off
			i++
			continue
		}
		for i++; i < len(columns); i++ {
			from, to := columns[i].extent()
			if from < off || from-end > spanGap || max(to, end)-off > spanSize {
				break
			}
			end = max(end, to)
		}
		if off < 0 || end > f.src.size || off > end {
			return errors.New("a column chunk lies outside the file")
		}
		if err := f.src.fetch(off, end); err != nil {
			return err
		}
	}
	return nil
}
