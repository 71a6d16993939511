package catalog

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/lakesweep/lakesweep/inventory/internal/iceberg"
	"github.com/lakesweep/lakesweep/inventory/internal/part"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
)

// maxIceberg bounds a metadata file or manifest of an Iceberg table.
const maxIceberg = 512 << 20

// Iceberg opens a list that is an Iceberg table: the rows of its current
// snapshot. root is the folder that holds metadata/, name that of the metadata
// file below it, "" for the newest. A table that was copied is read where it is.
//
// Errors: those of package iceberg; Damaged for a file that isn't there.
func (c *Opener) Iceberg(ctx context.Context, root lake.Root, name string) (*List, error) {
	r, err := c.Stores.OpenReader(ctx, root)
	if err != nil {
		return nil, err
	}
	if name == "" {
		if name, err = newestMetadata(ctx, r); err != nil {
			return nil, err
		}
	}
	meta := part.Part{Reader: r, Name: name, Place: root.Join(lake.Key(name)), Size: -1}
	data, err := meta.All(ctx, maxIceberg)
	if err != nil {
		return nil, err
	}
	at := iceTable{c: c, r: r, root: root}
	table, err := iceberg.Read(ctx, data, func(ctx context.Context, location, file string) ([]byte, error) {
		p, err := at.part(ctx, location, file, -1)
		if err != nil {
			return nil, err
		}
		return p.All(ctx, maxIceberg)
	})
	if err != nil {
		if e, ok := errors.AsType[*lake.Error](err); ok && e.Table == "" {
			e.Table = c.Source
		}
		return nil, err
	}
	l := &List{Kind: "iceberg", Form: c.Form, Rows: -1}
	l.Form.Kind, l.Form.Fields, l.Form.OfStore = "parquet", table.Names, true
	for _, f := range table.Files {
		p, err := at.part(ctx, table.Location, f.Path, f.Size)
		if err != nil {
			return nil, err
		}
		l.Parts = append(l.Parts, p)
	}
	if !table.Taken.IsZero() {
		l.Taken, l.TakenFrom = table.Taken, "list"
	}
	if len(l.Parts) == 0 {
		return l, nil
	}
	return l, l.Form.Probe(ctx, &l.Parts[0])
}

// newestMetadata finds the table's current metadata file.
func newestMetadata(ctx context.Context, r store.Reader) (string, error) {
	entries, err := Level(ctx, r, "metadata/")
	if err != nil {
		return "", err
	}
	var names []string
	hint := ""
	for _, e := range entries {
		base := lake.Key(e.Name).Base()
		if names = append(names, base); base != "version-hint.text" {
			continue
		}
		p := part.Part{Reader: r, Name: e.Name, Place: e.Name, Size: -1}
		text, err := p.All(ctx, 1<<10)
		if err != nil {
			return "", err
		}
		hint = string(text)
	}
	name, err := iceberg.Current(names, hint)
	return "metadata/" + name, err
}

// iceTable finds the files of an Iceberg table.
type iceTable struct {
	c    *Opener
	r    store.Reader
	root lake.Root
}

// part is the file that a table written at location calls by a path: below the
// table where it lies now, or anywhere else as the path says.
func (t iceTable) part(ctx context.Context, location, name string, size int64) (part.Part, error) {
	if below, ok := strings.CutPrefix(bareScheme(name), bareScheme(location)+"/"); ok {
		return part.Part{Reader: t.r, Name: below, Place: t.root.Join(lake.Key(below)), Size: size}, nil
	}
	place, err := lake.ParsePlace(name)
	if err != nil {
		return part.Part{}, err
	}
	folder, ok := place.Parent()
	if !ok {
		return part.Part{}, Invalid(t.c.Source, fmt.Errorf("%q is no file", name), "See that the table can be read by its own engine.")
	}
	r, err := t.c.Stores.OpenReader(ctx, folder)
	return part.Part{Reader: r, Name: path.Base(place.Path), Place: place.String(), Size: size}, err
}

// bareScheme spells a place so that those of one store compare: engines write
// s3 or s3a, file:/ or file:///, or a bare path.
func bareScheme(place string) string {
	scheme, rest, ok := strings.Cut(place, ":")
	if !ok || strings.Contains(scheme, "/") {
		return place
	}
	if class := (lake.Root{Scheme: scheme}).Class(); class != "" {
		scheme = class
	}
	if scheme == "file" {
		return "/" + strings.TrimLeft(rest, "/")
	}
	return scheme + ":" + rest
}
