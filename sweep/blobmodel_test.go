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
	cdc      bool                  // base files that take the place of others have change logs beside them
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
	cdc         string // the change log beside it, "" for none
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
	w.put("table/.hoodie/hoodie.properties", fmt.Sprintf("hoodie.table.name=small\nhoodie.table.type=%s\nhoodie.table.version=%s\nhoodie.timeline.layout.version=%d\nhoodie.table.timeline.timezone=UTC\nhoodie.table.partition.fields=%s\n", typ, version, layout, w.shape.fields))
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
	if old && m.cdc && !p.log {
		p.cdc = m.put(w.at, path.Join(m.w.partitionOf(group), fmt.Sprintf(".%s-0_%s.log.1_0-1-2.cdc", group, w.at)), blobtest.CDC(m.w.tb, nil, w.at, g.refs...), g.refs)
	}
	if old {
		g.busy = true
		m.groups[group] = g
	}
	w.parts = append(w.parts, p)
}

func (m *blobModel) base(at, group string, refs []blobtest.Ref) string {
	return m.put(at, path.Join(m.w.partitionOf(group), fmt.Sprintf("%s-0_0-1-2_%s.parquet", group, at)), blobtest.Base(m.w.tb, true, refs...), refs)
}

func (m *blobModel) log(at, group string, g *modelGroup, refs []blobtest.Ref) string {
	instant := g.base
	if m.layout == timeline.Layout2 {
		instant = at
	}
	return m.put(at, path.Join(m.w.partitionOf(group), fmt.Sprintf(".%s-0_%s.log.%d_0-1-2", group, instant, g.logs)), blobtest.Log(m.w.tb, nil, at, refs...), refs)
}

func (m *blobModel) put(at, name string, data []byte, refs []blobtest.Ref) string {
	m.w.put("table/"+name, string(data))
	m.by[at] = append(m.by[at], name)
	delete(m.removed, name) // Hudi gives a log's name again after a restore
	m.w.refs[name], m.managed[name] = nil, nil
	for _, r := range refs {
		blob := objectOf(r.Path)
		m.w.refs[name] = append(m.w.refs[name], blob)
		if r.Managed && r.Path == spelled(blob) {
			m.managed[name] = append(m.managed[name], blob)
		}
	}
	return name
}

// changeLogs lets writes of the table, which is copy-on-write, keep change logs.
func (m *blobModel) changeLogs() {
	m.cdc = true
	name := m.w.path("table/.hoodie/hoodie.properties")
	data, err := os.ReadFile(name)
	if err != nil {
		m.w.t.Fatal(err)
	}
	m.w.put("table/.hoodie/hoodie.properties", string(data)+"hoodie.table.cdc.enabled=true\n")
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
		partition := m.w.partitionOf(p.group)
		stats[partition] = append(stats[partition], timeline.WriteStat{FileID: p.group + "-0", Path: p.file, PrevCommit: before, CDC: p.changes()})
	}
	for _, name := range w.replaced {
		g := m.groups[name]
		g.gone, g.busy = true, false
		m.groups[name] = g
		partition := m.w.partitionOf(name)
		replaced[partition] = append(replaced[partition], name+"-0")
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

// changes is what a commit says of the change log of a part.
func (p modelPart) changes() map[string]int64 {
	if p.cdc == "" {
		return nil
	}
	return map[string]int64{p.cdc: 1}
}

func statsJSON(stats map[string][]timeline.WriteStat) map[string][]map[string]any {
	out := map[string][]map[string]any{}
	for p, list := range stats {
		for _, s := range list {
			out[p] = append(out[p], map[string]any{"fileId": s.FileID, "path": s.Path, "prevCommit": s.PrevCommit, "cdcStats": s.CDC})
		}
	}
	return out
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
