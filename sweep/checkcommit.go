package sweep

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

// CheckRequest is a writer's question before it commits.
type CheckRequest struct {
	Plan    PlanRequest // Table, Format, Hudi.TimelineZone, Hudi.Config and Inventory.Maps count
	Instant string      // of the write, "" if it isn't known: then whatever was deleted of late counts
	Files   []string    // base and log files that the write wrote, relative to the table or absolute
	Paths   io.Reader   // blobs that it refers to, one a line; nil for none
}

// Check is the answer to a CheckRequest.
type Check struct {
	Table      string               `json:"table"`
	Instant    string               `json:"instant,omitempty"`
	References int64                `json:"references"` // distinct blobs that the write refers to
	Read       int                  `json:"read"`       // sidecars and intents that were read
	Conflicts  []blobqueue.Conflict `json:"conflicts"`  // the first hundred
	More       bool                 `json:"more,omitempty"`
	Seconds    float64              `json:"seconds"`
}

// CheckCommit tells which of the blobs that a write refers to are being
// deleted. With any conflict, or an error, the write must not commit. A writer
// that asks while it holds the table's lock can be sure until it gives the lock
// back.
//
// Memory: 50 to 100 bytes a blob that the write refers to.
// Errors: those of the table and the store; Damaged for a file that can't be read.
// Source: RFC-100 part 2, "Writer-side conflict check".
func (e *Engine) CheckCommit(ctx context.Context, req CheckRequest) (Check, error) {
	started := e.Now()
	out := Check{Instant: req.Instant, Conflicts: []blobqueue.Conflict{}}
	run, err := e.hudiTable(ctx, req.Plan)
	if err == nil && run == nil {
		err = invalid(req.Plan.Table, "no Hudi table", "Only Hudi tables refer to external blobs.")
	}
	if err != nil {
		return out, err
	}
	out.Table = run.root.String()
	names, err := run.blobNames()
	if err != nil {
		return out, err
	}
	refs := references{names: names, exact: map[string]bool{}, forms: map[string]bool{}}
	if err := run.refersTo(ctx, e, req, &refs); err != nil {
		return out, err
	}
	out.References = int64(len(refs.exact))
	if out.References == 0 {
		return out, nil
	}
	answer, err := blobqueue.Check(ctx, run.reader, run.table.Timeline(), req.Instant, refs.has)
	out.Read, out.More, out.Conflicts = answer.Files, answer.More, append(out.Conflicts, answer.Conflicts...)
	out.Seconds = e.Now().Sub(started).Seconds()
	return out, err
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

// refersTo gathers what a write refers to.
func (run *hudiRun) refersTo(ctx context.Context, e *Engine, req CheckRequest, refs *references) error {
	if req.Paths != nil {
		lines := bufio.NewScanner(req.Paths)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if lines.Text() != "" {
				refs.add(strings.TrimSuffix(lines.Text(), "\r"))
			}
		}
		if err := lines.Err(); err != nil {
			return invalid(run.given, "--paths: "+err.Error(), "Write one path on each line.")
		}
	}
	var files []blob.File
	for _, name := range req.Files {
		f, err := run.writtenFile(ctx, name)
		if err != nil {
			return err
		}
		files = append(files, f)
	}
	o := run.judgeOptions(e, refs.names)
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

func (run *hudiRun) writtenFile(ctx context.Context, name string) (blob.File, error) {
	for _, key := range run.root.Named(name, run.aliases...) {
		f, ok := datafile.Parse(path.Base(string(key)))
		if !ok {
			break
		}
		info, err := run.reader.Stat(ctx, string(key))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		return blob.File{File: f, Partition: string(key.Dir()), Key: key, Size: info.Size, Modified: info.Modified, ETag: info.ETag, Slice: f.Instant}, err
	}
	return blob.File{}, invalid(run.given, fmt.Sprintf("%q is no base or log file of the table", name), "Name files that the write wrote, relative to the table's root.")
}
