package hudi

import (
	"context"
	"strings"
	"sync"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table/hudi/blob"
	"github.com/lakesweep/lakesweep/table/hudi/mdt"
)

// blobIndex finds blobs by the table's secondary indexes on their paths. One
// that can't be used finds nothing. Safe for concurrent use.
type blobIndex struct {
	t *Table

	mu      sync.Mutex
	opened  bool
	indexes []*mdt.Secondary
}

// Alive implements blob.Index.
//
// Source: spec/hudi-metadata-table.md section 6.4.
func (x *blobIndex) Alive(ctx context.Context, paths []string) (map[string]blob.Group, error) {
	indexes, err := x.open(ctx)
	if err != nil {
		return nil, helpless(err)
	}
	out := make(map[string]blob.Group)
	for _, i := range indexes {
		found, err := i.Find(ctx, paths)
		if err := helpless(err); err != nil {
			return nil, err
		}
		for path, at := range found {
			out[path] = blob.Group{Partition: at.Partition, FileID: at.FileID}
		}
	}
	return out, nil
}

// helpless lets an index that can't be read whole find nothing.
func helpless(err error) error {
	if k := lake.KindOf(err); k == lake.Damaged || k == lake.Unsupported || k == lake.Refused {
		return nil
	}
	return err
}

func (x *blobIndex) open(ctx context.Context) ([]*mdt.Secondary, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.opened || x.t.snap.MDT == nil || x.t.snap.Folders.Files == nil {
		return x.indexes, nil
	}
	all, err := x.t.snap.MDT.Secondaries(ctx)
	for _, i := range all {
		if strings.HasSuffix(i.Field, ".reference.external_path") {
			x.indexes = append(x.indexes, i)
		}
	}
	x.opened = err == nil || helpless(err) == nil
	return x.indexes, err
}
