package sweep

import (
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

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
			out[path.Join(partition, path.Base(*f.Path))] = true
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
			if key := path.Join(partition, name); m.has(key) {
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
