package delta

import (
	"context"
	"iter"

	"github.com/lakesweep/lakesweep/lake"
)

// LiveFile is a data file of the version opened.
type LiveFile struct {
	Key       lake.Key // empty if it lies outside the root
	URI       string   // absolute, of a file outside the root
	Size      int64    // bytes, as the log says
	Partition lake.Partition
	DV        lake.Key // its deletion vector's file below the root, "" if none
	DVURI     string   // absolute, of a deletion vector outside the root
}

// LiveFiles yields the live data files in no order. An error ends the stream.
func (t *Table) LiveFiles(ctx context.Context) iter.Seq2[LiveFile, error] {
	return func(yield func(LiveFile, error) bool) {}
}

// OutsidePaths yields the paths, as stored, of all data files and deletion
// vectors outside the root that any action still in the log names, removed
// ones included: what a clone may still need of its source.
func (t *Table) OutsidePaths(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {}
}
