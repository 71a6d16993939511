package sweep

import (
	"fmt"
	"os"
	"testing"

	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// A drain's figures stand in one clean alone, whichever call to any store a run
// dies at, and whoever finishes its clean: our next run, Hudi, which knows
// nothing of them, or nobody, who gives it up.
func TestFiguresAreToldOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("some hundred runs")
	}
	for turn, c := range []struct {
		name    string
		between func(m *blobModel, at string)
	}{
		{"our next run finishes it", func(*blobModel, string) {}},
		{"Hudi finishes it", func(m *blobModel, at string) { m.finish(at) }},
		{"it is given up", func(m *blobModel, at string) { m.forget(at, "clean") }},
	} {
		for _, when := range []store.Moment{store.Before, store.After} {
			t.Run(fmt.Sprintf("%s, moment %d", c.name, when), func(t *testing.T) {
				t.Parallel()
				pristine := expired(t)
				pristine.mustClean()
				pristine.pass(30)
				pristine.commit(map[string][]string{"1a": {"Y"}, "2b": {"Z"}})
				const about = 16 // calls from the end that are about the completion
				last := pristine.copy().calls()
				for kill := int64(1); kill <= last; kill++ {
					if kill < last-about && kill%3 != int64(turn) {
						continue
					}
					w := pristine.copy()
					w.faults = store.NewFaults(store.FailNth(kill, store.Injection{When: when, Kill: true}))
					if _, err := w.clean(w.request()); err == nil {
						t.Fatalf("no crash at call %d", kill)
					}
					w.faults = nil
					m := &blobModel{w: w, layout: timeline.Layout1}
					at := m.pendingClean()
					if at != "" {
						c.between(m, at)
					}
					for range 2 {
						w.pass(30)
						w.commit(map[string][]string{"1a": {"Y"}, "2b": {"Z"}})
						w.mustClean()
					}
					deleted, sure := w.told(m), turn < 2 || at == ""
					if deleted > 1 || sure && deleted != 1 || w.blobs() != "Y Z" {
						t.Fatalf("after a crash at call %d: %d deleted blobs were told, left %q", kill, deleted, w.blobs())
					}
					if err := os.RemoveAll(w.dir); err != nil {
						t.Fatal(err)
					}
				}
			})
		}
	}
}

// calls is how many calls to stores a run takes.
func (w *blobWorld) calls() int64 {
	w.t.Helper()
	w.faults = store.NewFaults(func(store.Call) store.Injection { return store.Injection{} })
	w.mustClean()
	return w.faults.Calls()
}

// told is how many blobs all completed cleans say were deleted.
func (w *blobWorld) told(m *blobModel) (deleted int64) {
	w.t.Helper()
	for _, name := range m.cleans(true) {
		data, err := os.ReadFile(w.path(m.dir() + name))
		if err != nil {
			w.t.Fatal(err)
		}
		c, err := timeline.DecodeCleanMetadata(data)
		if err != nil {
			w.t.Fatal(err)
		}
		if c.Blobs != nil {
			deleted += c.Blobs.Deleted
		}
	}
	return deleted
}
