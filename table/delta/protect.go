package delta

import (
	"context"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/keyset"
)

// ProtectRequest says what Protect must keep besides the live files.
type ProtectRequest struct {
	Cutoff       time.Time           // files live at any instant from here on are kept
	KeepVersions []int64             // all that these versions need is kept
	Partitions   bool                // collect partition values and directories, for WHERE
	CaseFold     bool                // also protect lake.Key.Fold of every key
	Keep         []lake.Key          // keys that somebody else needs, such as a shallow clone
	Expect       func(lake.Key) bool // which live files a complete listing must show; nil: all
}

// Protection is all that the log says about the files of a table.
type Protection struct {
	Set *keyset.Set // everything that must stay; live files and on-disk deletion vectors below the root are expected

	LiveFiles, LiveBytes int64 // data files of the version opened, those outside included
	OutsideFiles         int64 // of them, those outside the root
	LiveDVs              int64 // deletion vector files on disk below the root

	// HistoryGap says why the log can't prove what was live at the cutoff, "" if it can.
	HistoryGap string
	// OldestFeed is the oldest version from which on every commit's change data is kept, -1 if there is none.
	OldestFeed int64
	// Seeds is a sorted sample of known keys, for splitting a listing.
	Seeds []lake.Key
	// Partitions holds the distinct partition values seen, if asked for; nil if there were too many.
	Partitions []PartitionDirs
	Warnings   []string
}

// PartitionDirs is one combination of partition values with the directories
// that files of it lie in.
type PartitionDirs struct {
	Values lake.Partition
	Dirs   []lake.Key // sorted; "" is the root
}

// Removed is what the log knows about a file that nothing needs any more.
type Removed struct {
	Reason     lake.Reason      // Tombstone, DeletionVector or ChangeData
	Time       time.Time        // effective removal time; zero if unknown
	Size       int64            // -1 if unknown
	Partitions []lake.Partition // all values that actions gave it, if asked for; a nil Partition is unknown, columns that an action lacks are absent
}

// Removed looks up a key that is not in Set. ok is false for an orphan: no log
// entry known to us names it.
func (p *Protection) Removed(k lake.Key) (r Removed, ok bool) { return Removed{}, false }

// Protect replays the whole log: once per plan.
//
// Memory: about 12 bytes a live file, 40 a tombstone older than the cutoff,
// besides one row group of a checkpoint a worker.
// Errors: Damaged, Unsupported; Invalid for a version to keep that can't be
// rebuilt any more.
func (t *Table) Protect(ctx context.Context, req ProtectRequest) (*Protection, error) {
	return nil, nil
}
