package sweep

import (
	"context"
	"io"

	"github.com/lakesweep/lakesweep/sweep/internal/blobs"
	"github.com/lakesweep/lakesweep/sweep/internal/place"
	"github.com/lakesweep/lakesweep/table/hudi/blobqueue"
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
		err = place.Invalid(req.Plan.Table, "no Hudi table", "Only Hudi tables refer to external blobs.")
	}
	if err != nil {
		return out, err
	}
	out.Table = run.Root.String()
	answer, refers, err := run.Blobs().Check(ctx, blobs.Write{Instant: req.Instant, Files: req.Files, Paths: req.Paths})
	out.References = refers
	out.Read, out.More, out.Conflicts = answer.Files, answer.More, append(out.Conflicts, answer.Conflicts...)
	out.Seconds = e.Now().Sub(started).Seconds()
	return out, err
}
