package reap

import (
	"context"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
)

// checksumOf names the file in which Hadoop's local file system keeps the
// checksums of k.
func checksumOf(k lake.Key) lake.Key {
	dir, base := k.Dir(), lake.Key("."+k.Base()+".crc")
	if dir == "" {
		return base
	}
	return dir + "/" + base
}

// checksums finds the ".name.crc" beside each file that is about to go. They
// are no rows and in no count, but without them directories would never become
// empty. One that can't be looked at stays: it is only garbage.
//
// Source: spec/delta-vacuum.md 1.10.
func (r *run) checksums(ctx context.Context, files []*item) []*item {
	if !r.o.Checksums {
		return nil
	}
	var found []*item
	for _, file := range files {
		k := checksumOf(file.v.Key)
		if file.v.URI != "" {
			continue
		}
		info, err := r.job.Place.Stat(ctx, string(k))
		if err != nil || info.Kind != store.File {
			continue
		}
		found = append(found, &item{file: file, place: r.job.Place, size: info.Size, target: store.Target{Name: string(k)},
			v: lake.Verdict{Key: k, Size: info.Size, Reason: file.v.Reason}})
	}
	return found
}

// orphaned returns the checksums whose file left its place.
func orphaned(checksums []*item) []*item {
	var left []*item
	for _, c := range checksums {
		if c.file.left() {
			left = append(left, c)
		}
	}
	return left
}
