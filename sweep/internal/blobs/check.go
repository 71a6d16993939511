package blobs

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table/hudi/blob"
	"github.com/lakesweep/lakesweep/table/hudi/blobqueue"
	"github.com/lakesweep/lakesweep/table/hudi/datafile"
)

// Write is a write that asks before it commits.
type Write struct {
	Instant string    // "" if it isn't known
	Files   []string  // base and log files that it wrote, relative to the table or absolute
	Paths   io.Reader // blobs that it refers to, one a line; nil for none
}

// Check tells which of the blobs that a write refers to are being deleted, and
// to how many it refers.
//
// Memory: 50 to 100 bytes a blob that the write refers to.
// Errors: those of the table and the store; Damaged for a file that can't be read.
// Source: RFC-100 part 2, "Writer-side conflict check".
func (t *Table) Check(ctx context.Context, w Write) (answer blobqueue.Answer, refers int64, err error) {
	names, err := t.names()
	if err != nil {
		return answer, 0, err
	}
	refs := references{names: names, exact: map[string]bool{}, forms: map[string]bool{}}
	if err := t.gather(ctx, w, &refs); err != nil || len(refs.exact) == 0 {
		return answer, 0, err
	}
	answer, err = blobqueue.Check(ctx, t.Reader, t.Hudi.Timeline(), w.Instant, refs.has)
	return answer, int64(len(refs.exact)), err
}

// references are the blobs that a write refers to, by every spelling that may
// be one of them.
type references struct {
	names *lake.BlobNames
	exact map[string]bool
	forms map[string]bool
}

func (r *references) add(p string) {
	if r.exact[p] {
		return
	}
	r.exact[p] = true
	for _, f := range r.names.Forms(lake.BlobID(p)) {
		r.forms[f] = true
	}
}

func (r *references) has(p string) bool {
	if r.exact[p] {
		return true
	}
	for _, f := range r.names.Forms(lake.BlobID(p)) {
		if r.forms[f] {
			return true
		}
	}
	return false
}

// gather adds what a write refers to.
func (t *Table) gather(ctx context.Context, w Write, refs *references) error {
	if w.Paths != nil {
		lines := bufio.NewScanner(w.Paths)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if lines.Text() != "" {
				refs.add(strings.TrimSuffix(lines.Text(), "\r"))
			}
		}
		if err := lines.Err(); err != nil {
			return invalid(t.Given, "--paths: "+err.Error(), "Write one path on each line.")
		}
	}
	var files []blob.File
	for _, name := range w.Files {
		f, err := t.writtenFile(ctx, name)
		if err != nil {
			return err
		}
		files = append(files, f)
	}
	o := t.judgeOptions(refs.names)
	o.Ledger = nil
	emit := func(_ blob.File, r blob.Reference, _ bool) error {
		if r.Path != "" {
			refs.add(r.Path)
		}
		return nil
	}
	unread := func(f blob.File, err error) error { return fmt.Errorf("%s: %w", f.Key, err) }
	return blob.References(ctx, o, nil, each(files), emit, unread)
}

func (t *Table) writtenFile(ctx context.Context, name string) (blob.File, error) {
	for _, key := range t.Root.Named(name, t.Aliases...) {
		f, ok := datafile.Parse(path.Base(string(key)))
		if !ok {
			break
		}
		info, err := t.Reader.Stat(ctx, string(key))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		return blob.File{File: f, Partition: string(key.Dir()), Key: key, Size: info.Size, Modified: info.Modified, ETag: info.ETag, Slice: f.Instant}, err
	}
	return blob.File{}, invalid(t.Given, fmt.Sprintf("%q is no base or log file of the table", name), "Name files that the write wrote, relative to the table's root.")
}
