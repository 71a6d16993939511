package delta

import (
	"context"
	"strings"
	"time"

	"github.com/lakesweep/lakesweep/store"
)

// YoungIcebergMetadata reports whether the root's folder "metadata" holds an
// Iceberg metadata file that isn't older than the cutoff: then the folder is
// to be hidden (Rules.HideRootMetadata), whatever the table's properties say.
//
// Source: spec/delta-vacuum.md 1.10 (OURS).
func (t *Table) YoungIcebergMetadata(ctx context.Context, cutoff time.Time) (bool, error) {
	entries, err := listDir(ctx, t.r, "metadata/", "")
	if err != nil {
		return false, t.wrap("look for iceberg metadata", err)
	}
	mine := entries[:0]
	for _, e := range entries {
		if e.Kind == store.File && icebergFile(e.Name[strings.LastIndexByte(e.Name, '/')+1:]) {
			mine = append(mine, e)
		}
	}
	if err := t.statAll(ctx, mine); err != nil {
		return false, t.wrap("look for iceberg metadata", err)
	}
	for _, e := range mine {
		if e.Kind == store.File && !e.Modified.Before(cutoff) {
			return true, nil
		}
	}
	return false, nil
}

// icebergFile reports whether Iceberg gives its metadata files such names.
func icebergFile(base string) bool {
	return strings.HasSuffix(base, ".metadata.json") || strings.HasSuffix(base, ".avro") || base == "version-hint.text"
}
