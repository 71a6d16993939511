package delta

import (
	"context"
	"strings"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table/delta/logdir"
)

// NewestIcebergMetadata returns when the youngest Iceberg metadata file in the
// folder "metadata" of a table's root was modified, zero if there is none. One
// that isn't older than the cutoff hides the folder (Rules.HideRootMetadata),
// whatever the table's properties say.
//
// Errors: those of the store.
// Source: spec/delta-vacuum.md 1.10 (OURS).
func NewestIcebergMetadata(ctx context.Context, r store.Reader) (newest time.Time, err error) {
	entries, err := logdir.ListDir(ctx, r, "metadata/", "")
	if err == nil {
		mine := entries[:0]
		for _, e := range entries {
			if e.Kind == store.File && icebergFile(e.Name[strings.LastIndexByte(e.Name, '/')+1:]) {
				mine = append(mine, e)
			}
		}
		entries, err = mine, logdir.StatAll(ctx, r, logdir.WorkersFor(r, 0), mine)
	}
	if err != nil {
		return time.Time{}, &lake.Error{Op: "look for iceberg metadata", Kind: lake.KindOf(err), Err: err}
	}
	for _, e := range entries {
		if e.Kind == store.File && e.Modified.After(newest) {
			newest = e.Modified
		}
	}
	return newest, nil
}

// icebergFile reports whether Iceberg gives its metadata files such names.
func icebergFile(base string) bool {
	return lake.IcebergMetadata(base) || strings.HasSuffix(base, ".avro") || base == "version-hint.text"
}
