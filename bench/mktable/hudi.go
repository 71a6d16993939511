package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/lakesweep/lakesweep/table/hudi/mdttest"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// hudiMaker lays out a copy-on-write table of version 9 with a metadata table:
// versions commits that write every file group, an hour apart. Two more rewrite
// the groups of the first recent partitions, and between these two lies a clean
// that removed nothing, so that the next one is incremental and looks at those
// partitions. Every base file is a link to one of a byte.
type hudiMaker struct {
	out                                  string
	partitions, groups, versions, recent int
	listed                               mdttest.Files
	source                               string // what new files are links to
}

const hudiName = "bench"

func (m *hudiMaker) run() error {
	if err := os.Mkdir(m.out, 0o755); err != nil {
		return err
	}
	m.listed = mdttest.Files{}
	properties := fmt.Sprintf("hoodie.table.name=%s\nhoodie.table.type=COPY_ON_WRITE\nhoodie.table.version=9\nhoodie.table.initial.version=9\nhoodie.timeline.layout.version=2\n"+
		"hoodie.timeline.path=timeline\nhoodie.timeline.history.path=history\nhoodie.table.timeline.timezone=UTC\nhoodie.table.partition.fields=p\nhoodie.table.recordkey.fields=id\n"+
		"hoodie.table.base.file.format=PARQUET\nhoodie.table.metadata.partitions=files\nhoodie.table.checksum=%d\n", hudiName, timeline.Checksum("", hudiName))
	if err := m.put(".hoodie/hoodie.properties", []byte(properties)); err != nil {
		return err
	}
	for p := range m.partitions {
		if err := m.put(hudiPartition(p)+"/.hoodie_partition_metadata", fmt.Appendf(nil, "commitTime=%s\npartitionDepth=1\n", stamp(0))); err != nil {
			return err
		}
		m.listed[hudiPartition(p)] = make(map[string]int64)
	}
	commits := m.versions
	if m.recent > 0 {
		commits += 2
	}
	for k := range commits {
		if err := m.commit(k); err != nil {
			return err
		}
	}
	if m.recent > 0 {
		if err := m.clean(); err != nil {
			return err
		}
	}
	metadata := mdttest.Table{Name: hudiName, Version: 9, Put: m.put}
	if err := metadata.Make(m.listed, stamp(float64(commits))); err != nil {
		return err
	}
	files := 0
	for _, names := range m.listed {
		files += len(names)
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]int{"partitions": m.partitions, "groups": m.partitions * m.groups, "base_files": files})
}

func hudiPartition(p int) string { return fmt.Sprintf("p=%05d", p) }

// stamp is an instant some hours after the first.
func stamp(hours float64) string {
	start := time.Date(2025, 6, 1, 0, 0, 0, 0, time.UTC)
	return timeline.FormatTime(start.Add(time.Duration(hours*float64(time.Hour))), time.UTC)
}

func (m *hudiMaker) put(name string, data []byte) error {
	path := filepath.Join(m.out, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}

// base makes a base file of one byte. A file system allows so many links to one.
func (m *hudiMaker) base(name string) error {
	path := filepath.Join(m.out, name)
	if m.source != "" && os.Link(m.source, path) == nil {
		return nil
	}
	m.source = path
	return os.WriteFile(path, []byte("x"), 0o644)
}

// commit writes a base file of each group, or of those of recent partitions.
func (m *hudiMaker) commit(k int) error {
	partitions := m.partitions
	if k >= m.versions {
		partitions = min(m.recent, m.partitions)
	}
	before := "null"
	if k > 0 {
		before = stamp(float64(k - 1))
	}
	at := stamp(float64(k))
	done := timeline.LogCommit{Stats: map[string][]timeline.LogStat{}, Operation: "UPSERT",
		Extra: map[string]string{"schema": `{"type":"record","name":"row","fields":[{"name":"id","type":"string"},{"name":"p","type":"string"}]}`}}
	for p := range partitions {
		partition := hudiPartition(p)
		for g := range m.groups {
			id := rand.New(rand.NewPCG(uint64(p), uint64(g)))
			group := fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x-0", id.Uint32(), id.Uint32()>>16, id.Uint32()>>20, id.Uint32()>>20, id.Uint64()>>16)
			name := fmt.Sprintf("%s_%d-%d-%d_%s.parquet", group, g, k, g, at)
			if err := m.base(partition + "/" + name); err != nil {
				return err
			}
			m.listed[partition][name] = 1
			done.Stats[partition] = append(done.Stats[partition], timeline.LogStat{FileID: group, Path: partition + "/" + name, PrevCommit: before,
				NumWrites: 1, WriteBytes: 1, Size: 1, PartitionPath: partition, LogFiles: []string{}})
		}
	}
	data, err := done.Encode(timeline.Layout2)
	if err != nil {
		return err
	}
	return m.instant(at, timeline.Commit, stamp(float64(k)+.1), nil, data)
}

func (m *hudiMaker) clean() error {
	kept, at := stamp(float64(m.versions)), float64(m.versions)+.5
	plan, err := timeline.CleanPlan{Earliest: &timeline.ActionInstant{Timestamp: kept, Action: "commit", State: "COMPLETED"}, LastCompleted: kept, Policy: "KEEP_LATEST_COMMITS"}.Encode()
	if err != nil {
		return err
	}
	done, err := timeline.CleanMetadata{StartTime: stamp(at), Earliest: kept, LastCompleted: kept}.Encode()
	if err != nil {
		return err
	}
	return m.instant(stamp(at), timeline.Clean, stamp(at+.1), plan, done)
}

func (m *hudiMaker) instant(at string, a timeline.Action, completion string, plan, done []byte) error {
	for s, data := range [][]byte{timeline.Requested: plan, timeline.Inflight: nil, timeline.Completed: done} {
		if err := m.put(".hoodie/timeline/"+timeline.Name(timeline.Layout2, at, a, timeline.State(s), completion), data); err != nil {
			return err
		}
	}
	return nil
}
