package sweep

import (
	"slices"
	"testing"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table/hudi/blobtest"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// matrixWorld is a table of which a clean let X go: it waits in the queue, and
// is due. Y and Z live on.
type matrixWorld struct {
	*blobModel
	t      *testing.T
	listed *listedModel // the same table with its metadata table; nil without one
}

// rollback takes back what is in flight, out of the metadata table too.
func (m *matrixWorld) rollback(w *modelWrite) {
	if m.listed != nil {
		m.listed.rollback(w)
	} else {
		m.blobModel.rollback(w)
	}
}

// commit writes and completes one group's records.
func (m *matrixWorld) commit(group string, blobs ...string) {
	w := m.begin(m.writeAction())
	m.write(w, group, refsTo(blobs...))
	m.complete(w, true)
}

func refsTo(blobs ...string) (refs []blobtest.Ref) {
	for _, b := range blobs {
		refs = append(refs, blobtest.M(spelled(b)))
	}
	return refs
}

func (m *matrixWorld) clean() {
	m.t.Helper()
	if _, err := m.w.clean(m.w.request()); err != nil && lake.KindOf(err) != lake.Stale {
		m.t.Fatal(err)
	}
	m.check()
}

// matrixMoments are moments of a drain that deletes X, as calls to stores.
var matrixMoments = []struct {
	name  string
	match func(store.Call) bool
}{
	{"before it is judged", ends("stat", "X")},
	{"between the judgement and the intent", ends("create", ".blob_drain.parquet")},
	{"between the intent and the delete", ends("delete", "X")},
	{"after the delete", ends("create", ".blob_drain")},
	{"before the queue is left", ends("create", "00002.parquet")},
}

// RFC-100 part 2, "Concurrency Matrix": one test for each row. Its two
// published revisions have nine rows each, eleven different operations in all;
// a metadata table counts twice, as it is made and as it is written to.
// What is done comes at each moment of a drain; whatever it is, nothing that is
// referred to dies, and what isn't does in the end.
func TestConcurrencyMatrix(t *testing.T) {
	for _, row := range []struct {
		name   string
		mor    bool
		listed bool                 // with a metadata table
		before func(m *matrixWorld) // the table, beside the group that lets X go
		do     func(m *matrixWorld)
		now    bool // X survives this drain if it is done before the intent
		end    bool // and is there in the end
	}{
		{name: "regular write",
			before: func(m *matrixWorld) { m.begin(m.writeAction()) },
			do: func(m *matrixWorld) {
				m.write(m.open[0], "1n", refsTo("X"))
				m.complete(m.open[0], true)
			}, now: true, end: true},
		{name: "compaction", mor: true, // X stands below a log: the compacted slice lacks it
			before: func(m *matrixWorld) {
				m.commit("2b", "X")
				m.commit("2b", "Y")
				m.schedule(timeline.Compaction, "2b")
			},
			do: func(m *matrixWorld) { m.perform(m.services[0]) }, now: true},
		{name: "clustering",
			before: func(m *matrixWorld) {
				m.commit("2b", "X")
				m.schedule(timeline.ReplaceCommit, "2b")
			},
			do: func(m *matrixWorld) { m.perform(m.services[0]) }, now: true, end: true},
		{name: "insert_overwrite",
			before: func(m *matrixWorld) {
				m.commit("2b", "Y")
				m.begin(timeline.ReplaceCommit).replaced = []string{"2b"}
			},
			do: func(m *matrixWorld) {
				m.write(m.open[0], "2n", refsTo("X"))
				m.complete(m.open[0], true)
			}, now: true, end: true},
		{name: "rollback",
			before: func(m *matrixWorld) { m.write(m.begin(m.writeAction()), "2r", refsTo("X")) },
			do: func(m *matrixWorld) {
				for len(m.open) > 0 {
					m.rollback(m.open[0])
				}
			}},
		{name: "restore",
			before: func(m *matrixWorld) {
				m.commit("2b", "X")
				m.savepoint(m.savable()[len(m.savable())-1])
				m.commit("2b", "Y")
			},
			do: func(m *matrixWorld) {
				for at := range m.saved {
					m.restore(at)
				}
			}, now: true, end: true},
		{name: "savepoint create", do: func(m *matrixWorld) {
			if list := m.savable(); len(list) > 0 {
				m.savepoint(list[len(list)-1])
			}
		}},
		{name: "savepoint delete",
			before: func(m *matrixWorld) {
				m.commit("2b", "X")
				m.savepoint(m.savable()[len(m.savable())-1])
				m.commit("2b", "Y")
			},
			do: func(m *matrixWorld) {
				for at := range m.saved {
					m.unsave(at)
				}
			}, now: true},
		{name: "archival", do: func(m *matrixWorld) { m.archive(1) }},
		{name: "another cleaner", do: func(m *matrixWorld) { m.clean() }},
		{name: "blob compaction", // what stood in X is in N from now on
			before: func(m *matrixWorld) { m.commit("2b", "X") },
			do: func(m *matrixWorld) {
				m.w.upload("N")
				m.commit("2b", "N")
			}, now: true},
		{name: "MDT writes", listed: true, // a compaction, and the commit of a write before the write itself is complete
			before: func(m *matrixWorld) {
				m.commit("2b", "Y")
				m.listed.compactListing(false)
				m.begin(m.writeAction())
			},
			do: func(m *matrixWorld) {
				w := m.open[0]
				m.write(w, "1n", refsTo("X"))
				if len(m.w.ask(w.at, m.by[w.at]...).Conflicts) > 0 {
					m.rollback(w)
				} else {
					m.listed.complete(w)
				}
			}, now: true, end: true},
		{name: "MDT being made", do: func(m *matrixWorld) {
			m.w.put("table/.hoodie/metadata/.hoodie/hoodie.properties", "hoodie.table.name=small_metadata\nhoodie.table.type=MERGE_ON_READ\nhoodie.table.version=6\n")
			m.w.put("table/.hoodie/metadata/files/.files-0000-0_0.log.1_0-0-0", "torn")
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			for i, moment := range matrixMoments {
				t.Run(moment.name, func(t *testing.T) {
					w := newBlobWorld(t, t)
					m := &matrixWorld{blobModel: newBlobModel(w, timeline.Layout1, row.mor), t: t}
					if row.listed {
						m.listed = newListedModel(w, 6, row.mor)
						m.blobModel = m.listed.blobModel
					}
					m.drainable(row.before)
					_, done, err := w.within(w.request(), moment.match, func() { row.do(m) })
					if err != nil && lake.KindOf(err) != lake.Stale {
						t.Fatal(err)
					}
					m.check()
					if !done {
						if i == 0 || !w.there("X") {
							t.Error("the moment never came")
						}
						return // X is known to live, or waits, before there is an intent
					}
					if row.now && i < 2 && !w.there("X") {
						t.Error("X is gone")
					}
					m.settle()
					if kept := m.refers("X"); w.there("X") != kept || i < 2 && kept != row.end {
						t.Errorf("in the end X is there: %v, and referred to: %v", w.there("X"), kept)
					}
				})
			}
		})
	}
}

// drainable lets a clean queue X, and its grace time pass. Two newer commits
// make what before wrote old enough to be archived, and its last slices stay.
func (m *matrixWorld) drainable(before func(m *matrixWorld)) {
	m.w.upload("X", "Y", "Z")
	m.w.pass(72)
	m.commit("1a", "X")
	m.commit("1a", "Y")
	m.commit("1a", "Z")
	if m.mor {
		m.schedule(timeline.Compaction, "1a")
		m.perform(m.services[0])
		m.commit("1z", "Z")
		m.commit("1z", "Z")
	}
	m.clean()
	if m.w.queued() != "X" && !m.mor || !m.w.there("X") {
		m.t.Fatalf("queued %q", m.w.queued())
	}
	if before != nil {
		before(m)
	}
	m.w.pass(30)
}

// settle cleans until nothing more happens.
func (m *matrixWorld) settle() {
	m.t.Helper()
	for len(m.open) > 0 {
		m.rollback(m.open[0])
	}
	for range 4 {
		m.w.pass(30)
		m.commit("1y", "Y")
		m.clean()
	}
	if m.listed == nil {
		return
	}
	d, err := m.w.engine().Doctor(m.t.Context(), m.w.request())
	if err != nil {
		m.t.Fatal(err)
	}
	for _, c := range d.Checks {
		if c.Code == "timeline" && c.Outcome == filelist.Warned { // such as that the metadata table isn't used
			m.t.Errorf("%+v", c)
		}
	}
}

// refers reports whether a file that is there refers to a blob.
func (m *matrixWorld) refers(blob string) bool {
	for f, blobs := range m.w.refs {
		if m.has(f) && slices.Contains(blobs, blob) {
			return true
		}
	}
	return false
}
