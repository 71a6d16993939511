package blobs

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table/hudi/blob"
	"github.com/lakesweep/lakesweep/table/hudi/blob/shape"
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
// Memory: 50 to 100 bytes a blob that the write refers to, for each way of spelling.
// Errors: those of the table and the store; Damaged for a file that can't be read.
// Source: RFC-100 part 2, "Writer-side conflict check".
func (t *Table) Check(ctx context.Context, w Write) (answer blobqueue.Answer, refers int64, err error) {
	names, err := t.names(nil)
	if err != nil {
		return answer, 0, err
	}
	refs := references{own: names, exact: map[string]bool{}, views: map[string]func(string) bool{}}
	if err := t.gather(ctx, w, &refs); err != nil || len(refs.exact) == 0 {
		return answer, 0, err
	}
	answer, err = blobqueue.Check(ctx, t.Reader, t.Hudi.Timeline(), w.Instant, refs.as)
	return answer, int64(len(refs.exact)), err
}

// references are the blobs that a write refers to, as it spells them.
type references struct {
	own   *lake.BlobNames // what the writer who asks knows of spellings
	exact map[string]bool
	views map[string]func(string) bool // by how sidecars and intents are spelled
}

// as returns what tells whether the write refers to a path of a file that is
// spelled as s says: in the view of the run that wrote it, or in the writer's own.
//
// Errors: Damaged.
func (r *references) as(s blobqueue.Spelling) (func(string) bool, error) {
	key := fmt.Sprint(s)
	if has := r.views[key]; has != nil {
		return has, nil
	}
	all := []*lake.BlobNames{r.own}
	if s.Table != "" {
		theirs, err := s.Names()
		if err != nil {
			return nil, err
		}
		o := r.own.Options()
		o.Roots = slices.Concat(o.Roots, theirs.Options().Roots)
		ours, err := lake.NewBlobNames(o)
		if err != nil {
			return nil, err
		}
		if all = []*lake.BlobNames{theirs}; ours.Rules() != theirs.Rules() {
			all = append(all, ours)
		}
	}
	var views []func(string) bool
	for _, names := range all {
		views = append(views, r.seen(names))
	}
	has := func(p string) bool {
		return r.exact[p] || slices.ContainsFunc(views, func(v func(string) bool) bool { return v(p) })
	}
	r.views[key] = has
	return has, nil
}

// seen returns what tells whether one of the references may be a path, by names.
func (r *references) seen(names *lake.BlobNames) func(string) bool {
	forms := make(map[string]bool, len(r.exact))
	for p := range r.exact {
		for _, f := range names.Forms(lake.BlobID(p)) {
			forms[f] = true
		}
	}
	return func(p string) bool {
		return slices.ContainsFunc(names.Forms(lake.BlobID(p)), func(f string) bool { return forms[f] })
	}
}

// gather adds what a write refers to.
func (t *Table) gather(ctx context.Context, w Write, refs *references) error {
	if w.Paths != nil {
		lines := bufio.NewScanner(w.Paths)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if lines.Text() != "" {
				refs.exact[strings.TrimSuffix(lines.Text(), "\r")] = true
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
	o := t.judgeOptions(refs.own)
	emit := func(_ blob.File, r shape.Reference, _ bool) error {
		if r.Path != "" {
			refs.exact[r.Path] = true
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
		file, err := t.fileAt(ctx, f, key, f.Instant)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		return file, err
	}
	return blob.File{}, invalid(t.Given, fmt.Sprintf("%q is no base or log file of the table", name), "Name files that the write wrote, relative to the table's root.")
}
