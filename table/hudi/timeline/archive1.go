package timeline

import (
	"context"
	"fmt"
	"strings"

	"github.com/twmb/avro"

	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table/hudi/logblock"
)

// LoadArchive1 reads the archived timeline of layout 1: log files named
// .commits_.archive.N_TOKEN in the folder dir, with Avro blocks of
// HoodieArchivedMetaEntry. Completion times aren't recorded there; an instant
// maps to itself.
//
// Memory: one block, and some 100 bytes an archived instant.
// Errors: Damaged, Unsupported.
func LoadArchive1(ctx context.Context, r store.Reader, dir string) (Archive, error) {
	a := Archive{Completion: make(map[string]string)}
	entries, err := list(ctx, r, dir)
	if err != nil {
		return a, err
	}
	for _, e := range entries {
		name := strings.TrimPrefix(e.Name, dir+"/")
		if e.Kind != store.File || !strings.HasPrefix(name, ".commits_.archive.") || strings.HasSuffix(name, ".crc") {
			continue
		}
		if r.Traits().NamesFirst {
			if e, err = r.Stat(ctx, e.Name); err != nil {
				return a, archiveError(e.Name, err)
			}
		}
		a.Known = true
		for b, err := range logblock.Blocks(store.NewReaderAt(ctx, r, e.Name, e.Size), e.Size) {
			if err == nil && b.Type == logblock.AvroData {
				err = a.addBlock(b)
			}
			if err != nil {
				return a, archiveError(e.Name, err)
			}
		}
	}
	return a, nil
}

type archivedEntry struct {
	Time   string `avro:"commitTime"`
	Action string `avro:"actionType"`
	State  string `avro:"actionState"`
}

func (a *Archive) addBlock(b logblock.Block) error {
	schema, err := avro.Parse(b.Header[logblock.Schema])
	if err != nil {
		return err
	}
	content, err := b.Content()
	if err != nil {
		return err
	}
	for record, err := range logblock.Records(content) {
		if err != nil {
			return err
		}
		var e archivedEntry
		if _, err := schema.Decode(record, &e, avro.SkipUnknown()); err != nil {
			return fmt.Errorf("archived entry: %w", err)
		}
		if IsWrite(Action(e.Action)) && (e.State == "" || e.State == "COMPLETED") {
			a.Completion[e.Time] = e.Time
		}
	}
	return nil
}
