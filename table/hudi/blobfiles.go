package hudi

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table/hudi/blob"
	"github.com/lakesweep/lakesweep/table/hudi/blob/shape"
	"github.com/lakesweep/lakesweep/table/hudi/datafile"
	"github.com/lakesweep/lakesweep/table/hudi/folder"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// DataFiles yields every base and log file on storage, of committed slices and
// others, in no order: what blobs are judged by. All folders are listed, those
// too that are no partitions yet, as the metadata table knows nothing of writes
// in flight. What lies in a table inside the table counts as the table's own:
// its references keep blobs too.
//
// Memory: one partition for each worker.
// Errors: those of the store; Damaged, Unsupported, once, as the last element.
func (t *Table) DataFiles(ctx context.Context) iter.Seq2[blob.File, error] {
	return t.streamed(ctx, t.dataFiles)
}

// DataFilesIn yields what DataFiles does of some partitions.
func (t *Table) DataFilesIn(ctx context.Context, partitions []string) iter.Seq2[blob.File, error] {
	return t.streamed(ctx, func(ctx context.Context, emit func([]blob.File) error) error {
		n, err := t.snap.Folders.Walk(ctx, partitions, false, func(ctx context.Context, f folder.Partition) error { return t.emitFiles(ctx, f, emit) })
		t.listed.Add(n)
		return err
	})
}

// streamed makes a sequence of what walk emits.
func (t *Table) streamed(ctx context.Context, walk func(context.Context, func([]blob.File) error) error) iter.Seq2[blob.File, error] {
	return func(yield func(blob.File, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		batches, result := make(chan []blob.File), make(chan error, 1)
		go func() {
			defer close(batches)
			result <- walk(ctx, func(files []blob.File) error {
				select {
				case batches <- files:
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			})
		}()
		stopped := false
		for batch := range batches {
			for _, f := range batch {
				if !stopped && !yield(f, nil) {
					stopped = true
					cancel()
				}
			}
		}
		if err := <-result; err != nil && !stopped {
			yield(blob.File{}, t.snap.Wrap(err))
		}
	}
}

func (t *Table) dataFiles(ctx context.Context, emit func([]blob.File) error) error {
	var mu sync.Mutex
	seen := make(map[string]bool)
	visit := func(ctx context.Context, f folder.Partition) error {
		mu.Lock()
		seen[f.Path] = true
		mu.Unlock()
		return t.emitFiles(ctx, f, emit)
	}
	// Partitions may lie in each other, and hold nothing that looks like a data file.
	any := func(folder.Partition) bool { return true }
	n, err := t.snap.Folders.Traverse(ctx, []string{""}, any, any, visit)
	t.listed.Add(n)
	if err != nil || t.snap.Folders.Files == nil {
		return err
	}
	// What the metadata table lists and no folder shows is missing.
	listed, err := t.snap.Folders.Files.Partitions()
	if err != nil {
		return err
	}
	var rest []string
	for _, p := range listed {
		if err := folder.Check(p); err != nil {
			return err
		}
		if !seen[p] {
			rest = append(rest, p)
		}
	}
	n, err = t.snap.Folders.Walk(ctx, rest, false, visit)
	t.listed.Add(n)
	return err
}

// Listed is how many requests DataFiles and DataFilesIn made so far.
func (t *Table) Listed() int64 { return t.listed.Load() }

func (t *Table) emitFiles(ctx context.Context, f folder.Partition, emit func([]blob.File) error) error {
	files, err := t.blobFiles(ctx, f)
	if err != nil || len(files) == 0 {
		return err
	}
	return emit(files)
}

// blobFiles returns the files of a partition.
func (t *Table) blobFiles(ctx context.Context, f folder.Partition) (out []blob.File, err error) {
	groups, err := t.snap.View.Groups(ctx, f.Path, f.Files)
	if err != nil {
		return nil, err
	}
	add := func(one folder.File, slice string, inflight, unlisted bool) error {
		b := blob.File{File: one.File, Partition: f.Path, Key: f.Key(one.Name), Size: one.Size, Modified: one.Modified, ETag: one.ETag, Slice: slice, Inflight: inflight, Missing: one.Missing}
		if b.Modified.IsZero() && b.ETag == "" {
			b.Size = -1 // what the metadata table says of it doesn't count
		}
		if one.Log && !unlisted {
			// A log counts by its own instant, whatever becomes of the base file that it lies on; in version 6, by those of its blocks.
			done, err := true, error(nil)
			if t.snap.Timeline.Layout == timeline.Layout2 {
				done, err = t.Committed(ctx, one.Instant)
			}
			if err != nil {
				return err
			}
			b.Inflight = !done
		}
		out = append(out, b)
		return nil
	}
	for _, g := range groups {
		for i, s := range append(g.Slices[:len(g.Slices):len(g.Slices)], g.Hidden...) {
			var errs []error
			s.Files(func(one *folder.File) { errs = append(errs, add(*one, s.Instant, i >= len(g.Slices), false)) })
			if err := errors.Join(errs...); err != nil {
				return nil, err
			}
		}
	}
	for _, one := range f.Unlisted {
		if err := add(one, one.Instant, true, true); err != nil {
			return nil, err
		}
	}
	for _, name := range f.Foreign {
		link := slices.Contains(f.Links, name)
		if d, ok := maybeData(name); link || ok && !slices.Contains(f.Dirs, string(f.Key(name))) {
			out = append(out, blob.File{File: d, Partition: f.Path, Key: f.Key(name), Size: -1, Link: link})
		}
	}
	return out, nil
}

// maybeData reads names that are outside our grammar, but that Hudi, which
// looks for an extension anywhere in them, may take for data files: what they
// refer to keeps blobs.
//
// Source: Hudi 1.2.0, FSUtils and HoodieFileFormat.
func maybeData(name string) (datafile.File, bool) {
	d := datafile.File{Name: name}
	if strings.HasPrefix(name, ".") {
		d.Log = strings.Contains(name, ".log.")
		return d, d.Log
	}
	for _, ext := range []string{"parquet", "orc", "hfile", "lance"} {
		if strings.Contains(name, "."+ext) {
			d.Ext = ext
			return d, true
		}
	}
	return d, false
}

// Committed reports whether what an instant wrote is part of the table, as far
// as the timeline and its archive tell. Safe for concurrent use.
func (t *Table) Committed(ctx context.Context, instant string) (bool, error) {
	return t.snap.View.Committed(ctx, instant)
}

// BlobColumns returns the columns that refer to external blobs: those that the
// newest schema says and those named in more, empty if there are none. The
// newest schema is that of the newest completed write that has one, else the
// one that the table was created with.
//
// It costs one request where the newest write has a schema: none if that is a
// replace commit, which Open read, or if an incremental plan was made of t and
// no commit that it read has such a column: what became expired since the clean
// before is older than those, and Hudi takes no column away.
//
// Errors: Damaged; Invalid for a name of a column that can't refer to blobs;
// those of the store; with the columns Unsupported for a bootstrapped table
// that refers to blobs.
// Source: spec/hudi-metadata-table.md section 5.
func (t *Table) BlobColumns(ctx context.Context, more []string) (shape.Columns, error) {
	columns, _, err := t.LookForBlobs(ctx, more)
	return columns, err
}

// LookForBlobs is BlobColumns that also reports whether the schemas which it
// went by are known to hold no struct of a blob's shape, of the logical type or
// not: then no record refers to a blob.
func (t *Table) LookForBlobs(ctx context.Context, more []string) (columns shape.Columns, none bool, err error) {
	columns, schemas, err := t.blobColumns(ctx, more)
	if err == nil && len(columns) > 0 {
		return columns, false, t.Whole()
	}
	for _, s := range schemas {
		schema, serr := shape.Parse(s)
		if err = errors.Join(err, serr); err != nil || schema.Shaped() {
			return columns, false, t.snap.Wrap(err)
		}
	}
	return columns, len(schemas) > 0, err
}

// Whole makes sure that all references of the table's records lie in its own
// files.
//
// Errors: Unsupported for a bootstrapped table.
func (t *Table) Whole() error {
	if t.snap.Properties["hoodie.bootstrap.base.path"] == "" {
		return nil
	}
	return t.snap.Wrap(&lake.Error{Op: "look for blobs", Kind: lake.Unsupported, Err: errors.New("the table was bootstrapped: its records may lie in files outside of it"),
		Hint: "Plan with --blobs off: its blobs stay for good."})
}

// blobColumns also returns the schemas that it went by.
func (t *Table) blobColumns(ctx context.Context, more []string) (columns shape.Columns, schemas []string, err error) {
	if plain, err := t.plain(); err != nil || plain && len(more) == 0 {
		return nil, t.schemas, t.snap.Wrap(err)
	}
	schema, err := t.schema(ctx)
	if err != nil {
		return nil, nil, t.snap.Wrap(err)
	}
	if schema == "" {
		return more, nil, nil
	}
	if columns, err = shape.Detect(schema); err == nil {
		columns, err = columns.With(schema, more)
	}
	return columns, []string{schema}, t.snap.Wrap(err)
}

// plain reports that the commits which planning read have a schema, and none of
// them a column that refers to blobs.
func (t *Table) plain() (bool, error) {
	for _, s := range t.schemas {
		if columns, err := shape.Detect(s); err != nil || len(columns) > 0 {
			return false, err
		}
	}
	return len(t.schemas) > 0, nil
}

// schema returns the table's newest schema as Avro JSON, "" if none is known.
func (t *Table) schema(ctx context.Context) (string, error) {
	writes := t.snap.Timeline.Writes()
	for _, w := range slices.Backward(writes) {
		s, err := t.snap.Services.Newest.Schema, error(nil)
		if w.Action.Comparable() != timeline.ReplaceCommit || w.Time != t.snap.Services.Newest.Time {
			s, err = t.snap.Timeline.Schema(ctx, w)
		}
		if err != nil || s != "" {
			return s, err
		}
	}
	return t.snap.Properties["hoodie.table.create.schema"], nil
}

// BlobOptions returns the options of a Judge of this table, but for Names,
// limits and the ledger.
func (t *Table) BlobOptions() blob.Options {
	o := blob.Options{Reader: t.snap.Reader, Committed: t.Committed, Index: &blobIndex{t: t}}
	for _, i := range t.snap.Timeline.Instants {
		o.Writing = o.Writing || timeline.IsWrite(i.Action) && i.State != timeline.Completed
	}
	return o
}
