package sweep

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/sweep/internal/clean"
	"github.com/lakesweep/lakesweep/sweep/internal/place"
)

// Doctor says what would stop a run: it opens, lists and reads, and writes
// nothing. What it finds wrong are checks of the diagnosis; the error is for
// a table argument that can't be read at all.
func (e *Engine) Doctor(ctx context.Context, req PlanRequest) (Diagnosis, error) {
	root, err := e.places().Root(req.Table)
	if err != nil {
		return Diagnosis{}, err
	}
	d := Diagnosis{Table: root.String()}
	p, err := e.places().Open(ctx, req.Table)
	if !d.check("access", err, "The place can be opened.") {
		return d, nil
	}
	_, err = p.Reader.List(ctx, store.PageRequest{Dirs: true, Limit: 1})
	if !d.check("list", err, "The root can be listed.") {
		return d, nil
	}
	d.clock(p)
	d.holdback(p)
	d.Format, err = p.Detect(ctx, req.Format)
	if !d.check("format", err, "It is a "+d.Format+" table.") {
		return d, nil
	}
	enclosed, err := e.places().Enclosing(ctx, p.Root, p.Aliases...)
	if err == nil && enclosed != "" {
		err = fmt.Errorf("the root lies inside the table at %s", enclosed)
	}
	d.check("enclosed", err, "No table lies around it.")
	if d.Format == "hudi" {
		run, err := e.openHudi(ctx, p, req)
		if d.check("features", err, "The timeline can be read, and lakesweep supports all features of the table.") {
			for _, w := range run.Table().Warnings() {
				d.add("timeline", filelist.Warned, w, "")
			}
			d.setup(ctx, run)
			d.blobs(ctx, run, req.Hudi.Blobs.Columns)
		}
		return d, nil
	}
	t, err := p.Delta(ctx, 0, false, e.Observe)
	if !d.check("features", err, "The log can be read, and lakesweep supports all features of the table.") {
		return d, nil
	}
	for _, w := range t.Warnings() {
		d.add("log", filelist.Warned, w, "")
	}
	retain, err := t.Retention()
	d.check("retention", err, fmt.Sprintf("Removed files are kept for %s.", lake.Hours(retain)))
	if traits := p.Reader.Traits(); traits.PutIfAbsent {
		d.add("commit_log", filelist.Passed, "VACUUM START and END can be committed safely.", "")
	} else {
		d.add("commit_log", filelist.Warned, "Writers of this store don't respect put-if-absent, so runs leave no entry in the table's history.", "Keep the journals.")
	}
	d.add("delete", filelist.Warned, "Whether objects may be deleted shows only when one is.", "See the least-privilege policies in the documentation.")
	return d, nil
}

func (d *Diagnosis) add(code string, outcome filelist.Outcome, detail, fix string) {
	d.Checks = append(d.Checks, filelist.Guard{Code: code, Outcome: outcome, Detail: detail, Fix: fix})
}

// check adds a check that passed with detail, or was refused with err, and reports which.
func (d *Diagnosis) check(code string, err error, detail string) bool {
	if err == nil {
		d.add(code, filelist.Passed, detail, "")
		return true
	}
	d.Denied = d.Denied || lake.KindOf(err) == lake.Denied
	fix := lake.HintOf(err)
	if fix == "" && errors.Is(err, fs.ErrPermission) {
		fix = "Give the identity that lakesweep runs under the permissions that the documentation lists."
	}
	d.add(code, filelist.Refused, err.Error(), fix)
	return false
}

func (d *Diagnosis) clock(p *place.Place) {
	switch {
	case p.Status.Now.IsZero():
		d.add("clock", filelist.Passed, "The store has no clock of its own.", "")
	case p.Skew.Abs() > maxSkew:
		d.add("clock", filelist.Refused, fmt.Sprintf("our clock and the store's are %s apart", p.Skew.Round(time.Second)), "Set this machine's clock.")
	default:
		d.add("clock", filelist.Passed, fmt.Sprintf("Our clock and the store's are %s apart.", p.Skew.Round(time.Second)), "")
	}
}

func (d *Diagnosis) holdback(p *place.Place) {
	switch {
	case p.Status.Note != "":
		d.add("holdback", filelist.Warned, p.Status.Note, "")
	case p.Status.Versioned:
		d.add("holdback", filelist.Warned, "The bucket is versioned: deletes free nothing until old versions expire.", "Add a rule that expires noncurrent versions.")
	case p.Status.SoftDelete > 0:
		d.add("holdback", filelist.Warned, fmt.Sprintf("Soft delete holds deleted objects for %s.", p.Status.SoftDelete), "")
	default:
		d.add("holdback", filelist.Passed, "Deletes free space at once.", "")
	}
}

// setup tells whether a clean could be carried out.
func (d *Diagnosis) setup(ctx context.Context, run *clean.Run) {
	d.check("unwinding", run.Table().Unwinding(ctx), "No complete write is about to be taken back.")
	d.check("timeline_zone", run.Table().ZoneKnown(), "The zone of the timeline's instants is known.")
	lock := "The lock settings name a lock that can be taken."
	if !run.LockNamed() {
		lock = "No lock is taken: --no-other-writers says that nobody else writes."
	}
	d.check("lock", run.LockKnown(ctx), lock)
}

// blobs tells what a table that refers to blobs needs of its writers.
func (d *Diagnosis) blobs(ctx context.Context, run *clean.Run, named []string) {
	columns, err := run.Table().BlobColumns(ctx, named)
	if err != nil {
		d.check("blobs", err, "")
		return
	}
	if len(columns) == 0 {
		return
	}
	d.add("blobs", filelist.Warned, "The columns "+strings.Join(columns, ", ")+" refer to external blobs. What Hudi's own automatic clean, a rollback or a restore expires, no plan here sees, and a clean without --blobs queues nothing: the blobs that only those slices referred to would never be deleted.",
		"Set hoodie.clean.automatic=false (and hoodie.clean.async.enabled=false) in all writers of the table, and clean with --blobs delete alone; `lakesweep verify --blobs` lists what is left behind.")
}
