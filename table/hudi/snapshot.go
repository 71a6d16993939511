package hudi

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table/hudi/filegroup"
	"github.com/lakesweep/lakesweep/table/hudi/folder"
	"github.com/lakesweep/lakesweep/table/hudi/mdt"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// Options of Open. The zero value of each field but Now is a valid default.
type Options struct {
	Zone    *time.Location   // of a timeline whose zone is LOCAL; nil: such a table is refused where the zone matters
	Now     func() time.Time // required
	Workers int              // partitions listed at once; 0: 16
	Aliases []lake.Root      // other names of the root, such as the target of a symlink
}

// snapshot is a Hudi table as it was when opened. Safe for concurrent use, but
// for follow.
//
// Memory: the timeline, the names of replaced groups, and what was written to
// the metadata table since its last compaction.
type snapshot struct {
	reader     store.Reader
	root       lake.Root // only for paths and messages
	o          Options
	properties timeline.Properties // not to be changed
	version    string
	timeline   *timeline.Timeline // the active one; not to be changed
	mdt        *mdt.Table         // nil if there is none
	distrust   error              // why the metadata table's listing isn't used though there is one
	services   filegroup.Services
	folders    *folder.Lister
	view       *filegroup.View
}

// openSnapshot reads the table's properties, its timeline and what plans, savepoints
// and replace commits on it say. root is only for paths and messages.
//
// Errors: NotTable; Unsupported for a table version, format or feature that
// isn't known; Damaged.
func openSnapshot(ctx context.Context, r store.Reader, root lake.Root, o Options) (*snapshot, error) {
	t := &snapshot{reader: r, root: root, o: o}
	if t.o.Workers == 0 {
		t.o.Workers = 16
	}
	if err := t.open(ctx); err != nil {
		return nil, t.wrap(err)
	}
	return t, nil
}

func (t *snapshot) open(ctx context.Context) (err error) {
	if t.properties, err = timeline.ReadProperties(ctx, t.reader, timeline.Dir); err != nil {
		return err
	}
	layout, dir, err := t.checkProperties()
	if err != nil {
		return err
	}
	if t.timeline, err = timeline.Load(ctx, t.reader, dir, layout); err != nil {
		return err
	}
	if t.services, err = filegroup.ReadServices(ctx, t.timeline); err != nil {
		return err
	}
	t.view = filegroup.NewView(t.timeline, &t.services, t.archive)
	t.folders = &folder.Lister{Reader: t.reader, Workers: t.o.Workers}
	return t.openMetadata(ctx)
}

// openMetadata opens the metadata table's listing. One that can't be trusted
// isn't used: the folders are listed alone.
func (t *snapshot) openMetadata(ctx context.Context) (err error) {
	if !mdt.Available(t.properties) {
		return nil
	}
	if t.mdt, err = mdt.Open(ctx, t.reader, mdt.Data{Properties: t.properties, Timeline: t.timeline}); err == nil {
		if err = t.mdt.Trust(); err == nil {
			t.folders.Files, err = t.mdt.Files(ctx)
		}
	}
	if k := lake.KindOf(err); err != nil && (k == lake.Refused || k == lake.Damaged) {
		t.distrust, t.folders.Files = err, nil
		return nil
	}
	return err
}

// checkProperties refuses tables that this package doesn't know, and returns
// where the timeline lies.
//
// Source: spec/hudi-clean.md sections 1.1 and 1.2.
func (t *snapshot) checkProperties() (timeline.Layout, string, error) {
	p := t.properties
	t.version = p["hoodie.table.version"]
	layout := p["hoodie.timeline.layout.version"]
	refuse := func(hint, format string, args ...any) (timeline.Layout, string, error) {
		return 0, "", &lake.Error{Op: "open table", Kind: lake.Unsupported, Err: fmt.Errorf(format, args...), Hint: hint}
	}
	switch t.version {
	case "6":
		if layout != "1" {
			return refuse("Look at hoodie.properties.", "table version 6 with timeline layout %q", layout)
		}
	case "8", "9":
		if layout != "2" {
			return refuse("Look at hoodie.properties.", "table version %s with timeline layout %q", t.version, layout)
		}
	default:
		return refuse("lakesweep knows the versions 6, 8 and 9. Upgrade older tables with Hudi, and lakesweep for newer ones.", "Hudi table version %q", t.version)
	}
	if f := p["hoodie.table.format"]; f != "" && f != "native" {
		return refuse("Clean it with the format's own tool.", "table format %q", f)
	}
	if typ := t.kind(); typ != "COPY_ON_WRITE" && typ != "MERGE_ON_READ" {
		return refuse("Look at hoodie.properties.", "table type %q", typ)
	}
	if layout == "1" {
		return timeline.Layout1, timeline.Dir, nil
	}
	path := p["hoodie.timeline.path"]
	if path == "" {
		path = "timeline"
	}
	if strings.Contains(path, "/") || strings.HasPrefix(path, ".") {
		return refuse("Look at hoodie.properties.", "timeline path %q", path)
	}
	return timeline.Layout2, timeline.Dir + "/" + path, nil
}

// kind is COPY_ON_WRITE or MERGE_ON_READ.
func (t *snapshot) kind() string {
	if typ := t.properties["hoodie.table.type"]; typ != "" {
		return typ
	}
	return "COPY_ON_WRITE"
}

// partitioned reports whether the table has partition columns.
func (t *snapshot) partitioned() bool { return t.properties["hoodie.table.partition.fields"] != "" }

// archive reads the archived timeline.
func (t *snapshot) archive(ctx context.Context) (timeline.Archive, error) {
	folder := func(key, otherwise string) string {
		if path := t.properties[key]; path != "" {
			return path
		}
		return otherwise
	}
	if t.timeline.Layout == timeline.Layout2 {
		return timeline.LoadArchive(ctx, t.reader, t.timeline.Dir+"/"+folder("hoodie.timeline.history.path", "history"))
	}
	return timeline.LoadArchive1(ctx, t.reader, timeline.Dir+"/"+folder("hoodie.archivelog.folder", "archived"))
}

// zone returns the zone of the timeline's instants.
//
// Errors: Invalid for a LOCAL timeline whose zone wasn't given.
func (t *snapshot) zone() (*time.Location, error) { return timeline.Zone(t.properties, t.o.Zone) }

// follow lists the timeline again; p are the properties as they were read
// again. What was committed, and what is spoken for, stays what it was.
func (t *snapshot) follow(ctx context.Context, p timeline.Properties) error {
	tl, err := timeline.Load(ctx, t.reader, t.timeline.Dir, t.timeline.Layout)
	if err != nil {
		return err
	}
	t.properties, t.timeline = p, tl
	t.view.Follow(tl)
	return nil
}

// wrap names the table in an error that doesn't yet.
func (t *snapshot) wrap(err error) error {
	if err == nil {
		return nil
	}
	e, ok := errors.AsType[*lake.Error](err)
	switch {
	case !ok || e.Table != "":
		return err
	case error(e) != err: // what was said on the way, such as which file, stays
		return &lake.Error{Table: t.root.String(), Kind: e.Kind, Code: e.Code, Err: err}
	}
	named := *e
	named.Table = t.root.String()
	return &named
}
