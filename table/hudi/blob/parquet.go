package blob

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/column"
	"github.com/lakesweep/lakesweep/table/hudi/blob/shape"
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
	keys    bool    // references get their records' keys
	refused error   // by who is told of references, as opposed to a fault of the content
	starts  []int64 // where the things begin that the footer tells of, in order; nil before it was asked
}

// openParquet reads the footer.
//
// Errors: the source's; Damaged, Unsupported.
func openParquet(src *source, known *schemas) (f *parquetFile, err error) {
	f = &parquetFile{src: src}
	err = column.Guard(func() error {
		if src.size <= wholeSize {
			err = src.fetch(0, src.size)
		} else {
			err = src.fetch(src.size-tailSize, src.size)
		}
		if err != nil {
			return err
		}
		f.file, err = column.OpenFile(src, src.size, parquet.SkipMagicBytes(true), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
		if err != nil {
			return err
		}
		f.find(f.file.Root(), nil)
		return f.mark(known)
	})
	return f, f.fault(err)
}

// fault tells the store's errors from those of the content.
func (f *parquetFile) fault(err error) error {
	switch {
	case f.refused != nil:
		return f.refused
	case err == nil || f.src.err != nil:
		return f.src.err
	}
	if _, ok := errors.AsType[*lake.Error](err); ok {
		return err
	}
	return &lake.Error{Op: "read Parquet file", Kind: lake.Damaged, Err: err}
}

// find gathers the structs of a blob's shape below c, whose path, without
// lists and maps, is path.
func (f *parquetFile) find(c *parquet.Column, path []string) {
	for _, leaves := range shapesOf(c) {
		leaves.column = strings.Join(path, ".")
		if key := f.file.Root().Column(shape.RecordKey); key != nil && key.Leaf() && leaves.path.MaxRepetitionLevel() == 0 {
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

// shapesOf returns the leaves of a struct with reference.external_path: several
// where one of the two is a union, each of whose branches has a group or leaf of
// its own.
func shapesOf(c *parquet.Column) (out []parquetLeaves) {
	for _, reference := range branches(c.Column(shape.FieldReference)) {
		if reference.Leaf() {
			continue
		}
		for _, path := range branches(reference.Column(shape.FieldPath)) {
			if path.Leaf() && path.Type().Kind() == parquet.ByteArray {
				out = append(out, leavesOf(c, reference, path))
			}
		}
	}
	return out
}

func leavesOf(c, reference, path *parquet.Column) parquetLeaves {
	l := parquetLeaves{path: path}
	if m := reference.Column(shape.FieldManaged); m != nil && m.Leaf() && m.Type().Kind() == parquet.Boolean {
		l.managed = m
	}
	if k := c.Column(shape.FieldType); k != nil && k.Leaf() && k.Type().Kind() == parquet.ByteArray {
		l.kind = k
	}
	for _, beside := range []**parquet.Column{&l.managed, &l.kind} {
		if *beside != nil && (*beside).MaxRepetitionLevel() != l.path.MaxRepetitionLevel() {
			*beside = nil // repeated within: the path keeps blobs, and makes no candidate
		}
	}
	return l
}

// branches returns what a field may be: its members where it is a union of
// several types, which Avro's writers make a group of, else itself.
//
// Source: Apache Parquet Java, AvroSchemaConverter.convertUnion.
func branches(c *parquet.Column) []*parquet.Column {
	if c == nil {
		return nil
	}
	members := c.Columns()
	for i, m := range members {
		if m.Name() != fmt.Sprintf("member%d", i) {
			return []*parquet.Column{c}
		}
	}
	if len(members) == 0 {
		return []*parquet.Column{c}
	}
	return members
}

// mark takes from the Avro schema in the footer, where there is one, which
// structs were blobs when the file was written.
func (f *parquetFile) mark(known *schemas) error {
	text, ok := f.file.Lookup("parquet.avro.schema")
	if !ok {
		return nil
	}
	k, err := known.get(text)
	if err != nil {
		return err
	}
	for i := range f.structs {
		f.structs[i].marked = k.blobs.Cover(f.structs[i].column)
	}
	return nil
}

// paths yields the path of every reference in the file, whoever manages it, but
// for those in chunks that s takes out; nil takes none.
func (f *parquetFile) paths(s *sieve, emit func(path string) error) error {
	return f.fault(column.Guard(func() error {
		groups, err := f.sifted(s)
		if err != nil {
			return err
		}
		kept := len(f.src.spans)
		for _, want := range groups {
			if err := f.prefetch(want); err != nil {
				return err
			}
			for _, c := range want {
				if err := c.distinct(func(path string) error { return f.told(emit(path)) }); err != nil {
					return err
				}
			}
			f.src.drop(kept)
		}
		return nil
	}))
}

// references yields every reference with what belongs to it, and whether the
// file's own schema calls the struct a blob.
func (f *parquetFile) references(emit func(shape.Reference, bool) error) error {
	return f.fault(column.Guard(func() error {
		kept := len(f.src.spans)
		for g := range f.file.RowGroups() {
			for _, s := range f.structs {
				if err := f.lockstep(g, s, emit); err != nil {
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
func (f *parquetFile) lockstep(group int, s parquetLeaves, emit func(shape.Reference, bool) error) (err error) {
	var cursors []*column.Cursor
	var want []*chunk
	at := [4]int{-1, -1, -1, -1} // the cursor of path, managed, type and key
	for i, l := range []*parquet.Column{s.path, s.managed, s.kind, s.key} {
		if l == nil || i == 3 && !f.keys {
			continue
		}
		c, err := f.chunk(group, l)
		if err != nil {
			return err
		}
		if i == 0 && c.meta.NumValues == 0 {
			return nil
		}
		if len(want) > 0 && c.meta.NumValues != want[0].meta.NumValues {
			return fmt.Errorf("columns %v and %v have %d and %d values", want[0].leaf.Path(), l.Path(), want[0].meta.NumValues, c.meta.NumValues)
		}
		at[i], want = len(want), append(want, c)
	}
	if err := f.prefetch(want); err != nil {
		return err
	}
	for _, c := range want {
		defer c.close()
		cursors = append(cursors, column.New(c.pages()))
	}
	defer func() { err = errors.Join(err, column.Close(cursors)) }()
	for left := want[0].meta.NumValues; left > 0; {
		n, err := column.Fill(cursors, left)
		if err != nil {
			return want[0].fault(err)
		}
		var values [4][]parquet.Value
		for i, c := range at {
			if c >= 0 {
				values[i] = cursors[c].Take(n)
			}
		}
		for i := range n {
			if ref := reference(values, i); ref.Path != "" {
				ref.Column = s.column
				if err := f.told(emit(ref, s.marked)); err != nil {
					return err
				}
			}
		}
		left -= int64(n)
	}
	return nil
}

// told notes what who is told of references answers.
func (f *parquetFile) told(err error) error {
	f.refused = err
	return err
}

// reference makes a reference of the i-th values of path, managed, type and key.
func reference(values [4][]parquet.Value, i int) shape.Reference {
	get := func(list []parquet.Value) parquet.Value {
		if list == nil {
			return parquet.Value{}
		}
		return list[i]
	}
	managed := get(values[1])
	return shape.Reference{Path: text(get(values[0])), Managed: !managed.IsNull() && managed.Boolean(), OutOfLine: text(get(values[2])) == shape.OutOfLine, RecordKey: text(get(values[3]))}
}

func text(v parquet.Value) string {
	if v.IsNull() || v.Kind() != parquet.ByteArray {
		return ""
	}
	return string(v.ByteArray())
}

// prefetch reads the chunks of columns in few requests; those too large for
// memory are streamed instead.
func (f *parquetFile) prefetch(chunks []*chunk) error {
	list := slices.SortedFunc(slices.Values(chunks), func(a, b *chunk) int {
		x, _ := a.extent()
		y, _ := b.extent()
		return cmp.Compare(x, y)
	})
	for i := 0; i < len(list); {
		c := list[i]
		off, end := c.extent()
		if off < 0 || off > end || end > f.src.size {
			return errors.New("a column chunk lies outside the file")
		}
		if end-off > spanSize {
			c.stream = leaf.NewRange(f.src.ctx, f.src.r, f.src.name, end)
			f.src.bytes += end - off
			i++
			continue
		}
		for i++; i < len(list); i++ {
			from, to := list[i].extent()
			if to < from || to > f.src.size || from-end > spanGap || max(to, end)-off > spanSize {
				break
			}
			end = max(end, to)
		}
		if err := f.src.fetch(off, end); err != nil {
			return err
		}
	}
	return nil
}
