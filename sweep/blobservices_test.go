package sweep

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/lakesweep/lakesweep/table/hudi/blobtest"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// compaction reports whether a compaction of a group is pending.
func (m *blobModel) compaction(group string) bool {
	return slices.ContainsFunc(m.services, func(s *modelWrite) bool {
		return s.action == timeline.Compaction && slices.ContainsFunc(s.parts, func(p modelPart) bool { return p.group == group })
	})
}

// slice is what a plan says of a group.
func (m *blobModel) slice(group string) timeline.Slice {
	s := timeline.Slice{Partition: m.w.partitionOf(group), FileID: group + "-0", BaseInstant: m.groups[group].base}
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
	old = slices.DeleteFunc(old, func(n string) bool { return m.w.partitionOf(n) != m.w.partitionOf(partition) })
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
		return len(m.filesOf(name)) > 0
	})
}

// filesOf are the files of a group that are there, its logs last.
func (m *blobModel) filesOf(group string) (out []string) {
	dir := m.w.partitionOf(group)
	for _, pattern := range []string{group + "-0_*", "." + group + "-0_*"} {
		for _, f := range m.w.files("table/" + path.Join(dir, pattern)) {
			out = append(out, path.Join(dir, f))
		}
	}
	return out
}
