package hudi

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"sync/atomic"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table/hudi/cleanplan"
	"github.com/lakesweep/lakesweep/table/hudi/cleanrun"
	"github.com/lakesweep/lakesweep/table/hudi/retain"
	"github.com/lakesweep/lakesweep/table/hudi/snapshot"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// Dir is the folder of a table's metadata below its root.
const Dir = timeline.Dir

// Options of Open.
type Options = snapshot.Options

// Table is a Hudi table as it was when opened. Safe for concurrent use.
type Table struct {
	snap    *snapshot.Table
	listed  atomic.Int64 // requests of DataFiles
	schemas []string     // of the commits that planning read
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
	s, err := snapshot.Open(ctx, r, root, o)
	if err != nil {
		return nil, err
	}
	return &Table{snap: s}, nil
}

// Type is COPY_ON_WRITE or MERGE_ON_READ.
func (t *Table) Type() string { return t.snap.Type() }

// Properties returns the table's own configuration. Not to be changed.
func (t *Table) Properties() timeline.Properties { return t.snap.Properties }

// Options returns the options that the table was opened with.
func (t *Table) Options() Options { return t.snap.Options }

// Timeline returns the active timeline. Not to be changed.
func (t *Table) Timeline() *timeline.Timeline { return t.snap.Timeline }

// ZoneKnown reports whether the zone of the timeline's instants is known, which
// a clean's own instant takes.
//
// Errors: Invalid for a LOCAL timeline whose zone wasn't given.
func (t *Table) ZoneKnown() error {
	_, err := t.snap.Zone()
	return err
}

// Plan works out which partitions a clean would look at and by which rules.
// It reads the timeline only.
//
// A clean that is pending already, anybody's, is finished before a new one is
// planned: the plan is that clean's then, whatever c says.
//
// Errors: Invalid, Damaged; Refused for a pending clean that can't be carried
// out, and while a restore, or the rollback of a complete write, is pending.
func (t *Table) Plan(ctx context.Context, c retain.Config) (*cleanplan.Plan, error) {
	return t.learn(cleanplan.New(ctx, t.snap, c))
}

// look is Plan for those who only look at the table.
func (t *Table) look(ctx context.Context, c retain.Config) (*cleanplan.Plan, error) {
	return t.learn(cleanplan.Look(ctx, t.snap, c))
}

// learn keeps what planning read of the table's schema.
func (t *Table) learn(p *cleanplan.Plan, err error) (*cleanplan.Plan, error) {
	if err != nil {
		return nil, err
	}
	t.schemas = append(t.schemas, p.Schemas...)
	return p, nil
}

// Unwinding reports a restore, or the rollback of a complete write, that is
// pending: no clean is planned until it is done.
//
// Errors: Refused if one is; Damaged, and those of the store.
func (t *Table) Unwinding(ctx context.Context) error {
	return t.snap.Wrap(cleanplan.Unwinding(ctx, t.snap))
}

// Run returns the recorder and guardian of a plan of this table. Timeline and
// Properties follow what it reads.
//
// Errors: Invalid, Damaged for a state that Plan.State didn't write.
func (t *Table) Run(o cleanrun.Options) (*cleanrun.Run, error) { return cleanrun.New(t.snap, o) }
