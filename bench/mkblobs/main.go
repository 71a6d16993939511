// Command mkblobs lays out a Hudi table whose records refer to external blobs,
// for benchmarks of planning them: RFC-100's example. Every file group has its
// own references; some groups were rewritten twice since, and each of those
// has let references go, one half of which another group shares.
//
//	go run ./bench/mkblobs -out /tmp/table        50,000 groups in 1,000 partitions, 500 rewritten, 2,000 candidates
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

const schema = `{"type":"record","name":"row","fields":[{"name":"_hoodie_record_key","type":"string"},{"name":"img","type":["null",{"type":"record","name":"blob","logicalType":"blob","fields":[
{"name":"type","type":{"type":"enum","name":"blob_storage_type","symbols":["INLINE","OUT_OF_LINE"]}},{"name":"data","type":["null","bytes"]},
{"name":"reference","type":["null",{"type":"record","name":"reference","fields":[{"name":"external_path","type":"string"},{"name":"offset","type":["null","long"]},{"name":"length","type":["null","long"]},{"name":"managed","type":"boolean"}]}]}]}]}]}`

type row struct {
	Key string `parquet:"_hoodie_record_key"`
	Img struct {
		Type      string `parquet:"type,dict"`
		Data      []byte `parquet:"data,optional"`
		Reference struct {
			Path    string `parquet:"external_path"`
			Offset  *int64 `parquet:"offset,optional"`
			Length  *int64 `parquet:"length,optional"`
			Managed bool   `parquet:"managed"`
		} `parquet:"reference,optional"`
	} `parquet:"img,optional"`
}

type maker struct {
	out                                              string
	partitions, groups, rewritten, records, released int
}

func main() {
	log.SetFlags(0)
	var m maker
	flag.StringVar(&m.out, "out", "", "the table's folder, which must not exist")
	flag.IntVar(&m.partitions, "partitions", 1000, "partitions")
	flag.IntVar(&m.groups, "groups", 50, "file groups in each")
	flag.IntVar(&m.rewritten, "rewritten", 500, "groups that were rewritten twice")
	flag.IntVar(&m.records, "records", 20, "records of a group")
	flag.IntVar(&m.released, "released", 4, "references that a rewritten group let go")
	flag.Parse()
	if err := m.make(); err != nil {
		log.Fatal("mkblobs: ", err)
	}
}

func (m maker) make() error {
	if err := os.Mkdir(m.out, 0o755); err != nil {
		return err
	}
	properties := "hoodie.table.name=bench\nhoodie.table.type=COPY_ON_WRITE\nhoodie.table.version=9\nhoodie.timeline.layout.version=2\nhoodie.table.timeline.timezone=UTC\nhoodie.table.partition.fields=p\n"
	if err := m.write(".hoodie/hoodie.properties", []byte(properties)); err != nil {
		return err
	}
	for p := range m.partitions {
		if err := m.write(fmt.Sprintf("p=%04d/.hoodie_partition_metadata", p), []byte("commitTime=1\npartitionDepth=1\n")); err != nil {
			return err
		}
	}
	all := m.partitions * m.groups
	for commit := range 3 {
		n := all
		if commit > 0 {
			n = m.rewritten
		}
		if err := m.commit(commit, n, all); err != nil {
			return err
		}
	}
	return nil
}

// commit writes the first n groups.
func (m maker) commit(commit, n, all int) error {
	begin := time.Date(2026, 1, 1, commit, 0, 0, 0, time.UTC)
	at := timeline.FormatTime(begin, time.UTC)
	meta := timeline.CommitMetadata{Stats: map[string][]timeline.WriteStat{}, Operation: "UPSERT", Extra: map[string]string{"schema": schema}}
	for g := range n {
		partition, id := fmt.Sprintf("p=%04d", g%m.partitions), fmt.Sprintf("%08x-0000-4000-8000-000000000000-0", g)
		name := fmt.Sprintf("%s/%s_0-1-2_%s.parquet", partition, id, at)
		if err := m.base(name, m.paths(g, commit, all)); err != nil {
			return err
		}
		previous := "null"
		if commit > 0 {
			previous = timeline.FormatTime(begin.Add(-time.Hour), time.UTC)
		}
		meta.Stats[partition] = append(meta.Stats[partition], timeline.WriteStat{FileID: id, Path: name, PrevCommit: previous})
	}
	data, err := json.Marshal(meta)
	if err != nil {
		return err
	}
	for state, body := range map[timeline.State][]byte{timeline.Requested: nil, timeline.Inflight: nil, timeline.Completed: data} {
		name := timeline.Name(timeline.Layout2, at, timeline.Commit, state, timeline.FormatTime(begin.Add(time.Minute), time.UTC))
		if err := m.write(".hoodie/timeline/"+name, body); err != nil {
			return err
		}
	}
	return nil
}

// paths are a group's references: its own, and, in the first commit, those that
// it lets go later, or that it shares with a group which does.
func (m maker) paths(g, commit, all int) (list []string) {
	for i := range m.records {
		list = append(list, fmt.Sprintf("s3://media/own/%d/%d.bin", g, i))
	}
	owner := g
	if shares := g >= all-m.rewritten; shares {
		owner = g - (all - m.rewritten)
	}
	for i := range m.released {
		if g < m.rewritten && commit == 0 || g != owner && i%2 == 0 {
			list = append(list, fmt.Sprintf("s3://media/released/%d/%d.bin", owner, i))
		}
	}
	return list
}

func (m maker) base(name string, paths []string) error {
	rows := make([]row, len(paths))
	for i, p := range paths {
		rows[i].Key = fmt.Sprint("key-", i)
		rows[i].Img.Type, rows[i].Img.Reference.Path, rows[i].Img.Reference.Managed = "OUT_OF_LINE", p, true
	}
	f, err := os.Create(filepath.Join(m.out, name))
	if err != nil {
		return err
	}
	if err := parquet.Write(f, rows); err != nil {
		return err
	}
	return f.Close()
}

func (m maker) write(name string, data []byte) error {
	path := filepath.Join(m.out, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}
