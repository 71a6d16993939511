package inventory

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/lakesweep/lakesweep/inventory/internal/iceberg"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
)

// maxIceberg bounds a metadata file or manifest of an Iceberg table.
const maxIceberg = 512 << 20

// openIceberg opens a list that is an Iceberg table: the rows of its current
// snapshot. root is the folder that holds metadata/, name that of the metadata
// file below it, "" for the newest. A table that was copied is read where it is.
//
// Errors: those of package iceberg; Damaged for a file that isn't there.
func (s *Source) openIceberg(ctx context.Context, root lake.Root, name string) error {
	r, err := s.o.Stores.OpenReader(ctx, root)
	if err != nil {
		return err
	}
	if name == "" {
		if name, err = s.newestMetadata(ctx, r); err != nil {
			return err
		}
	}
	meta := part{r: r, name: name, place: root.Join(lake.Key(name)), size: -1}
	data, err := meta.all(ctx, maxIceberg)
	if err != nil {
		return err
	}
	at := iceTable{s: s, r: r, root: root}
	table, err := iceberg.Read(ctx, data, func(ctx context.Context, location, file string) ([]byte, error) {
		p, err := at.part(ctx, location, file, -1)
		if err != nil {
			return nil, err
		}
		return p.all(ctx, maxIceberg)
	})
	if err != nil {
		if e, ok := errors.AsType[*lake.Error](err); ok && e.Table == "" {
			e.Table = s.o.Source
		}
		return err
	}
	for _, f := range table.Files {
		p, err := at.part(ctx, table.Location, f.Path, f.Size)
		if err != nil {
			return err
		}
		s.parts = append(s.parts, p)
	}
	s.info.Kind, s.form.kind, s.form.fields = "iceberg", "parquet", table.Names
	if !table.Taken.IsZero() {
		s.info.Taken, s.info.TakenFrom = table.Taken, "list"
	}
	if len(s.parts) == 0 {
		return nil
	}
	return s.probeParquet(ctx, &s.parts[0])
}

// newestMetadata finds the table's current metadata file.
func (s *Source) newestMetadata(ctx context.Context, r store.Reader) (string, error) {
	entries, err := list(ctx, r, "metadata/")
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
		p := part{r: r, name: e.Name, place: e.Name, size: -1}
		text, err := p.all(ctx, 1<<10)
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
	s    *Source
	r    store.Reader
	root lake.Root
}

// part is the file that a table written at location calls by a path: below the
// table where it lies now, or anywhere else as the path says.
func (t iceTable) part(ctx context.Context, location, name string, size int64) (part, error) {
	if below, ok := strings.CutPrefix(bareScheme(name), bareScheme(location)+"/"); ok {
		return part{r: t.r, name: below, place: t.root.Join(lake.Key(below)), size: size}, nil
	}
	place, err := lake.ParsePlace(name)
	if err != nil {
		return part{}, err
	}
	folder, ok := place.Parent()
	if !ok {
		return part{}, invalid(t.s.o.Source, fmt.Errorf("%q is no file", name), "See that the table can be read by its own engine.")
	}
	r, err := t.s.o.Stores.OpenReader(ctx, folder)
	return part{r: r, name: path.Base(place.Path), place: place.String(), size: size}, err
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
