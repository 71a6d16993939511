// Package table is what a table format must answer. table/delta and
// table/hudi implement it.
package table

import (
	"context"
	"time"

	"github.com/lakesweep/lakesweep/lake"
)

// Info describes an opened table at the version it was opened at: the document of inspect.
type Info struct {
	Table            string            `json:"table"`
	Format           string            `json:"format"` // "delta", "hudi"
	TableID          string            `json:"table_id"`
	Name             string            `json:"name,omitempty"`
	Version          *int64            `json:"version,omitempty"`
	Instant          string            `json:"instant,omitempty"`
	Committed        time.Time         `json:"committed"` // of the version or instant
	Protocol         map[string]string `json:"protocol"`  // "reader": "3", "writer": "7", "table_version": "9", …
	Features         []string          `json:"features,omitempty"`
	PartitionColumns []string          `json:"partition_columns"`
	Retention        string            `json:"retention"` // of the table's own property, "168h0m0s"
	RetentionSource  string            `json:"retention_source"`
	ActiveFiles      int64             `json:"active_files"`
	ActiveBytes      int64             `json:"active_bytes"`
	Properties       map[string]string `json:"properties,omitempty"`
}

// Guardian watches the log while a plan is applied (law L6). Not safe for
// concurrent use with Refresh; Protected may be called by many goroutines
// between two calls of Refresh.
type Guardian interface {
	// Refresh reads what was committed since the last call. Errors: Stale if the plan no longer fits, Damaged, Unsupported.
	Refresh(ctx context.Context) error
	// Protected reports whether an object became protected since the plan. A blob's URI stands for its key.
	Protected(k lake.Key) bool
}

// Recorder writes what a format's own log wants to know of a run (law L5).
// Apply calls Begin before the first delete, Confirm after each batch and
// Complete or Fail once at the end.
type Recorder interface {
	Begin(ctx context.Context, intent Intent) error
	Confirm(ctx context.Context, deleted []lake.Key) error // a blob's URI stands for its key
	Complete(ctx context.Context, result Result) error
	Fail(ctx context.Context, result Result) error
}

// Intent is what a run is about to delete.
type Intent struct {
	PlanID  string
	Objects int64
	Bytes   int64
	Where   string
	Version *int64 // Delta: the version planned on
	Idle    bool   // there was nothing to do from the start
	Done    bool   // earlier runs of the plan did it all
}

// Result is what a run did. Complete is true when every row of the plan is deleted, gone or spared.
type Result struct {
	Deleted, Gone, Spared, Failed, Skipped int64
	Directories                            int64
	Bytes                                  int64
	Complete                               bool
}

// Because is one reason in an explanation.
type Because struct {
	Version *int64 `json:"version,omitempty"`
	Instant string `json:"instant,omitempty"`
	Action  string `json:"action"` // "add", "remove", "cdc", "deletion_vector", "hidden", "age", "savepoint", …
	Rule    string `json:"rule"`   // a sentence
}

// Explanation is the document of explain for one path.
type Explanation struct {
	Path    string    `json:"path"`
	Verdict string    `json:"verdict"` // live, history, young, dead, foreign, hidden, absent
	Because []Because `json:"because"`
}

// Finding is one row of verify: missing, size_mismatch, foreign_table, unreadable.
type Finding struct {
	Type   string `json:"message_type"`
	Path   string `json:"path"`
	Detail string `json:"detail"`
	Size   *int64 `json:"size,omitempty"`
	Actual *int64 `json:"actual,omitempty"`
}

// Usage is one row of usage: files and bytes of one partition.
type Usage struct {
	Partition lake.Partition `json:"-"`
	Live      [2]int64       `json:"-"` // files, bytes
	History   [2]int64       `json:"-"`
	Dead      [2]int64       `json:"-"`
	Unknown   [2]int64       `json:"-"`
}
