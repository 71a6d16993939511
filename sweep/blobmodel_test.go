package sweep

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/lakesweep/lakesweep/table/hudi/blobtest"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// blobModel is a Hudi writer of a blobWorld's table with all its services, of
// version 6 or 9, that keeps Hudi's own rules: one writer of a group at a time,
// no write to a group that is being clustered, savepoints of what is still
// there, archival of what is cleaned.
type blobModel struct {
	w        *blobWorld
	layout   timeline.Layout
	mor      bool
	groups   map[string]modelGroup // by name, such as "1a", which lies in p=1
	made     int                   // groups so far
	written  []modelWrite          // completed ones that are on the timeline
	open     []*modelWrite         // in flight
	services []*modelWrite         // pending compactions, log compactions and clusterings
	saved    map[string][]string   // savepoint → its files
	by       map[string][]string   // instant → the files that it wrote
	managed  map[string][]string   // file → the blobs that it refers to as managed
	removed  map[string]bool       // files that the model took away
	// completing is called before a write or service is complete, if it isn't nil.
	completing func(*modelWrite)
}

// modelGroup is a file group as a snapshot reads it. Its slices are never
// changed in place.
type modelGroup struct {
	base       string   // instant of the newest slice
	files      []string // that a snapshot reads
	since      []string // of those, logs on top of a pending compaction
	logs       int      // of the newest slice
	refs       []blobtest.Ref
	last       string // instant of the latest write or service: an earlier write conflicts with it
	busy       bool   // a write in flight or a clustering has it
	compacting bool   // a compaction or log compaction is pending
	gone       bool   // replaced
}

// modelWrite is a write or service.
type modelWrite struct {
	at       string
	action   timeline.Action
	parts    []modelPart
	replaced []string // groups
	late     bool     // its files were written while a run was under way, and may refer to what this deletes
	looks    int      // at the timeline, that the run had taken before
	state    map[string]modelGroup
}

// modelPart is what a write does to one group.
type modelPart struct {
	group, file string
	refs        []blobtest.Ref
	log         bool
}

func newBlobModel(w *blobWorld, layout timeline.Layout, mor bool) *blobModel {
	m := &blobModel{w: w, layout: layout, mor: mor, groups: map[string]modelGroup{}, saved: map[string][]string{}, by: map[string][]string{}, managed: map[string][]string{}, removed: map[string]bool{}}
	typ, version := "COPY_ON_WRITE", "6"
	if mor {
		typ = "MERGE_ON_READ"
	}
	if layout == timeline.Layout2 {
		version = "9"
	}
	w.put("table/.hoodie/hoodie.properties", fmt.Sprintf("hoodie.table.name=small\nhoodie.table.type=%s\nhoodie.table.version=%s\nhoodie.timeline.layout.version=%d\nhoodie.table.timeline.timezone=UTC\nhoodie.table.partition.fields=p\n", typ, version, layout))
	return m
}

// time is a later instant.
func (m *blobModel) time() string {
	m.w.tick(10 * time.Minute)
	return timeline.FormatTime(m.w.now, time.UTC)
}

// dir is the timeline's folder.
func (m *blobModel) dir() string {
	if m.layout == timeline.Layout2 {
		return "table/.hoodie/timeline/"
	}
	return "table/.hoodie/"
}

// instant writes a file of the timeline.
func (m *blobModel) instant(at string, a timeline.Action, s timeline.State, data []byte) {
	completion := ""
	if s == timeline.Completed && m.layout == timeline.Layout2 {
		completion = m.time()
	}
	m.w.put(m.dir()+timeline.Name(m.layout, at, a, s, completion), string(data))
}

// forget removes an instant's files from the timeline.
func (m *blobModel) forget(at string, words ...string) {
	for _, name := range m.w.files(m.dir() + at + "*") {
		rest := name[len(at):]
		if rest[0] == '_' {
			rest = rest[strings.IndexByte(rest, '.'):]
		}
		word, _, _ := strings.Cut(rest[1:], ".")
		if len(words) == 0 && word != "savepoint" && word != "clean" || slices.Contains(words, word) {
			m.w.remove(m.dir() + name)
		}
	}
}

// take removes data files of the table.
func (m *blobModel) take(files ...string) {
	for _, f := range files {
		if m.has(f) {
			m.w.remove("table/" + f)
		}
		m.removed[f] = true
	}
}

func (m *blobModel) has(file string) bool {
	_, err := os.Stat(m.w.path("table/" + file))
	return err == nil
}

// group is a new group's name.
func (m *blobModel) group(partition string) string {
	m.made++
	return partition + "g" + fmt.Sprint(m.made)
}

// names returns groups that meet a condition, in order.
func (m *blobModel) names(meet func(modelGroup) bool) (out []string) {
	for _, n := range slices.Sorted(maps.Keys(m.groups)) {
		if g := m.groups[n]; !g.gone && meet(g) {
			out = append(out, n)
		}
	}
	return out
}

func idle(g modelGroup) bool { return !g.busy && !g.compacting }

// begin begins a write.
func (m *blobModel) begin(action timeline.Action) *modelWrite {
	w := &modelWrite{at: m.time(), action: action}
	m.instant(w.at, action, timeline.Requested, nil)
	m.instant(w.at, action, timeline.Inflight, nil)
	m.open = append(m.open, w)
	return w
}

func (m *blobModel) writeAction() timeline.Action {
	if m.mor {
		return timeline.DeltaCommit
	}
	return timeline.Commit
}

// write writes a group's records: a base file, or a log on top of one.
func (m *blobModel) write(w *modelWrite, group string, refs []blobtest.Ref) {
	g, old := m.groups[group]
	p := modelPart{group: group, refs: refs, log: old && m.mor && w.action == timeline.DeltaCommit}
	if p.log {
		g.logs++
		p.file = m.log(w.at, group, &g, refs)
	} else {
		p.file = m.base(w.at, group, refs)
	}
	if old {
		g.busy = true
		m.groups[group] = g
	}
	w.parts = append(w.parts, p)
}

func (m *blobModel) base(at, group string, refs []blobtest.Ref) string {
	return m.put(at, fmt.Sprintf("%s/%s-0_0-1-2_%s.parquet", partitionOf(group), group, at), blobtest.Base(m.w.tb, true, refs...), refs)
}

func (m *blobModel) log(at, group string, g *modelGroup, refs []blobtest.Ref) string {
	instant := g.base
	if m.layout == timeline.Layout2 {
		instant = at
	}
	return m.put(at, fmt.Sprintf("%s/.%s-0_%s.log.%d_0-1-2", partitionOf(group), group, instant, g.logs), blobtest.Log(m.w.tb, nil, at, refs...), refs)
}

func (m *blobModel) put(at, name string, data []byte, refs []blobtest.Ref) string {
	m.w.put("table/"+name, string(data))
	m.by[at] = append(m.by[at], name)
	delete(m.removed, name) // Hudi gives a log's name again after a restore
	m.w.refs[name], m.managed[name] = nil, nil
	for _, r := range refs {
		blob := path.Base(r.Path)
		m.w.refs[name] = append(m.w.refs[name], blob)
		if r.Managed {
			m.managed[name] = append(m.managed[name], blob)
		}
	}
	return name
}

// complete completes a write, if it need not ask or nothing speaks against it.
func (m *blobModel) complete(w *modelWrite, ask bool) {
	if ask {
		var files []string
		for _, p := range w.parts {
			files = append(files, p.file)
		}
		if len(m.w.ask(w.at, files...).Conflicts) > 0 {
			m.rollback(w)
			return
		}
	}
	if m.completing != nil {
		m.completing(w)
	}
	stats, replaced := map[string][]timeline.WriteStat{}, map[string][]string{}
	for _, p := range w.parts {
		g, old := m.groups[p.group]
		before := "null"
		if old {
			before = g.base
		}
		switch {
		case w.action == timeline.Compaction:
			g.files, g.since, g.compacting = append([]string{p.file}, g.since...), nil, false
		case w.action == timeline.LogCompaction:
			g.files, g.compacting = append(slices.Clone(g.files), p.file), false
		case p.log:
			g.files, g.refs, g.busy = append(slices.Clone(g.files), p.file), p.refs, false
			if g.base != "" && m.compaction(p.group) {
				g.since = append(slices.Clone(g.since), p.file)
			}
		default:
			g = modelGroup{base: w.at, last: g.last, files: []string{p.file}, refs: p.refs}
		}
		g.last = max(g.last, w.at)
		m.groups[p.group] = g
		partition := partitionOf(p.group)
		stats[partition] = append(stats[partition], timeline.WriteStat{FileID: p.group + "-0", Path: p.file, PrevCommit: before})
	}
	for _, name := range w.replaced {
		g := m.groups[name]
		g.gone, g.busy = true, false
		m.groups[name] = g
		replaced[partitionOf(name)] = append(replaced[partitionOf(name)], name+"-0")
	}
	operation := "UPSERT"
	if w.action.Comparable() == timeline.ReplaceCommit {
		operation = "INSERT_OVERWRITE"
	}
	data, err := json.Marshal(map[string]any{"partitionToWriteStats": statsJSON(stats), "operationType": operation, "partitionToReplaceFileIds": replaced, "extraMetadata": map[string]string{"schema": m.w.schema}})
	if err != nil {
		m.w.t.Fatal(err)
	}
	m.instant(w.at, w.action, timeline.Completed, data)
	m.end(w)
	newest := !slices.ContainsFunc(m.written, func(o modelWrite) bool { return o.at > w.at })
	if newest && len(m.open)+len(m.services) == 0 {
		w.state = maps.Clone(m.groups)
	}
	m.written = append(m.written, *w)
}

func statsJSON(stats map[string][]timeline.WriteStat) map[string][]map[string]any {
	out := map[string][]map[string]any{}
	for p, list := range stats {
		for _, s := range list {
			out[p] = append(out[p], map[string]any{"fileId": s.FileID, "path": s.Path, "prevCommit": s.PrevCommit})
		}
	}
	return out
}

// compaction reports whether a compaction of a group is pending.
func (m *blobModel) compaction(group string) bool {
	return slices.ContainsFunc(m.services, func(s *modelWrite) bool {
		return s.action == timeline.Compaction && slices.ContainsFunc(s.parts, func(p modelPart) bool { return p.group == group })
	})
}

// end takes a write or service off the lists of those that are pending.
func (m *blobModel) end(w *modelWrite) {
	same := func(o *modelWrite) bool { return o == w }
	m.open, m.services = slices.DeleteFunc(m.open, same), slices.DeleteFunc(m.services, same)
}

// rollback takes back what is in flight, with an instant of its own.
func (m *blobModel) rollback(w *modelWrite) {
	m.undo(w)
	at := m.time()
	for _, s := range []timeline.State{timeline.Requested, timeline.Inflight, timeline.Completed} {
		m.instant(at, timeline.Rollback, s, nil)
	}
}

func (m *blobModel) undo(w *modelWrite) {
	m.take(m.by[w.at]...)
	m.forget(w.at)
	for _, p := range w.parts {
		if g, ok := m.groups[p.group]; ok {
			g.busy = false
			m.groups[p.group] = g
		}
	}
	for _, name := range w.replaced {
		g := m.groups[name]
		g.busy = false
		m.groups[name] = g
	}
	m.end(w)
}

// slice is what a plan says of a group.
func (m *blobModel) slice(group string) timeline.Slice {
	s := timeline.Slice{Partition: partitionOf(group), FileID: group + "-0", BaseInstant: m.groups[group].base}
	for _, f := range m.groups[group].files {
		s.Files = append(s.Files, path.Base(f))
	}
	return s
}

// schedule schedules a compaction, log compaction or clustering of groups.
func (m *blobModel) schedule(action timeline.Action, groups ...string) {
	s := &modelWrite{at: m.time(), action: action}
	var in []timeline.Slice
	for _, name := range groups {
		in = append(in, m.slice(name))
		g := m.groups[name]
		g.last = s.at
		switch action {
		case timeline.Compaction:
			g.compacting, g.base, g.logs, g.since = true, s.at, 0, nil
			s.parts = append(s.parts, modelPart{group: name, refs: g.refs})
		case timeline.LogCompaction:
			g.compacting = true
			s.parts = append(s.parts, modelPart{group: name, refs: g.refs})
		default:
			g.busy = true
			s.replaced = append(s.replaced, name)
		}
		m.groups[name] = g
	}
	plan := blobtest.CompactionPlan
	if action.Comparable() == timeline.ReplaceCommit {
		plan = blobtest.ClusteringPlan
	}
	m.instant(s.at, action, timeline.Requested, plan(m.w.tb, in...))
	m.services = append(m.services, s)
}

func (m *blobModel) clusteringAction() timeline.Action {
	if m.layout == timeline.Layout1 {
		return timeline.ReplaceCommit
	}
	return timeline.Clustering
}

// perform carries out a service.
func (m *blobModel) perform(s *modelWrite) {
	m.instant(s.at, s.action, timeline.Inflight, nil)
	for i := range s.parts {
		p := &s.parts[i]
		if s.action == timeline.Compaction {
			p.file = m.base(s.at, p.group, p.refs)
			continue
		}
		g := m.groups[p.group]
		g.logs++
		p.file = m.log(s.at, p.group, &g, p.refs)
		m.groups[p.group] = g
	}
	if len(s.replaced) > 0 {
		var refs []blobtest.Ref
		for _, name := range s.replaced {
			refs = append(refs, m.groups[name].refs...)
		}
		into := m.group(s.replaced[0][:1])
		s.parts = []modelPart{{group: into, refs: refs, file: m.base(s.at, into, refs)}}
	}
	m.complete(s, false)
}

// overwrite begins to replace all groups of a partition by a new one, if
// nothing else works on them.
func (m *blobModel) overwrite(partition string, refs []blobtest.Ref) *modelWrite {
	old := m.names(func(modelGroup) bool { return true })
	old = slices.DeleteFunc(old, func(n string) bool { return n[:1] != partition })
	if slices.ContainsFunc(old, func(n string) bool { return !idle(m.groups[n]) }) {
		return nil
	}
	w := m.begin(timeline.ReplaceCommit)
	w.replaced = old
	m.write(w, m.group(partition), refs)
	return w
}

// savable are the writes that a savepoint can be made of.
func (m *blobModel) savable() (out []modelWrite) {
	if m.pendingClean() != "" {
		return nil
	}
	for _, w := range m.written {
		if w.state == nil || m.saved[w.at] != nil {
			continue
		}
		all := true
		for _, f := range snapshot(w.state) {
			all = all && m.has(f)
		}
		if all {
			out = append(out, w)
		}
	}
	return out
}

// snapshot is the files that a reader of a state opens.
func snapshot(groups map[string]modelGroup) (out []string) {
	for _, n := range slices.Sorted(maps.Keys(groups)) {
		if !groups[n].gone {
			out = append(out, groups[n].files...)
		}
	}
	return out
}

func (m *blobModel) savepoint(w modelWrite) {
	files := snapshot(w.state)
	m.instant(w.at, timeline.Savepoint, timeline.Inflight, nil)
	m.instant(w.at, timeline.Savepoint, timeline.Completed, blobtest.Savepoint(m.w.tb, files...))
	m.saved[w.at] = append([]string{}, files...)
}

func (m *blobModel) unsave(at string) {
	m.forget(at, "savepoint")
	delete(m.saved, at)
}

// restore takes back all writes after a savepoint.
func (m *blobModel) restore(to string) {
	for at := range maps.Clone(m.saved) {
		if at > to {
			m.unsave(at)
		}
	}
	for _, w := range slices.Concat(m.open, m.services) {
		m.undo(w)
	}
	var state map[string]modelGroup
	m.written = slices.DeleteFunc(m.written, func(w modelWrite) bool {
		if w.at == to {
			state = w.state
		}
		if w.at <= to {
			return false
		}
		m.take(m.by[w.at]...)
		m.forget(w.at)
		return true
	})
	m.groups = maps.Clone(state)
	at := m.time()
	for _, s := range []timeline.State{timeline.Requested, timeline.Inflight, timeline.Completed} {
		m.instant(at, timeline.Restore, s, nil)
	}
}

// archive removes up to n of the oldest writes from the timeline: those before
// the latest clean's earliest commit, savepoints and what is pending, whose
// replaced groups are gone. Cleans go with them.
func (m *blobModel) archive(n int) {
	clean, ok := m.newestClean()
	if !ok || clean.Earliest == "" {
		return
	}
	until := clean.Earliest
	for _, w := range slices.Concat(m.open, m.services) {
		until = min(until, w.at)
	}
	for at := range m.saved {
		until = min(until, at)
	}
	if at := m.pendingClean(); at != "" {
		until = min(until, at)
	}
	slices.SortFunc(m.written, func(a, b modelWrite) int { return strings.Compare(a.at, b.at) })
	for ; n > 0 && len(m.written) > 2 && m.written[0].at < until && !m.stands(m.written[0].replaced); n-- {
		m.forget(m.written[0].at)
		m.written = m.written[1:]
	}
	for _, name := range m.w.files(m.dir() + "2*.clean*") {
		if at := name[:len(clean.StartTime)]; at < clean.StartTime && at < m.written[0].at {
			m.w.remove(m.dir() + name)
		}
	}
}

// stands reports whether a file of one of some groups is there.
func (m *blobModel) stands(groups []string) bool {
	return slices.ContainsFunc(groups, func(name string) bool {
		return len(m.w.files("table/p=?/"+name+"-0_*"))+len(m.w.files("table/p=?/."+name+"-0_*")) > 0
	})
}

// cleans returns the instants of cleans that are complete, or not.
func (m *blobModel) cleans(complete bool) (out []string) {
	done := map[string]string{}
	all := map[string]bool{}
	for _, name := range m.w.files(m.dir() + "2*.clean*") {
		at, _, _ := strings.Cut(strings.ReplaceAll(name, "_", "."), ".")
		all[at] = true
		if strings.HasSuffix(name, ".clean") {
			done[at] = name
		}
	}
	for _, at := range slices.Sorted(maps.Keys(all)) {
		if name, ok := done[at]; ok == complete {
			if complete {
				at = name
			}
			out = append(out, at)
		}
	}
	return out
}

// pendingClean is the instant of a clean that isn't complete, "" for none.
func (m *blobModel) pendingClean() string {
	if list := m.cleans(false); len(list) > 0 {
		return list[0]
	}
	return ""
}

func (m *blobModel) newestClean() (c timeline.CleanMetadata, ok bool) {
	list := m.cleans(true)
	if len(list) == 0 {
		return c, false
	}
	data, err := os.ReadFile(m.w.path(m.dir() + list[len(list)-1]))
	if err == nil {
		c, err = timeline.DecodeCleanMetadata(data)
	}
	if err != nil {
		m.w.t.Fatal(err)
	}
	return c, true
}

// cleanPlan is the plan of a pending clean.
func (m *blobModel) cleanPlan(at string) timeline.CleanPlan {
	m.w.t.Helper()
	data, err := os.ReadFile(m.w.path(m.dir() + timeline.Name(m.layout, at, timeline.Clean, timeline.Requested, "")))
	if err != nil {
		m.w.t.Fatal(err)
	}
	plan, err := timeline.DecodeCleanPlan(data)
	if err != nil {
		m.w.t.Fatal(err)
	}
	return plan
}

// planned are the files that the plan of a pending clean names.
func (m *blobModel) planned(at string) map[string]bool {
	m.w.t.Helper()
	out := map[string]bool{}
	for partition, files := range m.cleanPlan(at).Files {
		for _, f := range files {
			out[partition+"/"+path.Base(*f.Path)] = true
		}
	}
	return out
}

// finish finishes a pending clean as Hudi does, which knows nothing of blobs.
// It returns the files that went.
func (m *blobModel) finish(at string) (gone []string) {
	plan := m.cleanPlan(at)
	done := timeline.CleanMetadata{StartTime: at, LastCompleted: plan.LastCompleted, Partitions: map[string]timeline.CleanPartition{}, Extra: plan.Extra}
	if plan.Earliest != nil {
		done.Earliest = plan.Earliest.Timestamp
	}
	for partition, files := range plan.Files {
		p := timeline.CleanPartition{Path: partition, Policy: plan.Policy, DeletePatterns: []string{}, Failed: []string{}}
		for _, f := range files {
			name := path.Base(*f.Path)
			p.Succeeded = append(p.Succeeded, name)
			if key := partition + "/" + name; m.has(key) {
				m.w.remove("table/" + key)
				gone = append(gone, key)
			}
		}
		done.Partitions[partition] = p
	}
	data, err := done.Encode()
	if err != nil {
		m.w.t.Fatal(err)
	}
	m.instant(at, timeline.Clean, timeline.Inflight, nil)
	m.instant(at, timeline.Clean, timeline.Completed, data)
	return gone
}

// check fails if a file is gone that a reader or a savepoint needs.
func (m *blobModel) check() {
	m.w.t.Helper()
	var late []string // what they refer to they have to ask about
	for _, w := range m.open {
		if w.late {
			late = append(late, m.by[w.at]...)
		}
	}
	m.w.check(late...)
	for _, f := range snapshot(m.groups) {
		if !m.has(f) {
			m.w.t.Fatalf("%s is gone, and a snapshot reads it", f)
		}
	}
	for at, files := range m.saved {
		for _, f := range files {
			if !m.has(f) {
				m.w.t.Fatalf("%s is gone, and the savepoint %s holds it", f, at)
			}
		}
	}
}

// draining reports whether a drain's intent is published and not ended.
func (m *blobModel) draining() bool {
	for _, name := range m.w.files("table/.hoodie/.aux/clean/*.blob_drain.parquet") {
		at, _, _ := strings.Cut(name, ".")
		if len(m.w.files("table/.hoodie/.aux/clean/"+at+"_*.blob_drain")) == 0 {
			return true
		}
	}
	return false
}
