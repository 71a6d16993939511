package lake

import "time"

// Reason says why an object is dead.
type Reason string

// The reasons, as the JSON output spells them.
const (
	Tombstone      Reason = "tombstone"       // the log removed it before the cutoff
	Orphan         Reason = "orphan"          // no log entry known to us names it
	DeletionVector Reason = "deletion_vector" // a deletion vector's file that nothing needs
	ChangeData     Reason = "change_data"     // a change data file older than the cutoff
	EmptyDirectory Reason = "empty_directory" // a directory without anything below it
	ExpiredSlice   Reason = "expired_slice"   // Hudi: a file slice that the policy let go
	ReplacedGroup  Reason = "replaced_group"  // Hudi: a file group that a replace commit replaced
	DeadPartition  Reason = "dead_partition"  // Hudi: a partition that was dropped
	FailedWrite    Reason = "failed_write"    // Hudi: left behind by a write that never completed
	ExpiredBlob    Reason = "expired_blob"    // an external blob that nothing refers to
)

// PartitionValue is the logical value of one partition column, as the log
// spells it. Null is SQL NULL, with Value empty.
type PartitionValue struct {
	Column string // logical name
	Value  string
	Null   bool
}

// Partition is the values of all partition columns, in the order of the
// table's partition columns. Nil means unknown, empty means unpartitioned.
type Partition []PartitionValue

// Verdict is one dead object with its reason: a row of a plan.
type Verdict struct {
	Key       Key       // below the table's root; empty for a blob
	URI       string    // absolute, for a blob; empty for an object of the table
	Directory bool      // an empty directory
	Size      int64     // bytes; -1 if unknown
	Modified  time.Time // UTC, the store's clock; zero if unknown
	Reason    Reason
	Partition Partition
	Tombstone time.Time // effective removal time; zero if there is none
	DueAt     time.Time // a queued blob: when its grace time ends
	ETag      string    // the store's entity tag or generation; may be empty
	Referrer  Key       // a blob: the file of the table that referred to it last, and expires
}
