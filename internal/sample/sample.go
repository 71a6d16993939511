// Package sample writes a small real Delta table to try lakesweep on.
package sample

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/parquet-go/parquet-go"
)

const day = 24 * time.Hour

// row is a row of the data files; the table's third column, day, is its
// partition column.
type row struct {
	ID   int64  `parquet:"id"`
	Name string `parquet:"name"`
}

// Write makes a Delta table in dir, which must not exist or be empty: 40 days
// of history before now, with
//
//   - six live files in three partitions,
//   - two files that an update replaced 20 days ago,
//   - one file of a write that failed 15 days ago and left no log entry,
//   - one file that an update replaced an hour ago,
//   - and an empty folder of a partition that is no more.
func Write(dir string, now time.Time) error {
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return fmt.Errorf("%s isn't empty", dir)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	w := &writer{dir: dir, now: now.UTC()}
	w.commit(40*day, w.protocol(), w.metadata(), w.add(40*day, "2026-01-01", "a1"), w.add(40*day, "2026-01-01", "a2"))
	w.commit(35*day, w.add(35*day, "2026-01-02", "b1"), w.add(35*day, "2026-01-02", "b2"))
	w.commit(30*day, w.add(30*day, "2026-01-03", "c1"), w.add(30*day, "2026-01-03", "c2"))
	w.commit(20*day, w.remove(20*day, "2026-01-01", "a1"), w.remove(20*day, "2026-01-02", "b1"),
		w.add(20*day, "2026-01-01", "a3"), w.add(20*day, "2026-01-02", "b3"))
	w.data(15*day, "2026-01-03", "failed")
	w.commit(time.Hour, w.remove(time.Hour, "2026-01-03", "c1"), w.add(time.Hour, "2026-01-03", "c3"))
	w.folder(10*day, "2025-12-31")
	return w.err
}

// writer writes the parts of a table; the first error stays.
type writer struct {
	dir     string
	now     time.Time
	version int
	err     error
}

func (w *writer) try(err error) {
	if w.err == nil {
		w.err = err
	}
}

// put writes a file that was last changed age ago.
func (w *writer) put(name string, data []byte, age time.Duration) {
	file := filepath.Join(w.dir, filepath.FromSlash(name))
	w.try(os.MkdirAll(filepath.Dir(file), 0o755))
	w.try(os.WriteFile(file, data, 0o644))
	w.try(os.Chtimes(file, time.Time{}, w.now.Add(-age)))
}

func (w *writer) commit(age time.Duration, actions ...map[string]any) {
	info := map[string]any{"commitInfo": map[string]any{"timestamp": w.millis(age), "operation": "WRITE", "engineInfo": "lakesweep sample"}}
	var lines bytes.Buffer
	for _, a := range append([]map[string]any{info}, actions...) {
		w.try(json.NewEncoder(&lines).Encode(a))
	}
	w.put(fmt.Sprintf("_delta_log/%020d.json", w.version), lines.Bytes(), age)
	w.version++
}

func (w *writer) millis(age time.Duration) int64 { return w.now.Add(-age).UnixMilli() }

func (w *writer) protocol() map[string]any {
	return map[string]any{"protocol": map[string]any{"minReaderVersion": 1, "minWriterVersion": 2}}
}

func (w *writer) metadata() map[string]any {
	return map[string]any{"metaData": map[string]any{
		"id": "5a1f0000-0000-4000-8000-000000000001", "name": "sample",
		"format": map[string]any{"provider": "parquet", "options": map[string]string{}},
		"schemaString": `{"type":"struct","fields":[` +
			`{"name":"id","type":"long","nullable":true,"metadata":{}},` +
			`{"name":"name","type":"string","nullable":true,"metadata":{}},` +
			`{"name":"day","type":"date","nullable":true,"metadata":{}}]}`,
		"partitionColumns": []string{"day"}, "configuration": map[string]string{}, "createdTime": w.millis(40 * day),
	}}
}

func path(partition, name string) string { return "day=" + partition + "/part-" + name + ".parquet" }

// data writes a data file and returns its path and size.
func (w *writer) data(age time.Duration, partition, name string) (string, int) {
	var b bytes.Buffer
	w.try(parquet.Write(&b, []row{{1, name}, {2, name}, {3, name}}))
	w.put(path(partition, name), b.Bytes(), age)
	return path(partition, name), b.Len()
}

func (w *writer) add(age time.Duration, partition, name string) map[string]any {
	file, size := w.data(age, partition, name)
	return map[string]any{"add": map[string]any{"path": file, "size": size, "partitionValues": map[string]string{"day": partition},
		"modificationTime": w.millis(age), "dataChange": true}}
}

func (w *writer) remove(age time.Duration, partition, name string) map[string]any {
	return map[string]any{"remove": map[string]any{"path": path(partition, name), "deletionTimestamp": w.millis(age), "dataChange": true,
		"extendedFileMetadata": true, "partitionValues": map[string]string{"day": partition}}}
}

func (w *writer) folder(age time.Duration, partition string) {
	dir := filepath.Join(w.dir, "day="+partition)
	w.try(os.MkdirAll(dir, 0o755))
	w.try(os.Chtimes(dir, time.Time{}, w.now.Add(-age)))
}
