package delta

import (
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table"
)

// Guardian watches the log from the version that state names on. state is what
// State gave when the plan was made; caseFold as in ProtectRequest. The first
// Refresh compares the table's identity too.
//
// Errors: Invalid for a state that State didn't write.
func (t *Table) Guardian(state map[string]string, caseFold bool) (table.Guardian, error) {
	return nil, &lake.Error{Op: "watch log", Table: t.root.String(), Kind: lake.Unsupported}
}

// RecorderOptions says what a run leaves in the log.
type RecorderOptions struct {
	CommitLog          string            // "auto" (or ""), "on", "off": VACUUM START and END commits
	Engine             string            // engineInfo, "lakesweep/0.1.0"
	Journal            func(name string) // told each object of the log before it is written; nil: nobody
	Guardian           table.Guardian    // re-validates the plan after a conflict; nil: only protocol and metadata are checked
	Full               bool              // the plan is of mode full
	Unfiltered         bool              // no predicate, no inventory: the watermark may move
	Next               *int64            // LiteRange.Next of the plan
	RetentionCheck     bool              // the retention check was on
	DefaultRetention   int64             // milliseconds, of the table's property
	SpecifiedRetention *int64            // milliseconds, as asked for; nil: not asked
}

// Recorder writes VACUUM START and END and, last and only after a complete
// unfiltered run, _last_vacuum_info. w must be confined to the log.
//
// Errors: Refused for CommitLog "on" where the store's put-if-absent isn't respected by all writers.
// Source: spec/delta-vacuum.md section 4, 3.5.
func (t *Table) Recorder(w store.Writer, o RecorderOptions) (table.Recorder, error) {
	return nil, &lake.Error{Op: "record run", Table: t.root.String(), Kind: lake.Unsupported}
}
