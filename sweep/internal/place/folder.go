package place

import (
	"context"
	"strings"

	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table/delta/meta"
)

// The marks of tables, and the folder that may hold that of an Iceberg table.
const (
	deltaMark   = meta.LogDir + "/"
	hudiMark    = ".hoodie/"
	metadataDir = "metadata/"
)

// LookAt reports whether a folder of r is the root of a table of any format,
// and whether it may hold the file of a name. prefix is the folder's name with a
// slash, "" for the opened place.
//
// Shape: one request where a page shows the whole folder, else three more; where
// there are no flat listings three, and nothing is said of the file.
// Errors: those of the store. A folder that isn't there is no table.
func LookAt(ctx context.Context, r store.Reader, prefix, file string) (table, mayHold bool, err error) {
	if !r.Traits().Flat {
		table, err = isTableAt(ctx, r, prefix)
		return table, true, err
	}
	page, err := r.List(ctx, store.PageRequest{Prefix: prefix, Dirs: true})
	if err != nil {
		return false, true, err
	}
	shown := make(map[string]bool, len(page.Entries))
	for i := range page.Entries {
		shown[strings.TrimPrefix(page.Entries[i].Listed(), prefix)] = true
	}
	more := page.Next != "" // with anything, as not every store lists in the order of names
	mayHold = more || shown[file]
	if shown[deltaMark] || shown[hudiMark] {
		return true, mayHold, nil
	}
	if more {
		if table, err = isTable(ctx, r, prefix); table || err != nil {
			return table, mayHold, err
		}
	}
	if !more && !shown[metadataDir] {
		return false, mayHold, nil
	}
	names, err := childNames(ctx, r, prefix+metadataDir)
	return meta.IcebergMetadata(names), mayHold, err
}
