package sweep

import (
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/twmb/avro"

	"github.com/lakesweep/lakesweep/table/hudi/blobtest"
	"github.com/lakesweep/lakesweep/table/hudi/datafile"
	"github.com/lakesweep/lakesweep/table/hudi/hfile"
	"github.com/lakesweep/lakesweep/table/hudi/logblock"
	"github.com/lakesweep/lakesweep/table/hudi/mdttest"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// listedModel is a blobModel, without blobs, whose table has a metadata table
// that each action keeps in step as Hudi does, and an archived timeline. Its
// writers take the table's lock where Hudi's do.
type listedModel struct {
	*blobModel
	version  int
	listing  *mdttest.Table
	done     map[string]doneWrite // completed writes that no restore took back, archived ones too
	torn     map[string]bool      // writes whose writer died with a delta commit in the metadata table
	rolling  map[string]string    // write → the rollback that is requested of it
	archived []doneWrite
	seen     map[string]bool // cleans that the listing has
	given    map[string]bool // files that pending cleans named which were given up, and logs without a slice
	back     string          // when complete writes were last taken back: older versions may be gone since they were one more
}

// doneWrite is a completed write as a reader knows it.
type doneWrite struct {
	at, completion string
	replaced       []string // groups
	files          []string
}

func newListedModel(w *blobWorld, version int, mor bool) *listedModel {
	layout := timeline.Layout2
	if version == 6 {
		layout = timeline.Layout1
	}
	m := &listedModel{blobModel: newBlobModel(w, layout, mor), version: version, done: map[string]doneWrite{}, torn: map[string]bool{}, rolling: map[string]string{}, seen: map[string]bool{}, given: map[string]bool{}}
	properties := strings.NewReplacer("version=9\n", fmt.Sprintf("version=%d\n", version)).Replace(m.read("table/.hoodie/hoodie.properties"))
	w.put("table/.hoodie/hoodie.properties", properties+"hoodie.table.metadata.partitions=files\n")
	m.completing = func(done *modelWrite) {
		m.fold()
		m.must(m.listing.Write(done.at, m.time(), mdttest.Change{Added: m.sizes(m.by[done.at])}))
	}
	m.rebuild()
	return m
}

func (m *listedModel) must(err error) {
	m.w.t.Helper()
	if err != nil {
		m.w.t.Fatal(err)
	}
}

func (m *listedModel) read(name string) string {
	m.w.t.Helper()
	data, err := os.ReadFile(m.w.path(name))
	m.must(err)
	return string(data)
}

// Remove and List are the metadata table's disk.
func (m *listedModel) Remove(name string) error { return os.Remove(m.w.path("table/" + name)) }

func (m *listedModel) List(dir string) (names []string, err error) {
	entries, err := os.ReadDir(m.w.path("table/" + dir))
	for _, e := range entries {
		if !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// rebuild makes the metadata table anew of the folders.
func (m *listedModel) rebuild() {
	m.must(os.RemoveAll(m.w.path("table/.hoodie/metadata")))
	m.listing = &mdttest.Table{Name: "small", Version: m.version, Known: slices.Max(append(slices.Collect(maps.Keys(m.done)), "")), Codec: hfile.None, Disk: m, Put: func(name string, data []byte) error { m.w.put("table/"+name, string(data)); return nil }}
	all := m.onDisk()
	for _, w := range m.pending() {
		for _, f := range m.by[w.at] {
			delete(all[partitionIn(f)], path.Base(f))
		}
	}
	m.must(m.listing.Make(all, m.time()))
	clear(m.torn)
	clear(m.seen)
	for _, name := range m.cleans(true) {
		m.seen[name[:17]] = true
	}
}

// pending is what is in flight, services included.
func (m *listedModel) pending() []*modelWrite { return slices.Concat(m.open, m.services) }

// onDisk lists the folders of the partitions.
func (m *listedModel) onDisk() mdttest.Files {
	out := mdttest.Files{}
	for _, partition := range []string{m.w.shape.first, m.w.shape.second} {
		for _, name := range slices.Concat(m.w.files("table/"+path.Join(partition, "*")), m.w.files("table/"+path.Join(partition, ".*"))) {
			info, err := os.Stat(m.w.path("table/" + path.Join(partition, name)))
			m.must(err)
			if _, ok := datafile.Parse(name); ok {
				out.Add(partition, name, info.Size())
			} else if out[partition] == nil && name == ".hoodie_partition_metadata" {
				out[partition] = map[string]int64{}
			}
		}
	}
	return out
}

func (m *listedModel) sizes(files []string) mdttest.Files {
	out := mdttest.Files{}
	for _, f := range files {
		info, err := os.Stat(m.w.path("table/" + f))
		m.must(err)
		out.Add(partitionIn(f), path.Base(f), info.Size())
	}
	return out
}

// finished notes a write that blobModel completed.
func (m *listedModel) finished(w *modelWrite) {
	d := doneWrite{at: w.at, completion: w.at, replaced: slices.Clone(w.replaced), files: slices.Clone(m.by[w.at])}
	if m.layout == timeline.Layout2 {
		name := m.w.files(m.dir() + w.at + "_*." + string(w.action.Comparable()))[0]
		d.completion = name[18:35]
	}
	m.done[w.at] = d
}

func (m *listedModel) complete(w *modelWrite) {
	m.blobModel.complete(w, false)
	m.finished(w)
}

func (m *listedModel) perform(s *modelWrite) {
	m.blobModel.perform(s)
	m.finished(s)
}

// dies leaves a write whose writer died in the metadata table's commit.
func (m *listedModel) dies(w *modelWrite, s timeline.State) {
	m.fold()
	m.must(m.listing.Abandon(w.at, m.time(), mdttest.Change{Added: m.sizes(m.by[w.at])}, s))
	m.torn[w.at] = true
}

// fold performs the metadata table's planned compaction, which Hudi does before
// it writes to it.
func (m *listedModel) fold() {
	m.learn()
	if m.listing.Pending() {
		m.must(m.listing.Perform(m.time()))
	}
}

// compactListing plans a compaction of the metadata table, which may be carried
// out at once. Hudi plans none while an action of the data table is pending
// whose commit may be in it already.
func (m *listedModel) compactListing(now bool) {
	m.learn()
	if len(m.torn) > 0 || m.listing.Pending() || m.listing.Fresh() || m.pendingClean() != "" || m.layout == timeline.Layout1 && len(m.pending()) > 0 {
		return
	}
	m.must(m.listing.Schedule(m.time(), blobtest.CompactionPlan(m.w.tb, m.listing.Slice())))
	if now {
		m.fold()
	}
}

// learn notes the delta commits of cleans that somebody else completed.
func (m *listedModel) learn() {
	for _, name := range m.cleans(true) {
		at := name[:17]
		if m.seen[at] {
			continue
		}
		m.seen[at] = true
		clean := m.clean(name)
		if len(clean.Partitions) == 0 {
			continue
		}
		gone, dead := mdttest.Files{}, []string(nil)
		for p, c := range clean.Partitions {
			for _, file := range c.DeletePatterns {
				gone.Add(p, file, 0)
			}
			if c.PartitionDeleted != nil && *c.PartitionDeleted {
				dead = append(dead, p)
			}
		}
		m.listing.Cleaned(at, gone, dead)
	}
}

// request requests the rollback of a write.
func (m *listedModel) request(w *modelWrite) {
	m.rolling[w.at] = m.time()
	m.instant(m.rolling[w.at], timeline.Rollback, timeline.Requested, blobtest.RollbackPlan(m.w.tb, w.at, w.action))
}

// rollback takes back what is in flight. In version 6 a log stays, with another
// that says that it doesn't count.
func (m *listedModel) rollback(w *modelWrite) {
	if m.rolling[w.at] == "" {
		m.request(w)
	}
	at := m.rolling[w.at]
	delete(m.rolling, w.at)
	m.instant(at, timeline.Rollback, timeline.Inflight, nil)
	change := mdttest.Change{Added: mdttest.Files{}, Gone: mdttest.Files{}}
	var stays []string
	for _, p := range w.parts {
		if p.file == "" {
			continue
		}
		if !p.log || m.layout == timeline.Layout2 {
			for _, f := range []string{p.file, p.cdc} {
				if f != "" {
					change.Gone.Add(partitionIn(f), path.Base(f), 0)
				}
			}
			continue
		}
		g := m.groups[p.group]
		g.logs++
		block := path.Join(m.w.partitionOf(p.group), fmt.Sprintf(".%s-0_%s.log.%d_0-1-2", p.group, g.base, g.logs))
		m.w.put("table/"+block, string(logblock.Append(nil, logblock.Command, map[logblock.Header]string{logblock.InstantTime: at, logblock.TargetInstantTime: w.at, logblock.CommandType: "0"}, nil)))
		g.files = append(slices.Clone(g.files), p.file, block)
		m.groups[p.group] = g
		m.by[at] = append(m.by[at], p.file, block)
		stays = append(stays, p.file)
	}
	m.by[w.at] = slices.DeleteFunc(m.by[w.at], func(f string) bool { return slices.Contains(stays, f) })
	m.undo(w)
	if m.by[at] != nil {
		change.Added = m.sizes(m.by[at])
	}
	m.unwrite(w.at, at, change, timeline.Rollback, blobtest.Rollback(m.w.tb, w.at))
}

// unwrite completes a rollback: it takes back the metadata table's commit, if
// there is one, and commits there what came of it.
func (m *listedModel) unwrite(target, at string, change mdttest.Change, a timeline.Action, data []byte) {
	m.fold()
	m.takeBack(target)
	m.must(m.listing.Write(at, m.time(), change))
	m.instant(at, a, timeline.Completed, data)
}

func (m *listedModel) takeBack(target string) {
	delete(m.torn, target)
	has, err := m.listing.Has(target)
	m.must(err)
	if has {
		m.must(m.listing.Rollback(target, m.time(), m.time()))
	}
}

// newest is the newest complete write, if it can be rolled back: the snapshot
// before it is known and stands, nothing is pending, and the metadata table has
// it in its log.
func (m *listedModel) newest() (w, before *modelWrite) {
	m.learn()
	if n := len(m.written); n > 1 && len(m.pending()) == 0 && m.pendingClean() == "" {
		slices.SortFunc(m.written, func(a, b modelWrite) int { return strings.Compare(a.at, b.at) })
		w, before = &m.written[n-1], &m.written[n-2]
	}
	if w == nil || before.state == nil || m.saved[w.at] != nil {
		return nil, nil
	}
	later, ok := m.listing.After(before.at)
	if !ok || len(later) != 1 || slices.ContainsFunc(snapshot(before.state), func(f string) bool { return !m.has(f) }) {
		return nil, nil
	}
	return w, before
}

// rollbackNewest takes back the newest complete write; requested: a run before
// requested it.
func (m *listedModel) rollbackNewest(w, before *modelWrite) {
	at := m.rolling[w.at]
	delete(m.rolling, w.at)
	m.instant(at, timeline.Rollback, timeline.Inflight, nil)
	change := mdttest.Change{Gone: mdttest.Files{}}
	for _, f := range m.by[w.at] {
		change.Gone.Add(partitionIn(f), path.Base(f), 0)
	}
	m.take(m.by[w.at]...)
	m.forget(w.at)
	m.groups = maps.Clone(before.state)
	target := w.at
	m.back = at
	m.written = slices.DeleteFunc(m.written, func(o modelWrite) bool { return o.at == target })
	delete(m.done, target)
	m.unwrite(target, at, change, timeline.Rollback, blobtest.Rollback(m.w.tb, target))
}

// restore restores a savepoint. The metadata table is taken back as well where
// it can be, else made anew.
func (m *listedModel) restore(to string) {
	m.fold()
	back := []string{}
	for _, at := range slices.Sorted(maps.Keys(m.done)) {
		if at > to {
			back = append(back, at)
			delete(m.done, at)
		}
	}
	for _, w := range m.pending() {
		back = append(back, w.at)
	}
	for _, at := range slices.Sorted(maps.Values(m.rolling)) {
		m.forget(at, string(timeline.Rollback))
	}
	clear(m.rolling)
	m.blobModel.restore(to)
	m.countLogs()
	m.strand()
	names := m.w.files(m.dir() + "2*.restore")
	name := names[len(names)-1]
	m.back = name[:17]
	m.w.put(m.dir()+name, string(blobtest.Restore(m.w.tb, back...)))
	later, ok := m.listing.After(to)
	if !ok {
		m.rebuild()
		return
	}
	for at := range m.torn {
		later = append(later, at)
	}
	slices.Sort(later)
	for _, at := range slices.Backward(later) {
		m.takeBack(at)
	}
	m.must(m.listing.Write(name[:17], m.time(), mdttest.Difference(m.listing.Listing(), m.onDisk())))
}

// strand notes the logs of failed writes whose base files a restore took away:
// in version 6 they stay, of no slice any more.
func (m *listedModel) strand() {
	if m.layout != timeline.Layout1 {
		return
	}
	bases, logs := map[string]bool{}, map[string]string{}
	for p, names := range m.onDisk() {
		for name := range names {
			f, _ := datafile.Parse(name)
			if slice := p + "/" + f.FileID + "@" + f.Instant; f.Log {
				logs[path.Join(p, name)] = slice
			} else {
				bases[slice] = true
			}
		}
	}
	for log, slice := range logs {
		if !bases[slice] {
			m.given[log] = true
		}
	}
}

// countLogs counts the logs of each group by what lies in its folder: in version
// 6 a failed write's stay.
func (m *listedModel) countLogs() {
	for name, g := range m.groups {
		for _, file := range m.w.files("table/" + path.Join(m.w.partitionOf(name), "."+name+"-0_*")) {
			if f, ok := datafile.Parse(file); ok && f.Instant == g.base {
				g.logs = max(g.logs, f.Version)
			}
		}
		m.groups[name] = g
	}
}

// drop begins to replace all groups of a partition by nothing.
func (m *listedModel) drop(partition string) *modelWrite {
	w := m.overwrite(partition, nil)
	if w != nil {
		m.take(m.by[w.at]...)
		m.by[w.at], w.parts = nil, nil
	}
	return w
}

// bound is the instant before which the archiver takes replace commits for
// cleaned: by the plan of the newest complete clean.
func (m *listedModel) bound() string {
	list := m.cleans(true)
	if len(list) == 0 {
		return ""
	}
	at := list[len(list)-1][:17]
	plan := m.plan(at)
	if plan.Earliest != nil {
		at = plan.Earliest.Timestamp
	}
	for saved := range strings.SplitSeq(plan.Extra["savepointed_timestamps"], ",") {
		if saved != "" {
			at = min(at, saved)
		}
	}
	return at
}

// archive moves up to n of the oldest writes to the archived timeline, by the
// rules of Hudi's archiver: keep are left, none that is newer than what is
// pending, a savepoint, or the metadata table's last compaction.
func (m *listedModel) archive(n, keep int) {
	m.learn()
	until := m.listing.Compacted()
	for _, w := range m.pending() {
		until = min(until, w.at)
	}
	for at := range m.rolling {
		until = min(until, at)
	}
	for at := range m.saved {
		until = min(until, at)
	}
	slices.SortFunc(m.written, func(a, b modelWrite) int { return strings.Compare(a.at, b.at) })
	for ; n > 0 && len(m.written) > keep && m.written[0].at < until; n-- {
		w := m.written[0]
		if len(w.replaced) > 0 && w.at >= m.bound() {
			break
		}
		m.archived = append(m.archived, m.done[w.at])
		m.writeArchive()
		m.forget(w.at)
		m.written = m.written[1:]
	}
	for _, name := range m.w.files(m.dir() + "2*.clean*") {
		if list := m.cleans(true); len(m.written) > 0 && name[:17] < m.written[0].at && name[:17] < list[len(list)-1][:17] {
			m.w.remove(m.dir() + name)
		}
	}
}

// writeArchive writes the latest archived instant.
func (m *listedModel) writeArchive() {
	w, n := m.archived[len(m.archived)-1], len(m.archived)
	if m.layout == timeline.Layout1 {
		m.w.put(fmt.Sprintf("table/.hoodie/archived/.commits_.archive.%d_1-0-1", n), string(archiveBlock(m.w.tb, w.at)))
		return
	}
	type row struct {
		Time       string `parquet:"instantTime"`
		Completion string `parquet:"completionTime,optional"`
	}
	var data strings.Builder
	m.must(parquet.Write(&data, []row{{w.at, w.completion}}))
	var files []string
	for _, w := range m.archived {
		files = append(files, fmt.Sprintf(`{"fileName":"%s_%s_0.parquet","fileLen":1}`, w.at, w.at))
	}
	dir := "table/.hoodie/timeline/history/"
	m.w.put(fmt.Sprintf("%s%s_%s_0.parquet", dir, w.at, w.at), data.String())
	m.w.put(fmt.Sprintf("%smanifest_%d", dir, n), `{"files":[`+strings.Join(files, ",")+`]}`)
	m.w.put(dir+"_version_", fmt.Sprint(n))
}

// archiveBlock is an entry of the archived timeline of layout 1.
func archiveBlock(t testing.TB, at string) []byte {
	t.Helper()
	type entry struct {
		Time   string `avro:"commitTime"`
		Action string `avro:"actionType"`
		State  string `avro:"actionState"`
	}
	const schema = `{"type":"record","name":"HoodieArchivedMetaEntry","fields":[{"name":"commitTime","type":"string"},{"name":"actionType","type":"string"},{"name":"actionState","type":"string"}]}`
	s, err := avro.Parse(schema)
	if err != nil {
		t.Fatal(err)
	}
	body, err := s.Encode(&entry{at, "commit", "COMPLETED"})
	if err != nil {
		t.Fatal(err)
	}
	out := binary.BigEndian.AppendUint32(nil, 3)
	out = binary.BigEndian.AppendUint32(out, 1)
	out = append(binary.BigEndian.AppendUint32(out, uint32(len(body))), body...)
	return logblock.Append(nil, logblock.AvroData, map[logblock.Header]string{logblock.InstantTime: at, logblock.Schema: schema}, out)
}

// finish finishes a pending clean as Hudi does: what a run before committed to
// the metadata table is taken back and committed again.
func (m *listedModel) finish(at string) {
	m.fold()
	m.takeBack(at)
	plan := m.plan(at)
	m.deletePlanned(at)
	change := mdttest.Change{Gone: mdttest.Files{}}
	for p, files := range plan.Files {
		for _, f := range files {
			change.Gone.Add(p, path.Base(*f.Path), 0)
		}
	}
	m.must(m.listing.Write(at, m.time(), change))
	m.seen[at] = true
	m.blobModel.finish(at)
}

// deletePlanned deletes what a pending clean names, for which Hudi takes no lock.
func (m *listedModel) deletePlanned(at string) {
	for p, files := range m.plan(at).Files {
		for _, f := range files {
			if key := path.Join(p, path.Base(*f.Path)); m.has(key) {
				m.w.remove("table/" + key)
			}
		}
	}
}

// locked reports whether a run of ours holds the table's lock.
func (m *listedModel) locked() bool { return len(m.w.files("table/.hoodie/lock")) > 0 }

// giveUp takes a pending clean off the timeline, as Hudi's CLI does.
func (m *listedModel) giveUp(at string) {
	m.takeBack(at)
	for p, files := range m.plan(at).Files {
		for _, f := range files {
			m.given[path.Join(p, path.Base(*f.Path))] = true
		}
	}
	m.forget(at, "clean")
}

// plan reads a clean's plan.
func (m *listedModel) plan(at string) timeline.CleanPlan {
	m.w.t.Helper()
	plan, err := timeline.DecodeCleanPlan([]byte(m.read(m.dir() + timeline.Name(m.layout, at, timeline.Clean, timeline.Requested, ""))))
	m.must(err)
	return plan
}

// clean reads what a complete clean says.
func (m *listedModel) clean(file string) timeline.CleanMetadata {
	m.w.t.Helper()
	clean, err := timeline.DecodeCleanMetadata([]byte(m.read(m.dir() + file)))
	m.must(err)
	return clean
}
