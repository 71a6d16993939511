// Command mktable lays out a Delta table of many tiny files for benchmarks of
// vacuum: hourly partitions, a share of dead files that no version names, all
// 30 days old. Files hold one byte, since a vacuum never opens them. With -hudi
// it is a Hudi table for benchmarks of clean.
//
//	go run ./bench/mktable -out /tmp/table                         48 partitions of 10,000 files
//	go run ./bench/mktable -out /tmp/log -no-files -checkpoint     the log alone, for replay
//	go run ./bench/mktable -out /tmp/log -no-files -keys names     the log, and the names that bench/fakes3 serves
//	go run ./bench/mktable -out /tmp/table -hudi -partitions 1000  a Hudi table of 50 file groups in each partition
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/parquet-go/parquet-go"
)

type maker struct {
	out        string
	partitions int
	files      int
	dead       int // percent
	checkpoint bool
	noFiles    bool
	keys       string
	names      *bufio.Writer // of all files, live and dead; nil for none
	old        time.Time
	rng        *rand.Rand
}

type add struct {
	Path             string            `parquet:"path" json:"path"`
	PartitionValues  map[string]string `parquet:"partitionValues" json:"partitionValues"`
	Size             int64             `parquet:"size" json:"size"`
	ModificationTime int64             `parquet:"modificationTime" json:"modificationTime"`
	DataChange       bool              `parquet:"dataChange" json:"dataChange"`
	Stats            string            `parquet:"stats" json:"stats"`
}

type metaData struct {
	ID               string            `parquet:"id" json:"id"`
	Format           format            `parquet:"format" json:"format"`
	SchemaString     string            `parquet:"schemaString" json:"schemaString"`
	PartitionColumns []string          `parquet:"partitionColumns,list" json:"partitionColumns"`
	Configuration    map[string]string `parquet:"configuration" json:"configuration"`
	CreatedTime      int64             `parquet:"createdTime" json:"createdTime"`
}

type format struct {
	Provider string            `parquet:"provider" json:"provider"`
	Options  map[string]string `parquet:"options" json:"options"`
}

type protocol struct {
	MinReaderVersion int32 `parquet:"minReaderVersion" json:"minReaderVersion"`
	MinWriterVersion int32 `parquet:"minWriterVersion" json:"minWriterVersion"`
}

// action is a row of a checkpoint and a line of a commit.
type action struct {
	Add      *add      `parquet:"add,optional" json:"add,omitempty"`
	MetaData *metaData `parquet:"metaData,optional" json:"metaData,omitempty"`
	Protocol *protocol `parquet:"protocol,optional" json:"protocol,omitempty"`
}

func main() {
	log.SetFlags(0)
	m := maker{old: time.Now().Add(-30 * 24 * time.Hour).Truncate(time.Second), rng: rand.New(rand.NewPCG(1, 2))}
	flag.StringVar(&m.out, "out", "", "folder to make the table in")
	flag.IntVar(&m.partitions, "partitions", 48, "hourly partitions, one commit each")
	flag.IntVar(&m.files, "files", 10_000, "files in a partition")
	flag.IntVar(&m.dead, "dead-percent", 10, "files of a hundred that no version names")
	flag.BoolVar(&m.checkpoint, "checkpoint", false, "write a classic checkpoint as well")
	flag.BoolVar(&m.noFiles, "no-files", false, "write the log only")
	flag.StringVar(&m.keys, "keys", "", "file to write the names of all files to, for bench/fakes3")
	hudi, h := flag.Bool("hudi", false, "make a Hudi table; of the flags before, only -out and -partitions count"), hudiMaker{}
	flag.IntVar(&h.groups, "groups", 50, "with -hudi: file groups in a partition")
	flag.IntVar(&h.versions, "versions", 2, "with -hudi: commits that write every file group")
	flag.IntVar(&h.recent, "recent", 10, "with -hudi: partitions that two more commits write, with a clean between them; 0 for neither")
	flag.Parse()
	run := m.run
	if *hudi {
		h.out, h.partitions = m.out, m.partitions
		run = h.run
	}
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func (m *maker) run() (err error) {
	logDir := filepath.Join(m.out, "_delta_log")
	if err := os.MkdirAll(logDir, 0o755); err != nil {
		return err
	}
	var rows *parquet.GenericWriter[action]
	if m.checkpoint {
		f, err := os.Create(filepath.Join(logDir, fmt.Sprintf("%020d.checkpoint.parquet", m.partitions-1)))
		if err != nil {
			return err
		}
		rows = parquet.NewGenericWriter[action](f, parquet.Compression(&parquet.Snappy), parquet.MaxRowsPerRowGroup(500_000))
		defer func() { err = errors.Join(err, rows.Close(), f.Close()) }()
	}
	if m.keys != "" {
		f, err := os.Create(m.keys)
		if err != nil {
			return err
		}
		m.names = bufio.NewWriter(f)
		defer func() { err = errors.Join(err, m.names.Flush(), f.Close()) }()
	}
	live := 0
	for p := range m.partitions {
		n, err := m.commit(logDir, p, rows)
		if err != nil {
			return err
		}
		live += n
	}
	fmt.Printf("{\"files\": %d, \"live\": %d, \"partitions\": %d}\n", m.partitions*m.files, live, m.partitions)
	return nil
}

// commit writes one partition and the version that adds its live files.
func (m *maker) commit(logDir string, p int, rows *parquet.GenericWriter[action]) (live int, err error) {
	values := map[string]string{"year": "2023", "month": "07", "day": fmt.Sprintf("%02d", p/24+1), "hour": fmt.Sprintf("%02d", p%24)}
	dir := fmt.Sprintf("year=2023/month=07/day=%s/hour=%s", values["day"], values["hour"])
	if !m.noFiles {
		if err := os.MkdirAll(filepath.Join(m.out, dir), 0o755); err != nil {
			return 0, err
		}
	}
	f, err := os.Create(filepath.Join(logDir, fmt.Sprintf("%020d.json", p)))
	if err != nil {
		return 0, err
	}
	w := bufio.NewWriter(f)
	defer func() { err = errors.Join(err, w.Flush(), f.Close(), os.Chtimes(f.Name(), m.old, m.old)) }()
	fmt.Fprintf(w, "{\"commitInfo\":{\"timestamp\":%d,\"operation\":\"WRITE\"}}\n", m.old.UnixMilli())
	if p == 0 {
		if err := m.head(w, rows); err != nil {
			return 0, err
		}
	}
	lines := json.NewEncoder(w)
	for i := range m.files {
		name := fmt.Sprintf("%s/part-%05d-%016x-%016x.c000.snappy.parquet", dir, i, m.rng.Uint64(), m.rng.Uint64())
		if !m.noFiles {
			path := filepath.Join(m.out, name)
			if err := errors.Join(os.WriteFile(path, []byte("x"), 0o644), os.Chtimes(path, m.old, m.old)); err != nil {
				return 0, err
			}
		}
		if m.names != nil {
			fmt.Fprintln(m.names, name) // Flush tells the error
		}
		if i%100 < m.dead {
			continue
		}
		live++
		a := action{Add: &add{Path: name, PartitionValues: values, Size: 1, ModificationTime: m.old.UnixMilli(), DataChange: true,
			Stats: fmt.Sprintf(`{"numRecords":1000,"minValues":{"value":"a%d"},"maxValues":{"value":"z%d"},"nullCount":{"value":0}}`, i, i)}}
		if err := lines.Encode(a); err != nil {
			return 0, err
		}
		if rows != nil {
			if _, err := rows.Write([]action{a}); err != nil {
				return 0, err
			}
		}
	}
	return live, nil
}

// head writes the table's protocol and metadata.
func (m *maker) head(w io.Writer, rows *parquet.GenericWriter[action]) error {
	type field struct {
		Name     string            `json:"name"`
		Type     string            `json:"type"`
		Nullable bool              `json:"nullable"`
		Metadata map[string]string `json:"metadata"`
	}
	columns := []string{"year", "month", "day", "hour"}
	schema := struct {
		Type   string  `json:"type"`
		Fields []field `json:"fields"`
	}{Type: "struct"}
	for _, name := range append(columns, "value") {
		schema.Fields = append(schema.Fields, field{name, "string", true, map[string]string{}})
	}
	text, err := json.Marshal(schema)
	if err != nil {
		return err
	}
	actions := []action{
		{Protocol: &protocol{1, 2}},
		{MetaData: &metaData{ID: "7e4f21c0-0000-4000-8000-000000000001", Format: format{"parquet", map[string]string{}}, SchemaString: string(text),
			PartitionColumns: columns, Configuration: map[string]string{}, CreatedTime: m.old.UnixMilli()}},
	}
	lines := json.NewEncoder(w)
	for _, a := range actions {
		if err := lines.Encode(a); err != nil {
			return err
		}
	}
	if rows != nil {
		_, err = rows.Write(actions)
	}
	return err
}
