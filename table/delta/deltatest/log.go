package deltatest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// TB is what of testing.TB (and rapid.T) a Log needs.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
}

// Files is where a Log writes.
type Files interface {
	// Put writes an object, over what is there, with a modification time.
	Put(name string, data []byte, modified time.Time) error
}

// Dir is Files in a folder of the local disk.
type Dir string

// Put writes a file below d.
func (d Dir) Put(name string, data []byte, modified time.Time) error {
	p := filepath.Join(string(d), filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(p, data, 0o644); err != nil {
		return err
	}
	return os.Chtimes(p, modified, modified)
}

// Mem makes Files of an in-memory store.
func Mem(m interface {
	Put(name string, data []byte, modified time.Time)
}) Files {
	return memFiles{m.Put}
}

type memFiles struct {
	put func(string, []byte, time.Time)
}

func (m memFiles) Put(name string, data []byte, modified time.Time) error {
	m.put(name, data, modified)
	return nil
}

// Log writes the log of one table and remembers it, so that checkpoints can be
// made of any version.
type Log struct {
	tb       TB
	files    Files
	Protocol Protocol // of version 0, unless its commit brings one
	MetaData MetaData // the same
	commits  [][]Action
}

// New returns an empty log: reader 1, writer 2, one column, not partitioned.
func New(tb TB, f Files) *Log {
	return &Log{tb: tb, files: f, Protocol: Protocol{MinReaderVersion: 1, MinWriterVersion: 2}, MetaData: MetaData{
		ID: "00000000-1111-2222-3333-444444444444", Format: Format{Provider: "parquet", Options: map[string]string{}},
		SchemaString: Schema("value"), PartitionColumns: []string{}, Configuration: map[string]string{},
	}}
}

// Partition makes the table partitioned by string columns. For version 0.
func (l *Log) Partition(columns ...string) *Log {
	l.MetaData.PartitionColumns = columns
	l.MetaData.SchemaString = Schema(append(slices.Clone(columns), "value")...)
	return l
}

// Configure sets a table property. For version 0.
func (l *Log) Configure(key, value string) *Log {
	l.MetaData.Configuration[key] = value
	return l
}

// Features gives the table writer 7 and these features, and reader 3 where
// readers need any. For version 0.
func (l *Log) Features(readWrite, writerOnly []string) *Log {
	l.Protocol = Protocol{MinReaderVersion: 1, MinWriterVersion: 7, WriterFeatures: append(slices.Clone(readWrite), writerOnly...)}
	if len(readWrite) > 0 {
		l.Protocol.MinReaderVersion, l.Protocol.ReaderFeatures = 3, readWrite
	}
	return l
}

// Next is the version that the next Commit writes.
func (l *Log) Next() int64 { return int64(len(l.commits)) }

// Skip notes that somebody else wrote the next version, without any files.
func (l *Log) Skip() { l.commits = append(l.commits, nil) }

// Name returns the name of a commit.
func Name(v int64) string { return fmt.Sprintf("_delta_log/%020d.json", v) }

// Commit writes the next version and returns its number. A commitInfo is put
// in front unless the actions bring one, and protocol and metaData in version 0.
func (l *Log) Commit(at time.Time, actions ...Action) int64 {
	l.tb.Helper()
	v := l.Next()
	all := slices.Clone(actions)
	brings := func(is func(Action) bool) bool { return slices.ContainsFunc(all, is) }
	if v == 0 && !brings(func(a Action) bool { return a.MetaData != nil }) {
		all = slices.Insert(all, 0, Action{MetaData: &l.MetaData})
	}
	if v == 0 && !brings(func(a Action) bool { return a.Protocol != nil }) {
		all = slices.Insert(all, 0, Action{Protocol: &l.Protocol})
	}
	if !brings(func(a Action) bool { return a.CommitInfo != nil }) {
		all = slices.Insert(all, 0, Action{CommitInfo: map[string]any{"timestamp": at.UnixMilli(), "operation": "WRITE"}})
	}
	var body strings.Builder
	for _, a := range all {
		body.WriteString(l.line(a))
		body.WriteByte('\n')
	}
	l.Put(Name(v), []byte(body.String()), at)
	l.commits = append(l.commits, all)
	return v
}

func (l *Log) line(a Action) string {
	l.tb.Helper()
	if a.Raw != "" {
		return a.Raw
	}
	b, err := json.Marshal(a)
	if err != nil {
		l.tb.Fatalf("deltatest: %v", err)
	}
	return string(b)
}

// Put writes any object of the table: data files, or damage to the log.
func (l *Log) Put(name string, data []byte, at time.Time) {
	l.tb.Helper()
	if err := l.files.Put(name, data, at); err != nil {
		l.tb.Fatalf("deltatest: %s: %v", name, err)
	}
}

// Data writes a data file of size bytes.
func (l *Log) Data(name string, size int, at time.Time) {
	l.tb.Helper()
	l.Put(name, make([]byte, size), at)
}

// State returns the actions that make up a version, as a checkpoint of it
// holds them: protocol, metaData, live adds, and the tombstones whose
// deletionTimestamp is after keep.
func (l *Log) State(version int64, keep time.Time) []Action {
	newest := map[string]Action{}
	var protocol, metadata Action
	for v := int64(0); v <= version; v++ {
		// Of an add and a remove with one identity in one commit the add counts.
		for _, adds := range []bool{false, true} {
			for _, a := range l.commits[v] {
				switch {
				case a.Protocol != nil:
					protocol = a
				case a.MetaData != nil:
					metadata = a
				case adds && a.Add != nil, !adds && a.Remove != nil:
					newest[a.key()] = a
				}
			}
		}
	}
	out := []Action{protocol, metadata}
	keys := make([]string, 0, len(newest))
	for k := range newest {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		a := newest[k]
		if r := a.Remove; r != nil && (r.DeletionTimestamp == nil || *r.DeletionTimestamp <= keep.UnixMilli()) {
			continue
		}
		out = append(out, a)
	}
	return out
}

// Checksum writes the checksum file of a version.
func (l *Log) Checksum(version int64, at time.Time) {
	l.tb.Helper()
	var files, size int64
	state := l.State(version, at)
	for _, a := range state {
		if a.Add != nil {
			files, size = files+1, size+a.Add.Size
		}
	}
	body, err := json.Marshal(map[string]any{"tableSizeBytes": size, "numFiles": files, "numMetadata": 1, "numProtocol": 1,
		"protocol": state[0].Protocol, "metadata": state[1].MetaData})
	if err != nil {
		l.tb.Fatalf("deltatest: %v", err)
	}
	l.Put(fmt.Sprintf("_delta_log/%020d.crc", version), body, at)
}
