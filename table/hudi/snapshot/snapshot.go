package snapshot

import (
	"cmp"
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

// Table is a Hudi table as it was when opened. Safe for concurrent use, but
// for Follow.
//
// Memory: the timeline, the names of replaced groups, and what was written to
// the metadata table since its last compaction.
type Table struct {
	Reader     store.Reader
	Root       lake.Root // only for paths and messages
	Options    Options
	Properties timeline.Properties // not to be changed
	Version    string              // of the table: "6", "8" or "9"
	Timeline   *timeline.Timeline  // the active one; not to be changed
	MDT        *mdt.Table          // nil if there is none
	Distrust   error               // why the metadata table's listing isn't used though there is one
	Services   filegroup.Services
	Folders    *folder.Lister
	View       *filegroup.View
}

// Open reads the table's properties, its timeline and what plans, savepoints
// and replace commits on it say. root is only for paths and messages.
//
// Errors: NotTable; Unsupported for a table version, format or feature that
// isn't known; Damaged.
func Open(ctx context.Context, r store.Reader, root lake.Root, o Options) (*Table, error) {
	t := &Table{Reader: r, Root: root, Options: o}
	if t.Options.Workers == 0 {
		t.Options.Workers = 16
	}
	if err := t.open(ctx); err != nil {
		return nil, t.Wrap(err)
	}
	return t, nil
}

func (t *Table) open(ctx context.Context) (err error) {
	if t.Properties, err = timeline.ReadProperties(ctx, t.Reader, timeline.Dir); err != nil {
		return err
	}
	layout, dir, err := t.checkProperties()
	if err != nil {
		return err
	}
	if t.Timeline, err = timeline.Load(ctx, t.Reader, dir, layout); err != nil {
		return err
	}
	if t.Services, err = filegroup.ReadServices(ctx, t.Timeline); err != nil {
		return err
	}
	t.View = filegroup.NewView(t.Timeline, &t.Services, t.archive)
	t.Folders = &folder.Lister{Reader: t.Reader, Workers: t.Options.Workers}
	return t.openMetadata(ctx)
}

// openMetadata opens the metadata table's listing. One that can't be trusted
// isn't used: the folders are listed alone.
func (t *Table) openMetadata(ctx context.Context) (err error) {
	if !mdt.Available(t.Properties) {
		return nil
	}
	if t.MDT, err = mdt.Open(ctx, t.Reader, mdt.Data{Properties: t.Properties, Timeline: t.Timeline}); err == nil {
		if err = t.MDT.Trust(); err == nil {
			t.Folders.Files, err = t.MDT.Files(ctx)
		}
	}
	if k := lake.KindOf(err); err != nil && (k == lake.Refused || k == lake.Damaged) {
		t.Distrust, t.Folders.Files = err, nil
		return nil
	}
	return err
}

// checkProperties refuses tables that this package doesn't know, and returns
// where the timeline lies.
//
// Source: spec/hudi-clean.md sections 1.1 and 1.2.
func (t *Table) checkProperties() (timeline.Layout, string, error) {
	p := t.Properties
	t.Version = p["hoodie.table.version"]
	layout := p["hoodie.timeline.layout.version"]
	refuse := func(hint, format string, args ...any) (timeline.Layout, string, error) {
		return 0, "", &lake.Error{Op: "open table", Kind: lake.Unsupported, Err: fmt.Errorf(format, args...), Hint: hint}
	}
	switch t.Version {
	case "6":
		if layout != "1" {
			return refuse("Look at hoodie.properties.", "table version 6 with timeline layout %q", layout)
		}
	case "8", "9":
		if layout != "2" {
			return refuse("Look at hoodie.properties.", "table version %s with timeline layout %q", t.Version, layout)
		}
	default:
		return refuse("lakesweep knows the versions 6, 8 and 9. Upgrade older tables with Hudi, and lakesweep for newer ones.", "Hudi table version %q", t.Version)
	}
	if f := p["hoodie.table.format"]; f != "" && f != "native" {
		return refuse("Clean it with the format's own tool.", "table format %q", f)
	}
	if typ := t.Type(); typ != "COPY_ON_WRITE" && typ != "MERGE_ON_READ" {
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

// Type is COPY_ON_WRITE or MERGE_ON_READ.
func (t *Table) Type() string {
	if typ := t.Properties["hoodie.table.type"]; typ != "" {
		return typ
	}
	return "COPY_ON_WRITE"
}

// Partitioned reports whether the table has partition columns.
func (t *Table) Partitioned() bool { return t.Properties["hoodie.table.partition.fields"] != "" }

// archive reads the archived timeline.
func (t *Table) archive(ctx context.Context) (timeline.Archive, error) {
	if t.Timeline.Layout == timeline.Layout2 {
		return timeline.LoadArchive(ctx, t.Reader, t.Timeline.Dir+"/"+cmp.Or(t.Properties["hoodie.timeline.history.path"], "history"))
	}
	return timeline.LoadArchive1(ctx, t.Reader, timeline.Dir+"/"+cmp.Or(t.Properties["hoodie.archivelog.folder"], "archived"))
}

// Zone returns the zone of the timeline's instants.
//
// Errors: Invalid for a LOCAL timeline whose zone wasn't given.
func (t *Table) Zone() (*time.Location, error) { return timeline.Zone(t.Properties, t.Options.Zone) }

// Follow lists the timeline again; p are the properties as they were read
// again. What was committed, and what is spoken for, stays what it was.
func (t *Table) Follow(ctx context.Context, p timeline.Properties) error {
	tl, err := t.Timeline.Reload(ctx)
	if err != nil {
		return err
	}
	t.Properties, t.Timeline = p, tl
	t.View.Follow(tl)
	return nil
}

// Wrap names the table in an error that doesn't yet.
func (t *Table) Wrap(err error) error {
	if err == nil {
		return nil
	}
	e, ok := errors.AsType[*lake.Error](err)
	switch {
	case !ok || e.Table != "":
		return err
	case error(e) != err: // what was said on the way, such as which file, stays
		return &lake.Error{Table: t.Root.String(), Kind: e.Kind, Code: e.Code, Err: err}
	}
	named := *e
	named.Table = t.Root.String()
	return &named
}
