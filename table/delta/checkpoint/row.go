package checkpoint

import (
	"context"
	"errors"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table/delta/logdir"
	"github.com/lakesweep/lakesweep/table/delta/logfault"
	"github.com/lakesweep/lakesweep/table/delta/logline"
	"github.com/lakesweep/lakesweep/table/delta/meta"
	"github.com/lakesweep/lakesweep/table/internal/leaf"
)

// fileColumns are the columns of one of the actions add and remove.
type fileColumns struct {
	path, size, removed      *leaf.Column
	storage, text, offset    *leaf.Column
	keys, values             *leaf.Repeated
	keyBuffer, valueBuffer   []string
	valueNull                []bool
	lastSignature, signature []byte
	lastID                   int32
}

func (g *rowGroup) fileColumns(name string) *fileColumns {
	c := &fileColumns{
		path: g.column(name, "path"), size: g.column(name, "size"), removed: &leaf.Column{},
		storage: g.column(name, "deletionVector", "storageType"), text: g.column(name, "deletionVector", "pathOrInlineDv"),
		offset: g.column(name, "deletionVector", "offset"),
		keys:   g.elements("key", name, "partitionValues"), values: g.elements("value", name, "partitionValues"),
	}
	if name == "remove" {
		c.removed = g.column(name, "deletionTimestamp")
	}
	return c
}

// wanted returns the columns that are read of a row group in which deletion
// vectors are rare.
func (c *fileColumns) wanted(parts bool) []*leaf.Column {
	if c.path.AllNull() {
		return []*leaf.Column{c.path}
	}
	columns := []*leaf.Column{c.path, c.size, c.removed, c.storage}
	if parts {
		columns = append(columns, &c.keys.Column, &c.values.Column)
	}
	return columns
}

// files calls fn with every add and remove of a row group.
func (g *rowGroup) files(parts Values, fn func(*logline.Action) error) error {
	add, remove := g.fileColumns("add"), g.fileColumns("remove")
	for i, name := range [2]string{"add", "remove"} {
		c := [2]*fileColumns{add, remove}[i]
		if g.find(name) != nil && c.path.Leaf == nil || g.find(name, "deletionVector") != nil && (c.storage.Leaf == nil || c.text.Leaf == nil) {
			return leaf.ErrShape
		}
	}
	if g.file.sidecar && add.path.Leaf == nil && remove.path.Leaf == nil {
		return errors.New("a sidecar without files")
	}
	g.begin(add.wanted(parts.Adds != nil), remove.wanted(parts.Removes != nil))
	var a logline.Action
	for row := range g.rows() {
		for i, c := range [2]*fileColumns{add, remove} {
			ok, err := c.path.At(row)
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
			a = logline.Action{Op: logline.Add + logline.Op(i), Size: -1}
			if err := c.read(&a, row, [2]*Partitions{parts.Adds, parts.Removes}[i]); err != nil {
				return err
			}
			if err := fn(&a); err != nil {
				return err
			}
		}
	}
	return nil
}

// Values says which partition values of a checkpoint are read, and
// into which table; nil reads none.
type Values struct{ Adds, Removes *Partitions }

func (c *fileColumns) read(a *logline.Action, row int64, parts *Partitions) (err error) {
	if a.Path, err = c.path.Text(); err != nil {
		return err
	}
	if a.Path == "" {
		return errors.New("a file without a path")
	}
	for _, n := range []struct {
		from *leaf.Column
		to   *int64
	}{{c.size, &a.Size}, {c.removed, &a.Removed}} {
		if err := n.from.IntAt(row, n.to); err != nil {
			return err
		}
	}
	if a.DV, err = c.deletionVector(row); err != nil {
		return err
	}
	if parts != nil {
		a.Values, err = c.partition(row, parts)
	}
	return err
}

func (c *fileColumns) deletionVector(row int64) (*logline.DV, error) {
	ok, err := c.storage.At(row)
	if err != nil || !ok {
		return nil, err
	}
	d := &logline.DV{Offset: -1}
	if d.Storage, err = c.storage.Text(); err != nil {
		return nil, err
	}
	if ok, err = c.text.At(row); err != nil || !ok {
		return nil, errors.Join(err, errors.New("a deletion vector without pathOrInlineDv"))
	}
	if d.Text, err = c.text.Text(); err != nil {
		return nil, err
	}
	return d, c.offset.IntAt(row, &d.Offset)
}

// partition interns the partition values of a row.
func (c *fileColumns) partition(row int64, parts *Partitions) (int32, error) {
	c.keyBuffer, c.valueBuffer, c.valueNull = c.keyBuffer[:0], c.valueBuffer[:0], c.valueNull[:0]
	present, err := c.keys.Each(row, func(i int, null bool) error {
		if null {
			return leaf.ErrShape
		}
		s, err := c.keys.TextAt(i)
		c.keyBuffer = append(c.keyBuffer, s)
		return err
	})
	if err != nil || !present {
		return 0, err
	}
	_, err = c.values.Each(row, func(i int, null bool) error {
		s, err := "", error(nil)
		if !null {
			s, err = c.values.TextAt(i)
		}
		c.valueBuffer, c.valueNull = append(c.valueBuffer, s), append(c.valueNull, null)
		return err
	})
	if err != nil {
		return 0, err
	}
	if len(c.valueBuffer) != len(c.keyBuffer) {
		return 0, leaf.ErrShape
	}
	return c.intern(parts), nil
}

// intern looks the buffered values up; neighbours mostly share theirs.
func (c *fileColumns) intern(parts *Partitions) int32 {
	c.signature = c.signature[:0]
	for i, k := range c.keyBuffer {
		c.signature = append(append(append(append(c.signature, k...), 0), c.valueBuffer[i]...), 0)
	}
	if c.lastID != 0 && string(c.signature) == string(c.lastSignature) {
		return c.lastID
	}
	values := make(map[string]*string, len(c.keyBuffer))
	for i, k := range c.keyBuffer {
		values[k] = &c.valueBuffer[i]
		if c.valueNull[i] {
			values[k] = nil
		}
	}
	c.lastID = parts.add(values)
	c.lastSignature = append(c.lastSignature[:0], c.signature...)
	return c.lastID
}

// Head reads the protocol and metaData of a checkpoint.
//
// Errors: corrupt (logfault.IsCorrupt) where a file of it, sidecars too, is missing or can't be read.
func (r *Reader) Head(ctx context.Context, c logdir.Checkpoint) (meta.Head, error) {
	h := meta.NoHead()
	o, err := r.openCheckpoint(ctx, c)
	if err != nil {
		return h, err
	}
	if o.json != nil {
		err := r.jsonRows(ctx, *o.json, func(a logline.Action) error {
			if a.Op == logline.Protocol || a.Op == logline.Metadata {
				return h.Take(a, c.Version)
			}
			return nil
		})
		if err != nil {
			return h, logfault.AsCorrupt(err)
		}
	}
	for _, p := range o.files {
		if p.sidecar {
			continue
		}
		for i := range p.f.RowGroups() {
			if h.ProtocolVersion >= 0 && h.MetadataVersion >= 0 {
				return h, nil // each stands once in a checkpoint
			}
			g := &rowGroup{dir: r.dir, ctx: ctx, file: p, index: i}
			if err := g.run(func() error { return g.head(&h, c.Version) }); err != nil {
				return h, err
			}
		}
	}
	return h, nil
}

func (g *rowGroup) head(h *meta.Head, version int64) error {
	reader, schema := g.column("protocol", "minReaderVersion"), g.column("metaData", "schemaString")
	if reader.AllNull() && schema.AllNull() {
		return nil
	}
	if err := g.hold("protocol", "metaData"); err != nil {
		return err
	}
	reader, schema = g.column("protocol", "minReaderVersion"), g.column("metaData", "schemaString")
	for row := range g.rows() {
		ok, err := reader.At(row)
		if err != nil {
			return err
		}
		if ok {
			if h.Protocol, err = g.protocol(reader, row); err != nil {
				return err
			}
			h.ProtocolVersion = version
		}
		if ok, err = schema.At(row); err != nil {
			return err
		}
		if ok {
			if h.Metadata, err = g.metadata(schema, row); err != nil {
				return err
			}
			h.MetadataVersion = version
		}
	}
	return nil
}

func (g *rowGroup) protocol(reader *leaf.Column, row int64) (p meta.Protocol, err error) {
	if err := reader.IntAt(row, &p.Reader); err != nil {
		return p, err
	}
	if err := g.column("protocol", "minWriterVersion").IntAt(row, &p.Writer); err != nil {
		return p, err
	}
	if p.ReaderFeatures, err = g.list(row, "protocol", "readerFeatures"); err != nil {
		return p, err
	}
	p.WriterFeatures, err = g.list(row, "protocol", "writerFeatures")
	return p, err
}

// list reads a list of strings, nil if it is null.
func (g *rowGroup) list(row int64, path ...string) (*[]string, error) {
	values := []string{}
	r := g.elements("", path...)
	present, err := r.Each(row, func(i int, null bool) error {
		if null {
			return leaf.ErrShape
		}
		s, err := r.TextAt(i)
		values = append(values, s)
		return err
	})
	if err != nil || !present {
		return nil, err
	}
	return &values, nil
}

func (g *rowGroup) metadata(schema *leaf.Column, row int64) (meta.Metadata, error) {
	var a meta.MetadataAction
	var err error
	if a.Schema, err = schema.Text(); err != nil {
		return meta.Metadata{}, err
	}
	id, name := g.column("metaData", "id"), g.column("metaData", "name")
	if ok, err := id.At(row); err != nil || !ok {
		return meta.Metadata{}, errors.Join(err, errors.New("metaData without an id"))
	}
	if a.ID, err = id.Text(); err != nil {
		return meta.Metadata{}, err
	}
	if ok, err := name.At(row); err != nil {
		return meta.Metadata{}, err
	} else if ok {
		s, err := name.Text()
		if err != nil {
			return meta.Metadata{}, err
		}
		a.Name = &s
	}
	columns, err := g.list(row, "metaData", "partitionColumns")
	if err != nil {
		return meta.Metadata{}, err
	}
	if columns != nil {
		a.PartitionColumns = *columns
	}
	if a.Configuration, err = g.stringMap(row, "metaData", "configuration"); err != nil {
		return meta.Metadata{}, err
	}
	m, err := a.Metadata()
	if err != nil {
		return m, &lake.Error{Op: "read metaData", Key: lake.Key(g.file.Name), Kind: lake.Damaged, Err: err}
	}
	return m, nil
}

func (g *rowGroup) stringMap(row int64, path ...string) (map[string]*string, error) {
	var keys []string
	values := map[string]*string{}
	k, v := g.elements("key", path...), g.elements("value", path...)
	if _, err := k.Each(row, func(i int, null bool) error {
		s, err := k.TextAt(i)
		keys = append(keys, s)
		return err
	}); err != nil {
		return nil, err
	}
	n := 0
	_, err := v.Each(row, func(i int, null bool) error {
		if n >= len(keys) {
			return leaf.ErrShape
		}
		if !null {
			s, err := v.TextAt(i)
			if err != nil {
				return err
			}
			values[keys[n]] = &s
		}
		n++
		return nil
	})
	return values, err
}
