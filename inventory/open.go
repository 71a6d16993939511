package inventory

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/lakesweep/lakesweep/inventory/internal/catalog"
	"github.com/lakesweep/lakesweep/inventory/internal/part"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
)

// openFile opens a list that is named by one file: the list itself or a manifest.
func (s *Source) openFile(ctx context.Context, place lake.Root, p part.Part) error {
	if folder, ok := place.Parent(); ok && lake.IcebergMetadata(p.Name) && lake.Key(folder.Path).Base() == "metadata" {
		if root, ok := folder.Parent(); ok {
			return s.take(s.catalog().Iceberg(ctx, root, "metadata/"+p.Name))
		}
	}
	if strings.HasSuffix(strings.ToLower(p.Name), ".json") {
		if l, err := s.catalog().Manifest(ctx, place, &p); l != nil || err != nil {
			return s.take(l, err)
		}
	}
	s.parts = []part.Part{p}
	if err := s.form.Sniff(ctx, &p); err != nil {
		return err
	}
	s.info.Kind, s.info.Encoding = s.form.Kind, s.form.Encoding
	s.takeHead()
	return nil
}

// catalog opens lists that say themselves which files hold their rows.
func (s *Source) catalog() *catalog.Opener {
	return &catalog.Opener{Source: s.o.Source, Stores: s.o.Stores, Now: s.o.Now, Workers: s.o.Workers, Form: s.form}
}

// take takes over what a catalog says.
func (s *Source) take(l *catalog.List, err error) error {
	if err != nil {
		return err
	}
	s.parts, s.form = l.Parts, l.Form
	s.info.Kind, s.info.Encoding, s.info.Rows, s.info.Notes = l.Kind, l.Encoding, l.Rows, l.Notes
	s.info.Taken, s.info.TakenFrom = l.Taken, l.TakenFrom
	s.takeHead()
	return nil
}

// takeHead takes over the head of a list that lakesweep wrote.
func (s *Source) takeHead() {
	if h := s.form.Written; h != nil {
		s.info.Kind, s.info.Partial = h.Kind, h.Kind == "plan"
		s.info.Taken, s.info.TakenFrom = h.Taken, "list"
	}
}

// openFolder opens a list that is a folder: a table, a report with its
// manifest, or plain files of one form.
func (s *Source) openFolder(ctx context.Context, place lake.Root) error {
	var top []store.Info
	r, err := s.o.Stores.OpenReader(ctx, place)
	if err == nil {
		top, err = catalog.Level(ctx, r, "")
	}
	if part.Missing(err) || err == nil && len(top) == 0 {
		return catalog.Invalid(s.o.Source, fs.ErrNotExist, "Name a file, a folder of files, a manifest.json or a Delta table.")
	}
	if err != nil {
		return err
	}
	var manifests []store.Info
	for _, e := range top {
		isDir := e.Kind == store.Dir || e.Kind == store.Marker
		switch {
		case isDir && e.Name == "_delta_log":
			return s.take(s.catalog().Delta(ctx, r, place))
		case isDir && e.Name == ".hoodie":
			return catalog.Unsupported(s.o.Source, "a Hudi table", "Export the list as Parquet or CSV.")
		case isDir && e.Name == "metadata":
			iceberg, err := catalog.IsIceberg(ctx, r)
			if err != nil {
				return err
			}
			if iceberg {
				return s.take(s.catalog().Iceberg(ctx, place, ""))
			}
		case e.Kind == store.File && strings.HasSuffix(e.Name, "manifest.json"):
			manifests = append(manifests, e)
		}
	}
	if len(manifests) == 1 {
		name := manifests[0].Name
		info, err := r.Stat(ctx, name)
		if err != nil {
			return err
		}
		at := place
		at.Path = path.Join(place.Path, name)
		return s.openFile(ctx, at, part.Part{Reader: r, Name: name, Place: at.String(), Size: info.Size, Modified: info.Modified})
	}
	return s.openFiles(ctx, r, place, top)
}

// openFiles opens all files below a folder as one list. Names that begin with
// '_' or '.' don't belong to it, as in every engine.
func (s *Source) openFiles(ctx context.Context, r store.Reader, place lake.Root, entries []store.Info) error {
	for len(entries) > 0 {
		e := entries[0]
		entries = entries[1:]
		base := lake.Key(e.Name).Base()
		if strings.HasPrefix(base, "_") || strings.HasPrefix(base, ".") {
			continue
		}
		switch e.Kind {
		case store.Dir:
			below, err := catalog.Level(ctx, r, e.Name+"/")
			if err != nil {
				return err
			}
			entries = append(entries, below...)
		case store.File:
			if e.Modified.IsZero() || e.Size < 0 {
				info, err := r.Stat(ctx, e.Name)
				if err != nil {
					return err
				}
				e = info
			}
			s.parts = append(s.parts, part.Part{Reader: r, Name: e.Name, Place: place.Join(lake.Key(e.Name)), Size: e.Size, Modified: e.Modified})
		case store.Symlink:
			return catalog.Invalid(s.o.Source, fmt.Errorf("%s is a symbolic link", e.Name), "Put the file itself there, or name a folder without links.")
		}
	}
	if len(s.parts) == 0 {
		return catalog.Invalid(s.o.Source, errors.New("no file in the folder"), "Name a file, a folder of files, a manifest.json or a Delta table.")
	}
	slices.SortFunc(s.parts, func(a, b part.Part) int { return strings.Compare(a.Name, b.Name) })
	kind := part.Extension(s.parts[0].Name)
	for _, p := range s.parts {
		if part.Extension(p.Name) != kind {
			return catalog.Invalid(s.o.Source, fmt.Errorf("files of several forms: %s and %s", s.parts[0].Name, p.Name), "Name the manifest.json of a report, or a folder that holds nothing but the list.")
		}
	}
	if err := s.form.Sniff(ctx, &s.parts[0]); err != nil {
		return err
	}
	s.takeHead()
	s.info.Kind, s.info.Encoding = s.form.Kind, s.form.Encoding
	return nil
}
