package blob

import (
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table/hudi/datafile"
)

// File is a base or log file of the table, on storage now.
type File struct {
	datafile.File
	Partition string
	Key       lake.Key
	Size      int64
	Modified  time.Time
	ETag      string
	// Slice is the instant of the file slice that it belongs to.
	Slice string
	// Inflight: no completed commit is known to have written it. What it refers to may yet become part of the table.
	Inflight bool
	// Link: it is a symlink, which is never followed. What lies behind it may refer to any blob.
	Link bool
	// Missing: the metadata table lists it, the folder doesn't have it.
	Missing bool
}

// Group names the file group of a file.
func (f File) Group() Group { return Group{f.Partition, f.FileID} }

// Group is a file group: ids are unique in a partition, not in a table.
type Group struct{ Partition, FileID string }
