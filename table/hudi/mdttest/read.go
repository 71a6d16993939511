package mdttest

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/avro"

	"github.com/lakesweep/lakesweep/table/hudi/datafile"
	"github.com/lakesweep/lakesweep/table/hudi/hfile"
	"github.com/lakesweep/lakesweep/table/hudi/logblock"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// Read lists by a metadata table, slowly and in the plainest way: newest base
// file first, then block after block. files are those below .hoodie/metadata,
// by their names from there. counts says whether an instant is part of the data
// table.
func Read(version int, files map[string][]byte, counts func(instant string) bool) (Files, error) {
	t := Table{Version: version}
	done := map[string]string{} // completed instants → completion time, or the instant itself
	for name := range files {
		if i, ok := timeline.ParseName(t.layout(), strings.TrimPrefix(dir+name, t.timeline())); ok && i.State == timeline.Completed {
			done[i.Time] = cmp.Or(i.Completion, i.Time)
		}
	}
	initial := func(at string) bool { return strings.HasPrefix(at, "00000000") }
	var base datafile.File
	var logs []datafile.File
	for name := range files {
		f, ok := datafile.Parse(strings.TrimPrefix(name, "files/"))
		switch {
		case !ok:
		case f.Log:
			logs = append(logs, f)
		case f.Instant > base.Instant && (initial(f.Instant) || done[f.Instant] != ""):
			base = f
		}
	}
	logs = slices.DeleteFunc(logs, func(f datafile.File) bool {
		if version < 8 {
			return f.Instant < base.Instant
		}
		return done[f.Instant] < base.Instant
	})
	slices.SortFunc(logs, datafile.CompareLogs)
	l := reading{map[string]map[string]info{}, map[string]*avro.Schema{}}
	if base.Name != "" {
		if err := l.hfile(files["files/"+base.Name]); err != nil {
			return nil, err
		}
	}
	blocks, err := readBlocks(files, logs)
	if err != nil {
		return nil, err
	}
	for i, b := range blocks {
		back := slices.ContainsFunc(blocks[i:], func(later logblock.Block) bool { return later.RollsBack() == b.Instant() })
		if back || b.Type == logblock.Command || !initial(b.Instant()) && !counts(b.Instant()) {
			continue
		}
		if err := l.block(b); err != nil {
			return nil, err
		}
	}
	out := Files{}
	for key := range l.listing[allPartitions] {
		partition := strings.TrimPrefix(key, ".")
		out[partition] = map[string]int64{}
		for name, i := range l.listing[key] {
			out[partition][name] = i.Size
		}
	}
	return out, nil
}

func readBlocks(files map[string][]byte, logs []datafile.File) (out []logblock.Block, err error) {
	for _, f := range logs {
		data := files["files/"+f.Name]
		for b, err := range logblock.Blocks(bytes.NewReader(data), int64(len(data))) {
			if err != nil {
				return nil, err
			}
			out = append(out, b)
		}
	}
	return out, nil
}

// reading is the listing as far as it is read.
type reading struct {
	listing map[string]map[string]info
	schemas map[string]*avro.Schema
}

func (l reading) block(b logblock.Block) error {
	content, err := b.Content()
	if err != nil {
		return err
	}
	switch b.Type {
	case logblock.HFileData:
		return l.hfile(content)
	case logblock.Delete:
		d, err := logblock.NewDeletions()
		if err != nil {
			return err
		}
		keys, err := d.Keys(content)
		for _, k := range keys {
			delete(l.listing, k.RecordKey)
		}
		return err
	}
	return fmt.Errorf("a block of type %d", b.Type)
}

// hfile lays the records of an HFile over the listing.
func (l reading) hfile(data []byte) error {
	r, err := hfile.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return err
	}
	text, _ := r.Info("schema")
	s := l.schemas[string(text)]
	if s == nil {
		if s, err = avro.Parse(string(text)); err != nil {
			return err
		}
		l.schemas[string(text)] = s
	}
	for e, err := range r.All() {
		if err != nil {
			return err
		}
		var rec entry
		if _, err := s.Decode(e.Value, &rec, avro.SkipUnknown()); err != nil {
			return err
		}
		if l.listing[e.Key] == nil {
			l.listing[e.Key] = map[string]info{}
		}
		for name, i := range rec.Files {
			if i.Deleted {
				delete(l.listing[e.Key], name)
			} else {
				l.listing[e.Key][name] = i
			}
		}
	}
	return nil
}
