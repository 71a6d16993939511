package inventory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/store"
)

// openFile opens a list that is named by one file: the list itself or a manifest.
func (s *Source) openFile(ctx context.Context, place lake.Root, p part) error {
	if folder, ok := place.Parent(); ok && isMetadata(p.name) && lake.Key(folder.Path).Base() == "metadata" {
		if root, ok := folder.Parent(); ok {
			return s.openIceberg(ctx, root, "metadata/"+p.name)
		}
	}
	if strings.HasSuffix(strings.ToLower(p.name), ".json") {
		if ok, err := s.openManifest(ctx, place, &p); ok || err != nil {
			return err
		}
	}
	s.parts = []part{p}
	if err := s.sniff(ctx, &p); err != nil {
		return err
	}
	if s.info.Kind == "" {
		s.info.Kind = s.form.kind
	}
	s.info.Encoding = s.form.encoding
	return nil
}

// openFolder opens a list that is a folder: a table, a report with its
// manifest, or plain files of one form.
func (s *Source) openFolder(ctx context.Context, place lake.Root) error {
	var top []store.Info
	r, err := s.o.Stores.OpenReader(ctx, place)
	if err == nil {
		top, err = list(ctx, r, "")
	}
	if isMissing(err) || err == nil && len(top) == 0 {
		return invalid(s.o.Source, fs.ErrNotExist, "Name a file, a folder of files, a manifest.json or a Delta table.")
	}
	if err != nil {
		return err
	}
	var manifests []store.Info
	for _, e := range top {
		isDir := e.Kind == store.Dir || e.Kind == store.Marker
		switch {
		case isDir && e.Name == "_delta_log":
			return s.openDelta(ctx, r, place)
		case isDir && e.Name == ".hoodie":
			return s.unsupported("a Hudi table", "Export the list as Parquet or CSV.")
		case isDir && e.Name == "metadata":
			iceberg, err := isIceberg(ctx, r)
			if err != nil {
				return err
			}
			if iceberg {
				return s.openIceberg(ctx, place, "")
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
		return s.openFile(ctx, at, part{r: r, name: name, place: at.String(), size: info.Size, modified: info.Modified})
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
			below, err := list(ctx, r, e.Name+"/")
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
			s.parts = append(s.parts, part{r: r, name: e.Name, place: place.Join(lake.Key(e.Name)), size: e.Size, modified: e.Modified})
		case store.Symlink:
			return invalid(s.o.Source, fmt.Errorf("%s is a symbolic link", e.Name), "Put the file itself there, or name a folder without links.")
		}
	}
	if len(s.parts) == 0 {
		return invalid(s.o.Source, errors.New("no file in the folder"), "Name a file, a folder of files, a manifest.json or a Delta table.")
	}
	slices.SortFunc(s.parts, func(a, b part) int { return strings.Compare(a.name, b.name) })
	kind := extension(s.parts[0].name)
	for _, p := range s.parts {
		if extension(p.name) != kind {
			return invalid(s.o.Source, fmt.Errorf("files of several forms: %s and %s", s.parts[0].name, p.name), "Name the manifest.json of a report, or a folder that holds nothing but the list.")
		}
	}
	if err := s.sniff(ctx, &s.parts[0]); err != nil {
		return err
	}
	s.info.Kind, s.info.Encoding = s.form.kind, s.form.encoding
	return nil
}

func extension(name string) string {
	name = strings.ToLower(name)
	for _, suffix := range []string{".gz", ".zst"} {
		name = strings.TrimSuffix(name, suffix)
	}
	return path.Ext(name)
}

// list returns one level of a folder.
func list(ctx context.Context, r store.Reader, prefix string) (out []store.Info, err error) {
	req := store.PageRequest{Prefix: prefix, Dirs: true}
	for {
		page, err := r.List(ctx, req)
		if err != nil {
			return nil, err
		}
		out = append(out, page.Entries...)
		if page.Next == "" {
			return out, nil
		}
		req.Token = page.Next
	}
}

func isIceberg(ctx context.Context, r store.Reader) (bool, error) {
	entries, err := list(ctx, r, "metadata/")
	return slices.ContainsFunc(entries, func(e store.Info) bool { return isMetadata(e.Name) }), err
}

// isMetadata reports whether a file's name is that of an Iceberg table's metadata.
func isMetadata(name string) bool {
	return lake.IcebergMetadata(name)
}

// ownList takes the root and the time of a plan or a list of ours.
//
// Errors: Damaged for a head that can't be read.
func (s *Source) ownList(f *parquetFile) error {
	if text, ok := f.file.Lookup(filelist.HeadKey); ok {
		var h filelist.Head
		if err := json.Unmarshal([]byte(text), &h); err != nil {
			return f.part.damaged(fmt.Errorf("head of the plan: %w", err))
		}
		s.info.Kind, s.info.Partial = "plan", true
		s.form.root, s.form.own = h.Table, true
		s.info.Taken, s.info.TakenFrom = h.Created, "list"
	} else if text, ok := f.file.Lookup(filelist.ListKey); ok {
		var h filelist.ListHead
		if err := json.Unmarshal([]byte(text), &h); err != nil {
			return f.part.damaged(fmt.Errorf("head of the list: %w", err))
		}
		s.info.Kind = "list"
		s.form.root, s.form.own = h.Root, true
		s.info.Taken, s.info.TakenFrom = h.Taken, "list"
	}
	return nil
}

func (s *Source) unsupported(what, hint string) error {
	return &lake.Error{Op: "open inventory", Table: s.o.Source, Kind: lake.Unsupported, Err: errors.New(what), Hint: hint}
}

func invalid(source string, err error, hint string) error {
	return &lake.Error{Op: "open inventory", Table: source, Kind: lake.Invalid, Err: err, Hint: hint}
}

func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
