package sweep

import (
	"time"

	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/table"
)

// Result is the summary of a run that carried out a plan, a restore or a purge.
type Result struct {
	table.Result
	Table       string
	PlanID      string
	Quarantined int64
	Moved       int64         // bytes that went to quarantine, or came back
	Resumed     int64         // objects of the plan that earlier runs did; in no other count
	Queued      int64         // blobs that wait in the table's queue
	LockHeld    time.Duration // how long the table's lock was held to look at blobs
	Restored    int64         // moved back from quarantine
	Purged      int64         // deleted from quarantine
	Versioned   bool          // the bucket keeps what was deleted as old versions, which still cost
	HeldUntil   time.Time     // soft delete holds the bytes back until then; zero if it doesn't
	Limit       string        // the flag whose limit ended the run early; empty if none did
	Journal     string        // where the journal lies
	Seconds     float64
}

// Diagnosis is the document of doctor: what would stop a run, as checks of
// the same shape as guards.
type Diagnosis struct {
	Table  string           `json:"table"`
	Format string           `json:"format,omitempty"`
	Checks []filelist.Guard `json:"checks"`
	Denied bool             `json:"-"` // something was refused for want of credentials or permissions
}

// UndoRequest is a wish to restore or purge what a run put into quarantine.
type UndoRequest struct {
	Journal   string
	Paths     []string           // only these, relative to the table's root; all if empty
	OlderThan time.Duration      // purge: only what has lain there for so long
	Begun     func(table string) // told whose journal it is, before any object; may be nil
	Tuning    Tuning
}

// ListRequest names a prefix to list: for an inventory or a measurement.
type ListRequest struct {
	Place  string // a path or URI, as given
	Tuning Tuning
}

// Listed says what a listing of a prefix, or the reading of an inventory, took.
type Listed struct {
	Place     string  `json:"place"`
	Out       string  `json:"out,omitempty"` // the file that was written
	Objects   int64   `json:"objects"`
	Bytes     int64   `json:"bytes"`
	Pages     int64   `json:"pages"`
	Splits    int64   `json:"splits"`
	Wasted    int64   `json:"wasted_requests"` // requests whose answer held no new key
	Throttled int64   `json:"throttled_requests"`
	Seconds   float64 `json:"seconds"`
	Floor     float64 `json:"floor_seconds"` // the time that the request limit alone would need, ours or the service's; 0 without one
}
