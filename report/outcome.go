package report

import (
	"time"

	"github.com/lakesweep/lakesweep/lake"
)

// Outcome is one object of a run that deleted, moved or restored.
type Outcome struct {
	Key       lake.Key
	URI       string // instead of Key, for a blob
	Directory bool
	Reason    lake.Reason
	Outcome   string // deleted, gone, spared, quarantined, failed, skipped, restored, purged, queued
	Err       error  // of a failed one
}

// RunSummary is what a run did, in objects and bytes.
type RunSummary struct {
	Table       string
	PlanID      string
	Verb        string // what the text's last line says: "DELETED", "RESTORED", "PURGED"
	Deleted     int64
	Gone        int64
	Spared      int64
	Quarantined int64
	Restored    int64
	Purged      int64
	Failed      int64
	Skipped     int64
	Queued      int64 // blobs that wait in the table's queue
	Directories int64
	Bytes       int64
	Moved       int64         // bytes that went to quarantine, or came back
	Resumed     int64         // objects that earlier runs of the plan did
	LockHeld    time.Duration // how long the table's lock was held to look at blobs
	Versioned   bool
	HeldUntil   time.Time
	Limit       string // the flag whose limit ended the run early
	Journal     string
	Seconds     float64
	Complete    bool
}

// runRow is the row {message_type: "summary"} of a run.
type runRow struct {
	MessageType string  `json:"message_type"`
	Schema      int     `json:"schema"`
	DryRun      bool    `json:"dry_run"`
	Table       string  `json:"table"`
	PlanID      string  `json:"plan_id"`
	Deleted     int64   `json:"deleted"`
	Gone        int64   `json:"gone"`
	Spared      int64   `json:"spared"`
	Quarantined int64   `json:"quarantined"`
	Restored    int64   `json:"restored,omitempty"`
	Purged      int64   `json:"purged,omitempty"`
	Failed      int64   `json:"failed"`
	Skipped     int64   `json:"skipped"`
	Queued      int64   `json:"queued,omitempty"`
	Directories int64   `json:"directories"`
	Bytes       int64   `json:"bytes_freed"`
	Moved       int64   `json:"bytes_moved,omitempty"`
	Resumed     int64   `json:"resumed,omitempty"`
	LockSeconds float64 `json:"lock_seconds,omitempty"`
	Versioned   bool    `json:"versioned,omitempty"`
	HeldUntil   *string `json:"held_until,omitempty"`
	Limit       string  `json:"limit,omitempty"`
	Journal     string  `json:"journal,omitempty"`
	Seconds     float64 `json:"seconds"`
	Complete    bool    `json:"complete"`
}

// outcomeRow is a row {message_type: "outcome"}.
type outcomeRow struct {
	MessageType string  `json:"message_type"`
	Schema      int     `json:"schema"`
	Table       string  `json:"table,omitempty"`
	Path        *string `json:"path,omitempty"`
	PathBase64  string  `json:"path_base64,omitempty"`
	Reason      string  `json:"reason"`
	Outcome     string  `json:"outcome"`
	Error       string  `json:"error,omitempty"`

	o     *Outcome
	place string
}

func (r *outcomeRow) name() string {
	switch {
	case r.o.URI != "":
		return r.o.URI
	case r.o.Directory:
		return string(r.o.Key) + "/"
	}
	return string(r.o.Key)
}

func (r *outcomeRow) object() any {
	r.Path, r.PathBase64 = encodePath(r.name())
	return r
}

func (r *outcomeRow) cells() []string {
	return []string{r.Table, r.name(), r.Reason, r.Outcome, r.Error}
}

// path lists what the run took away, and nothing else.
func (r *outcomeRow) path() string {
	switch r.Outcome {
	case "failed", "skipped", "spared", "gone", "queued":
		return ""
	}
	if r.o.URI != "" {
		return r.o.URI
	}
	return r.place + r.name()
}

// line tells each object with -v, else those that stayed.
func (r *outcomeRow) line(p *Printer) string {
	switch r.Outcome {
	case "failed":
		return "  failed       " + Printable(r.name()) + ": " + Printable(r.Error)
	case "spared":
	default:
		if !p.opt.Verbose {
			return ""
		}
	}
	return "  " + padRight(r.Outcome, 12) + " " + Printable(r.name())
}

// Run prints a run while it goes on.
type Run struct {
	p     *Printer
	s     *stream
	table string
	err   error // the first error of the writer: the run goes on without us
}

// Run starts the output of a run on table. verb is the first word of its text.
func (p *Printer) Run(table, verb string) *Run {
	r := &Run{p: p, table: table}
	if p.opt.Format == Text {
		r.err = p.printf("%s by this run: %s\n", verb, Printable(table))
	}
	s, err := p.begin("outcomes", []string{"table", "path", "reason", "outcome", "error"}, 100)
	r.s = s
	if r.err == nil {
		r.err = err
	}
	return r
}

// Outcome prints one object. An error of the writer is kept for End.
func (r *Run) Outcome(o Outcome) {
	row := &outcomeRow{MessageType: "outcome", Schema: Schema, Reason: string(o.Reason), Outcome: o.Outcome, o: &o}
	if r.p.opt.Many {
		row.Table, row.place = r.table, r.table+"/"
	}
	if o.Err != nil {
		row.Error = o.Err.Error()
	}
	if err := r.s.add(row); err != nil && r.err == nil {
		r.err = err
	}
}

// End prints the summary. Errors: the first of the writer.
func (r *Run) End(sum RunSummary) error {
	row := runRow{MessageType: "summary", Schema: Schema, Table: sum.Table, PlanID: sum.PlanID, Deleted: sum.Deleted, Gone: sum.Gone,
		Spared: sum.Spared, Quarantined: sum.Quarantined, Restored: sum.Restored, Purged: sum.Purged, Failed: sum.Failed, Skipped: sum.Skipped, Queued: sum.Queued, Directories: sum.Directories,
		Bytes: sum.Bytes, Moved: sum.Moved, Resumed: sum.Resumed, LockSeconds: sum.LockHeld.Seconds(), Versioned: sum.Versioned, HeldUntil: stamp(sum.HeldUntil), Limit: sum.Limit, Journal: sum.Journal,
		Seconds: sum.Seconds, Complete: sum.Complete}
	err := r.s.end(row, func() error { return r.p.runFoot(sum) }, false)
	if r.err != nil {
		return r.err
	}
	return err
}

func (p *Printer) runFoot(sum RunSummary) error {
	did := sum.Deleted + sum.Quarantined + sum.Restored + sum.Purged
	var lines [][2]string
	rest := ""
	for _, c := range []struct {
		n    int64
		what string
	}{{sum.Gone, "already gone"}, {sum.Spared, "spared"}, {sum.Failed, "failed"}, {sum.Skipped, "left by a limit"}, {sum.Queued, "blobs queued"}, {sum.Resumed, "by earlier runs of this plan"}} {
		if c.n > 0 {
			rest += ", " + Count(c.n) + " " + c.what
		}
	}
	if sum.Limit != "" {
		lines = append(lines, [2]string{"limit", sum.Limit + " was reached; the same command goes on from here"})
	}
	if sum.Versioned {
		lines = append(lines, [2]string{"held back", "the bucket keeps old versions of what was deleted, and their cost"})
	}
	if !sum.HeldUntil.IsZero() {
		lines = append(lines, [2]string{"held back", "soft delete keeps the bytes, and their cost, until " + sum.HeldUntil.UTC().Format(time.RFC3339)})
	}
	if sum.Journal != "" {
		lines = append(lines, [2]string{"journal", Printable(sum.Journal)})
	}
	lines = append(lines, [2]string{"took", lake.Span(time.Duration(sum.Seconds * float64(time.Second)))})
	if err := p.facts(lines); err != nil {
		return err
	}
	dirs := ""
	if sum.Directories > 0 {
		dirs = " and " + Plural(sum.Directories, "empty directory")
	}
	size := Bytes(sum.Bytes)
	switch {
	case sum.Quarantined > 0:
		size = Bytes(sum.Moved) + " moved" + rest + "; purge frees them"
		rest = ""
	case sum.Restored > 0:
		size = Bytes(sum.Moved)
	}
	return p.printf("%s: %s%s, %s%s\n", sum.Verb, Plural(did, "file"), dirs, size, rest)
}
