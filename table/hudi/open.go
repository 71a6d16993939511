package hudi

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table/hudi/filegroup"
	"github.com/lakesweep/lakesweep/table/hudi/folder"
	"github.com/lakesweep/lakesweep/table/hudi/mdt"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// Dir is the folder of a table's metadata below its root.
const Dir = timeline.Dir

// Options of Open. The zero value of each field but Now is a valid default.
type Options struct {
	Zone    *time.Location   // of a timeline whose zone is LOCAL; nil: such a table is refused where the zone matters
	Now     func() time.Time // required
	Workers int              // partitions listed at once; 0: 16
	Aliases []lake.Root      // other names of the root, such as the target of a symlink
}

// Table is a Hudi table as it was when opened. Safe for concurrent use.
//
// Memory: the timeline, the names of replaced groups, and what was written to
// the metadata table since its last compaction.
type Table struct {
	reader     store.Reader
	root       lake.Root
	o          Options
	properties timeline.Properties
	version    string
	timeline   *timeline.Timeline
	mdt        *mdt.Table // nil if there is none
	distrust   error      // why it can't
	services   filegroup.Services
	folders    *folder.Lister
	view       *filegroup.View
	listed     atomic.Int64 // requests of DataFiles
	schemas    []string     // of the commits that planning read
}

// Detect reports whether a Hudi table's root is at the place that r reads: by
// its properties or their backup, asked for at once.
func Detect(ctx context.Context, r store.Reader) (bool, error) {
	names := [...]string{"hoodie.properties", "hoodie.properties.backup"}
	var errs [len(names)]error
	var asked sync.WaitGroup
	for i, name := range names {
		asked.Go(func() { _, errs[i] = r.Stat(ctx, Dir+"/"+name) })
	}
	asked.Wait()
	for _, err := range errs {
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return err == nil, err
		}
	}
	return false, nil
}

// Open reads the table's properties, its timeline and what plans, savepoints
// and replace commits on it say. root is only for paths and messages.
//
// Errors: NotTable; Unsupported for a table version, format or feature that
// isn't known; Damaged.
func Open(ctx context.Context, r store.Reader, root lake.Root, o Options) (*Table, error) {
	t := &Table{reader: r, root: root, o: o}
	if t.o.Workers == 0 {
		t.o.Workers = 16
	}
	if err := t.open(ctx); err != nil {
		return nil, t.wrap(err)
	}
	return t, nil
}

func (t *Table) open(ctx context.Context) (err error) {
	if t.properties, err = timeline.ReadProperties(ctx, t.reader, Dir); err != nil {
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
func (t *Table) openMetadata(ctx context.Context) (err error) {
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
func (t *Table) checkProperties() (timeline.Layout, string, error) {
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
	if typ := t.Type(); typ != "COPY_ON_WRITE" && typ != "MERGE_ON_READ" {
		return refuse("Look at hoodie.properties.", "table type %q", typ)
	}
	if layout == "1" {
		return timeline.Layout1, Dir, nil
	}
	path := p["hoodie.timeline.path"]
	if path == "" {
		path = "timeline"
	}
	if strings.Contains(path, "/") || strings.HasPrefix(path, ".") {
		return refuse("Look at hoodie.properties.", "timeline path %q", path)
	}
	return timeline.Layout2, Dir + "/" + path, nil
}

// Type is COPY_ON_WRITE or MERGE_ON_READ.
func (t *Table) Type() string {
	if typ := t.properties["hoodie.table.type"]; typ != "" {
		return typ
	}
	return "COPY_ON_WRITE"
}

// Properties returns the table's own configuration. Not to be changed.
func (t *Table) Properties() timeline.Properties { return t.properties }

// Options returns the options that the table was opened with.
func (t *Table) Options() Options { return t.o }

// Timeline returns the active timeline. Not to be changed.
func (t *Table) Timeline() *timeline.Timeline { return t.timeline }

// partitioned reports whether the table has partition columns.
func (t *Table) partitioned() bool { return t.properties["hoodie.table.partition.fields"] != "" }

// archive reads the archived timeline.
func (t *Table) archive(ctx context.Context) (timeline.Archive, error) {
	folder := func(key, otherwise string) string {
		if path := t.properties[key]; path != "" {
			return path
		}
		return otherwise
	}
	if t.timeline.Layout == timeline.Layout2 {
		return timeline.LoadArchive(ctx, t.reader, t.timeline.Dir+"/"+folder("hoodie.timeline.history.path", "history"))
	}
	return timeline.LoadArchive1(ctx, t.reader, Dir+"/"+folder("hoodie.archivelog.folder", "archived"))
}

// wrap names the table in an error that doesn't yet.
func (t *Table) wrap(err error) error {
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
