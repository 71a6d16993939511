package hudi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/twmb/avro"
	"github.com/twmb/avro/ocf"

	"github.com/lakesweep/lakesweep/table/hudi/mdttest"
	"github.com/lakesweep/lakesweep/table/hudi/retain"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// model is a simulated Hudi writer. It makes tables of empty files with true
// timelines, which is all that planning by folders looks at.
type model struct {
	t       testing.TB
	rng     *rand.Rand
	version int
	mor     bool
	parted  bool
	put     func(name string, data []byte, modified time.Time)
	drop    func(name string) // nil: nothing is ever rolled back or archived
	content []byte            // of base and log files
	texts   string            // hoodie.properties
	listed  mdttest.Files     // what completed writes wrote
	listing *mdttest.Table    // the metadata table; nil for none
	failed  []modelFailure
	pending []string // times of table services that are only planned
	now     time.Time
	groups  []*modelGroup
	writes  []modelWrite // completed
	saved   []string
	trace   []string
	n       int
}

type modelGroup struct {
	partition, id string
	slices        []*modelSlice // oldest first
	replaced      string
	busy          bool // in a pending plan
}

type modelSlice struct {
	instant string
	base    string
	logs    []string
}

// modelFailure is a write in flight, with its file.
type modelFailure struct{ time, file string }

type modelWrite struct{ time, action, completion string }

var modelStart = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)

func newModel(t testing.TB, seed uint64, put func(string, []byte, time.Time)) *model {
	rng := rand.New(rand.NewPCG(seed, 7))
	m := &model{t: t, rng: rng, version: []int{6, 8, 9}[rng.IntN(3)], mor: rng.IntN(2) == 0, parted: rng.IntN(4) > 0, put: put, now: modelStart}
	typ, layout, fields := "COPY_ON_WRITE", 2, ""
	if m.mor {
		typ = "MERGE_ON_READ"
	}
	if m.version == 6 {
		layout = 1
	}
	if m.parted {
		fields = "hoodie.table.partition.fields=p\n"
	}
	name := "model"
	m.texts = fmt.Sprintf("#x\nhoodie.table.name=%s\nhoodie.table.type=%s\nhoodie.table.version=%d\nhoodie.table.initial.version=%d\nhoodie.timeline.layout.version=%d\n%shoodie.table.checksum=%d\nhoodie.table.timeline.timezone=UTC\nhoodie.table.recordkey.fields=id\nhoodie.table.base.file.format=PARQUET\n",
		name, typ, m.version, m.version, layout, fields, timeline.Checksum("", name))
	m.file(".hoodie/hoodie.properties", []byte(m.texts))
	for _, p := range m.partitions() {
		m.file(join(p, ".hoodie_partition_metadata"), []byte("commitTime=1\npartitionDepth=1\n"))
	}
	return m
}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

func (m *model) partitions() []string {
	if !m.parted {
		return []string{""}
	}
	return []string{"p=1", "p=2", "p=10"}
}

func (m *model) file(name string, data []byte) { m.put(name, data, m.now) }

func (m *model) tick() string {
	m.now = m.now.Add(time.Hour)
	return timeline.FormatTime(m.now, time.UTC)
}

func (m *model) layout() timeline.Layout {
	if m.version == 6 {
		return timeline.Layout1
	}
	return timeline.Layout2
}

// instant writes one file of the timeline.
func (m *model) instant(time string, a timeline.Action, s timeline.State, completion string, data []byte) {
	dir := ".hoodie/timeline/"
	if m.version == 6 {
		dir = ".hoodie/"
	}
	m.file(dir+timeline.Name(m.layout(), time, a, s, completion), data)
}

// complete writes the three files of an instant. The completed one's time is
// its completion: version 6 goes by it.
func (m *model) complete(at string, a timeline.Action, plan, data []byte) string {
	m.instant(at, a, timeline.Requested, "", plan)
	m.instant(at, a, timeline.Inflight, "", nil)
	started := m.now
	m.now = m.now.Add(5 * time.Minute)
	completion := timeline.FormatTime(m.now, time.UTC)
	m.instant(at, a, timeline.Completed, completion, data)
	m.now = started
	return completion
}

func (m *model) token() string { m.n++; return fmt.Sprintf("%d-%d-%d", m.n%3, m.n, m.n) }

func (m *model) base(g *modelGroup, at string) *modelSlice {
	s := &modelSlice{instant: at, base: fmt.Sprintf("%s_%s_%s.parquet", g.id, m.token(), at)}
	m.file(join(g.partition, s.base), m.content)
	g.slices = append(g.slices, s)
	return s
}

// log appends a log file to the newest slice, or starts a group with one.
func (m *model) log(g *modelGroup, at string) string {
	if len(g.slices) == 0 {
		g.slices = append(g.slices, &modelSlice{instant: at})
	}
	s := g.slices[len(g.slices)-1]
	name := fmt.Sprintf(".%s_%s.log.1_%s", g.id, at, m.token())
	if m.version == 6 {
		name = fmt.Sprintf(".%s_%s.log.%d_%s", g.id, s.instant, len(s.logs)+1, m.token())
	}
	if m.rng.IntN(8) == 0 {
		name += ".cdc"
	}
	m.file(join(g.partition, name), m.content)
	s.logs = append(s.logs, name)
	return name
}

func (m *model) active(f func(*modelGroup) bool) []*modelGroup {
	var out []*modelGroup
	for _, g := range m.groups {
		if g.replaced == "" && (f == nil || f(g)) {
			out = append(out, g)
		}
	}
	m.rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

func (m *model) newGroup(partition string) *modelGroup {
	m.n++
	g := &modelGroup{partition: partition, id: fmt.Sprintf("%08x-0000-4000-8000-%012d-0", m.n, m.n)}
	m.groups = append(m.groups, g)
	if m.listing != nil { // a clean may have removed the folder
		m.file(join(partition, ".hoodie_partition_metadata"), []byte("commitTime=1\npartitionDepth=1\n"))
	}
	return g
}

type stats map[string][]timeline.LogStat

func (s stats) add(g *modelGroup, name, prev string) {
	s[g.partition] = append(s[g.partition], timeline.LogStat{FileID: g.id, Path: join(g.partition, name), PrevCommit: prev, PartitionPath: g.partition, LogFiles: []string{}})
}

func (m *model) commitData(s stats, operation string) []byte {
	data, err := timeline.LogCommit{Stats: s, Operation: operation, Extra: map[string]string{}}.Encode(m.layout())
	if err != nil {
		m.t.Fatal(err)
	}
	return data
}

const replaceSchema = `{"type":"record","name":"HoodieReplaceCommitMetadata","namespace":"org.apache.hudi.avro.model","fields":[
{"name":"partitionToWriteStats","type":["null",{"type":"map","values":{"type":"array","items":{"type":"record","name":"HoodieWriteStat","fields":[
{"name":"fileId","type":["null","string"],"default":null},{"name":"path","type":["null","string"],"default":null},{"name":"prevCommit","type":["null","string"],"default":null},{"name":"partitionPath","type":["null","string"],"default":null}]}}}],"default":null},
{"name":"operationType","type":["null","string"],"default":null},{"name":"partitionToReplaceFileIds","type":["null",{"type":"map","values":{"type":"array","items":"string"}}],"default":null}]}`

func (m *model) replaceData(s stats, replaced map[string][]string, operation string) []byte {
	plain := map[string][]map[string]any{}
	for p, list := range s {
		for _, one := range list {
			plain[p] = append(plain[p], map[string]any{"fileId": one.FileID, "path": one.Path, "prevCommit": one.PrevCommit, "partitionPath": p})
		}
	}
	v := map[string]any{"partitionToWriteStats": plain, "operationType": operation, "partitionToReplaceFileIds": replaced}
	if m.version == 6 {
		v["compacted"], v["extraMetadata"] = false, map[string]string{}
		data, err := json.Marshal(v)
		if err != nil {
			m.t.Fatal(err)
		}
		return data
	}
	return m.avro(replaceSchema, v)
}

func (m *model) avro(schema string, v any) []byte {
	s, err := avro.Parse(schema)
	if err != nil {
		m.t.Fatal(err)
	}
	var out bytes.Buffer
	w, err := ocf.NewWriter(&out, s)
	if err == nil {
		err = w.Encode(v)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		m.t.Fatal(err)
	}
	return out.Bytes()
}

// step does one thing that a writer does.
func (m *model) step() {
	at := m.tick()
	weights := []struct {
		n  int
		do func(string) string
	}{{8, m.write}, {2, m.insert}, {2, m.compact}, {1, m.cluster}, {1, m.overwrite}, {1, m.dropPartition}, {1, m.savepoint}, {1, m.fail}, {1, m.rollback}, {2, m.archive}, {1, m.clean}, {1, m.pendCompaction}, {1, m.pendClustering}, {1, m.pendLogCompaction}}
	total := 0
	for _, w := range weights {
		total += w.n
	}
	pick := m.rng.IntN(total)
	for _, w := range weights {
		if pick -= w.n; pick < 0 {
			if what := w.do(at); what != "" {
				m.trace = append(m.trace, at+" "+what)
			}
			return
		}
	}
}

func (m *model) done(at string, a timeline.Action, plan, data []byte, s stats) {
	m.list(at, s)
	c := m.complete(at, a, plan, data)
	m.writes = append(m.writes, modelWrite{at, string(a.Comparable()), c})
}

func (m *model) writeAction() timeline.Action {
	if m.mor {
		return timeline.DeltaCommit
	}
	return timeline.Commit
}

func (m *model) write(at string) string {
	s := stats{}
	for _, g := range m.active(nil) {
		if len(s) > 2 {
			break
		}
		if g.busy && !m.mor {
			continue
		}
		prev := g.slices[len(g.slices)-1].instant
		if m.mor {
			s.add(g, m.log(g, at), prev)
		} else {
			s.add(g, m.base(g, at).base, prev)
		}
	}
	if len(s) == 0 {
		return m.insert(at)
	}
	m.done(at, m.writeAction(), nil, m.commitData(s, "UPSERT"), s)
	return "write"
}

func (m *model) insert(at string) string {
	s := stats{}
	for range 1 + m.rng.IntN(3) {
		g := m.newGroup(m.partitions()[m.rng.IntN(len(m.partitions()))])
		if m.mor && m.rng.IntN(3) == 0 {
			s.add(g, m.log(g, at), "null")
		} else {
			s.add(g, m.base(g, at).base, "null")
		}
	}
	m.done(at, m.writeAction(), nil, m.commitData(s, "INSERT"), s)
	return "insert"
}

const compactionSchema = `{"type":"record","name":"HoodieCompactionPlan","namespace":"org.apache.hudi.avro.model","fields":[{"name":"operations","type":["null",{"type":"array","items":
{"type":"record","name":"HoodieCompactionOperation","fields":[{"name":"baseInstantTime","type":["null","string"]},{"name":"deltaFilePaths","type":["null",{"type":"array","items":"string"}],"default":null},
{"name":"dataFilePath","type":["null","string"],"default":null},{"name":"fileId","type":["null","string"]},{"name":"partitionPath","type":["null","string"],"default":null}]}}],"default":null},
{"name":"version","type":["int","null"],"default":1}]}`

func (m *model) compactionPlan(groups []*modelGroup) []byte {
	var ops []any
	for _, g := range groups {
		s := g.slices[len(g.slices)-1]
		op := map[string]any{"baseInstantTime": s.instant, "deltaFilePaths": slices.Clone(s.logs), "fileId": g.id, "partitionPath": g.partition, "dataFilePath": nil}
		if s.base != "" {
			op["dataFilePath"] = s.base
		}
		ops = append(ops, op)
	}
	return m.avro(compactionSchema, map[string]any{"operations": ops, "version": int32(2)})
}

func (m *model) compactable() []*modelGroup {
	list := m.active(func(g *modelGroup) bool { return !g.busy && len(g.slices[len(g.slices)-1].logs) > 0 })
	return list[:min(len(list), 3)]
}

func (m *model) compact(at string) string {
	list := m.compactable()
	if !m.mor || len(list) == 0 {
		return ""
	}
	plan, s := m.compactionPlan(list), stats{}
	for _, g := range list {
		prev := g.slices[len(g.slices)-1].instant
		s.add(g, m.base(g, at).base, prev)
	}
	m.done(at, timeline.Compaction, plan, m.commitData(s, "COMPACT"), s)
	return "compaction"
}

func (m *model) pendCompaction(at string) string {
	list := m.compactable()
	if !m.mor || len(list) == 0 {
		return ""
	}
	m.instant(at, timeline.Compaction, timeline.Requested, "", m.compactionPlan(list))
	m.pending = append(m.pending, at)
	if m.rng.IntN(2) == 0 {
		m.instant(at, timeline.Compaction, timeline.Inflight, "", nil)
	}
	for _, g := range list {
		g.busy = true
		g.slices = append(g.slices, &modelSlice{instant: at})
	}
	return "pending compaction"
}

func (m *model) pendLogCompaction(at string) string {
	list := m.compactable()
	if !m.mor || len(list) == 0 || m.version == 6 {
		return ""
	}
	m.instant(at, timeline.LogCompaction, timeline.Requested, "", m.compactionPlan(list))
	m.pending = append(m.pending, at)
	for _, g := range list {
		g.busy = true
	}
	return "pending log compaction"
}

const requestedReplace = `{"type":"record","name":"HoodieRequestedReplaceMetadata","namespace":"org.apache.hudi.avro.model","fields":[{"name":"operationType","type":["null","string"],"default":null},
{"name":"clusteringPlan","type":["null",{"type":"record","name":"HoodieClusteringPlan","fields":[{"name":"inputGroups","type":["null",{"type":"array","items":{"type":"record","name":"HoodieClusteringGroup","fields":[
{"name":"slices","type":["null",{"type":"array","items":{"type":"record","name":"HoodieSliceInfo","fields":[{"name":"dataFilePath","type":["null","string"],"default":null},{"name":"deltaFilePaths","type":["null",{"type":"array","items":"string"}],"default":null},
{"name":"fileId","type":["null","string"]},{"name":"partitionPath","type":["null","string"],"default":null},{"name":"version","type":["int","null"],"default":1}]}}],"default":null}]}}],"default":null}]}],"default":null},
{"name":"version","type":["int","null"],"default":1}]}`

func (m *model) clusteringPlan(groups []*modelGroup) []byte {
	var in []any
	for _, g := range groups {
		s := g.slices[len(g.slices)-1]
		in = append(in, map[string]any{"dataFilePath": join(g.partition, s.base), "deltaFilePaths": s.logs, "fileId": g.id, "partitionPath": g.partition, "version": int32(1)})
	}
	return m.avro(requestedReplace, map[string]any{"operationType": "CLUSTER", "version": int32(1), "clusteringPlan": map[string]any{"inputGroups": []any{map[string]any{"slices": in}}}})
}

func (m *model) clusteringAction() timeline.Action {
	if m.version == 6 {
		return timeline.ReplaceCommit
	}
	return timeline.Clustering
}

func (m *model) idle() []*modelGroup {
	return m.active(func(g *modelGroup) bool { return !g.busy && g.slices[len(g.slices)-1].base != "" })
}

func (m *model) cluster(at string) string {
	list := m.idle()
	if len(list) < 2 {
		return ""
	}
	return m.replace(at, list[:2], list[0].partition, m.clusteringAction(), m.clusteringPlan(list[:2]), "CLUSTER")
}

func (m *model) pendClustering(at string) string {
	list := m.idle()
	if len(list) == 0 {
		return ""
	}
	m.instant(at, m.clusteringAction(), timeline.Requested, "", m.clusteringPlan(list[:1]))
	m.pending = append(m.pending, at)
	list[0].busy = true
	return "pending clustering"
}

func (m *model) overwrite(at string) string {
	list := m.active(nil)
	if len(list) == 0 {
		return ""
	}
	p := list[0].partition
	list = m.active(func(g *modelGroup) bool { return g.partition == p })
	return m.replace(at, list, p, timeline.ReplaceCommit, nil, "INSERT_OVERWRITE")
}

func (m *model) dropPartition(at string) string {
	list := m.active(nil)
	if len(list) == 0 {
		return ""
	}
	p := list[0].partition
	list = m.active(func(g *modelGroup) bool { return g.partition == p })
	return m.replace(at, list, "none", timeline.ReplaceCommit, nil, "DELETE_PARTITION")
}

// replace replaces groups, by a new one in the partition unless that is "none".
func (m *model) replace(at string, list []*modelGroup, partition string, a timeline.Action, plan []byte, operation string) string {
	s, replaced := stats{}, map[string][]string{}
	for _, g := range list {
		g.replaced = at
		replaced[g.partition] = append(replaced[g.partition], g.id)
	}
	if partition != "none" {
		g := m.newGroup(partition)
		s.add(g, m.base(g, at).base, "null")
	}
	if plan == nil {
		plan = m.avro(requestedReplace, map[string]any{"operationType": operation, "clusteringPlan": nil, "version": int32(1)})
	}
	m.done(at, a, plan, m.replaceData(s, replaced, operation), s)
	return operation
}

const savepointSchema = `{"type":"record","name":"HoodieSavepointMetadata","namespace":"org.apache.hudi.avro.model","fields":[{"name":"savepointedBy","type":"string"},{"name":"savepointedAt","type":"long"},{"name":"comments","type":"string"},
{"name":"partitionMetadata","type":{"type":"map","values":{"type":"record","name":"HoodieSavepointPartitionMetadata","fields":[{"name":"partitionPath","type":"string"},{"name":"savepointDataFile","type":{"type":"array","items":"string"}}]}}},
{"name":"version","type":["int","null"],"default":1}]}`

func (m *model) savepoint(string) string {
	if len(m.writes) == 0 {
		return ""
	}
	at := m.writes[m.rng.IntN(len(m.writes))].time
	if slices.Contains(m.saved, at) {
		return ""
	}
	files := map[string]any{}
	byPartition := map[string][]string{}
	for _, g := range m.groups {
		for i := len(g.slices) - 1; i >= 0; i-- {
			s := g.slices[i]
			if s.instant > at || g.replaced != "" && g.replaced <= at {
				continue
			}
			if s.base != "" {
				byPartition[g.partition] = append(byPartition[g.partition], s.base)
			}
			byPartition[g.partition] = append(byPartition[g.partition], s.logs...)
			break
		}
	}
	for p, names := range byPartition {
		files[p] = map[string]any{"partitionPath": p, "savepointDataFile": names}
	}
	data := m.avro(savepointSchema, map[string]any{"savepointedBy": "", "savepointedAt": int64(1), "comments": "", "partitionMetadata": files, "version": int32(1)})
	m.instant(at, timeline.Savepoint, timeline.Inflight, "", nil)
	m.instant(at, timeline.Savepoint, timeline.Completed, timeline.FormatTime(m.now, time.UTC), data)
	m.saved = append(m.saved, at)
	return "savepoint of " + at
}

// fail leaves a write in flight with its files.
func (m *model) fail(at string) string {
	a := m.writeAction()
	m.instant(at, a, timeline.Requested, "", nil)
	m.instant(at, a, timeline.Inflight, "", nil)
	failure := modelFailure{time: at}
	defer func() { m.failed = append(m.failed, failure) }()
	if active := m.active(nil); len(active) > 0 {
		g := active[0]
		name := fmt.Sprintf("%s_%s_%s.parquet", g.id, m.token(), at)
		if m.mor && m.version > 6 {
			name = fmt.Sprintf(".%s_%s.log.1_%s", g.id, at, m.token())
		}
		failure.file = join(g.partition, name)
		m.file(failure.file, m.content)
	}
	return "write in flight"
}

const rollbackSchema = `{"type":"record","name":"HoodieRollbackMetadata","namespace":"org.apache.hudi.avro.model","fields":[{"name":"startRollbackTime","type":"string"},{"name":"timeTakenInMillis","type":"long"},{"name":"totalFilesDeleted","type":"int"},
{"name":"commitsRollback","type":{"type":"array","items":"string"}},{"name":"partitionMetadata","type":{"type":"map","values":{"type":"record","name":"HoodieRollbackPartitionMetadata","fields":[{"name":"partitionPath","type":"string"},
{"name":"successDeleteFiles","type":{"type":"array","items":"string"}},{"name":"failedDeleteFiles","type":{"type":"array","items":"string"}}]}}},{"name":"version","type":["int","null"],"default":1}]}`

// rollback takes back a write in flight: its file and its instant go.
func (m *model) rollback(at string) string {
	if m.drop == nil || len(m.failed) == 0 {
		return ""
	}
	f := m.failed[0]
	m.failed = m.failed[1:]
	if f.file != "" {
		m.drop(f.file)
	}
	m.forget(f.time, m.writeAction(), "")
	m.complete(at, timeline.Rollback, nil, m.avro(rollbackSchema, map[string]any{"startRollbackTime": at, "timeTakenInMillis": int64(1), "totalFilesDeleted": int32(1),
		"commitsRollback": []string{f.time}, "partitionMetadata": map[string]any{}, "version": int32(1)}))
	return "rollback of " + f.time
}

// forget removes an instant from the timeline.
func (m *model) forget(at string, a timeline.Action, completion string) {
	dir := ".hoodie/timeline/"
	if m.version == 6 {
		dir = ".hoodie/"
	}
	for _, s := range []timeline.State{timeline.Requested, timeline.Inflight, timeline.Completed} {
		if s != timeline.Completed || completion != "" {
			m.drop(dir + timeline.Name(m.layout(), at, a, s, completion))
		}
	}
}

// archive takes the oldest write from the timeline, as Hudi's archiver may: not
// a savepointed one, none of a table service, nothing beyond a pending instant.
func (m *model) archive(string) string {
	if m.drop == nil || len(m.writes) < 4 {
		return ""
	}
	w := m.writes[0]
	if w.action != string(m.writeAction()) || slices.Contains(m.saved, w.time) || len(m.failed) > 0 && m.failed[0].time < w.time || len(m.pending) > 0 && m.pending[0] < w.time {
		return ""
	}
	m.forget(w.time, m.writeAction(), w.completion)
	m.writes = m.writes[1:]
	return "archive " + w.time
}

// clean records a clean that deleted nothing: it makes the next incremental.
func (m *model) clean(at string) string {
	if len(m.writes) == 0 {
		return ""
	}
	meta := timeline.CleanMetadata{StartTime: at, LastCompleted: m.writes[m.rng.IntN(len(m.writes))].time}
	plan := timeline.CleanPlan{LastCompleted: meta.LastCompleted, Policy: string(retain.LatestCommits)}
	if m.rng.IntN(4) > 0 {
		w := m.writes[m.rng.IntN(len(m.writes))]
		meta.Earliest = w.time
		plan.Earliest = &timeline.ActionInstant{Timestamp: w.time, Action: w.action, State: "COMPLETED"}
	}
	if len(m.saved) > 0 && m.parted {
		meta.Extra = map[string]string{"savepointed_timestamps": m.saved[0]}
		if m.rng.IntN(3) == 0 {
			meta.Extra["savepointed_timestamps"] += ",20200101000000000" // one that was deleted since
		}
	}
	planData, err := plan.Encode()
	if err != nil {
		m.t.Fatal(err)
	}
	data, err := meta.Encode()
	if err != nil {
		m.t.Fatal(err)
	}
	m.complete(at, timeline.Clean, planData, data)
	return "clean to " + meta.Earliest
}
