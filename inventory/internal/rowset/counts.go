package rowset

import (
	"sync"
	"time"

	"github.com/lakesweep/lakesweep/inventory/internal/value"
	"github.com/lakesweep/lakesweep/store"
)

// Row is one object that a list names. Its strings may be kept; they share the
// memory of their batch.
type Row struct {
	// Place holds the place that Name lies in, verbatim below it: "s3://bucket", or a table's root.
	// Where it is empty, Name is a URI, an absolute path, or relative to the table's root.
	Place    string
	Name     string
	Kind     store.EntryKind // File, Dir or Marker; the Name of the last two has no trailing slash
	Size     int64           // bytes, -1 if unknown
	Modified time.Time       // UTC; zero if unknown or implausible
	ETag     string          // as the list spells it; may be empty
}

// Counts says what became of the rows of a list.
type Counts struct {
	Rows         int64 // in the list
	Directories  int64 // rows for directories and their placeholders
	OldVersions  int64 // left out: not the latest version, or a snapshot
	Deleted      int64 // left out: delete markers, soft-deleted objects, deletions in a journal and what they deleted
	Undecodable  int64 // left out: no name, or an escape that is none
	UnknownTimes int64 // rows whose time is missing or implausible
	UnknownSizes int64

	signs value.Signs // of the names, where their encoding is detected
}

// Tally adds counts up. Safe for concurrent use.
type Tally struct {
	mu    sync.Mutex
	total Counts
}

// Add adds what one worker counted.
func (t *Tally) Add(c Counts) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.total.add(c)
}

// Counts returns the sum.
func (t *Tally) Counts() Counts {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.total
}

func (c *Counts) add(o Counts) {
	c.Rows += o.Rows
	c.Directories += o.Directories
	c.OldVersions += o.OldVersions
	c.Deleted += o.Deleted
	c.Undecodable += o.Undecodable
	c.UnknownTimes += o.UnknownTimes
	c.UnknownSizes += o.UnknownSizes
	c.signs |= o.signs
}

// Skipped counts the rows that name no object of today.
func (c Counts) Skipped() int64 { return c.OldVersions + c.Deleted + c.Undecodable }
