package sweep

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/sweep/internal/apply"
)

// leaseObject is where every run on the table looks for its lease.
const leaseObject = "_delta_log/_lakesweep.lock"

func leaseTable(t *testing.T) *world {
	w := newWorld(t)
	w.live("a.parquet", 30*24*hour)
	w.file("orphan.parquet", 30*24*hour)
	return w
}

// held puts the lease of a run on another machine there.
func held(w *world, until time.Time) {
	w.Put(leaseObject, fmt.Appendf(nil, `{"holder":"lakesweep v1","host":"etl-7","process":42,"token":"x","taken":%q,"until":%q}`,
		w.now.Format(time.RFC3339), until.Format(time.RFC3339)), w.now)
}

func TestARunAtATime(t *testing.T) {
	w := leaseTable(t)
	p := w.wants(w.request(week, "full"), "orphan.parquet")
	held(w, w.now.Add(10*time.Minute))
	_, err := w.apply(p, ApplyRequest{})
	if lake.KindOf(err) != lake.Locked || !strings.Contains(err.Error(), "etl-7") || !strings.Contains(err.Error(), "42") {
		t.Errorf("apply under another's lease: %v", err)
	}
	w.has("orphan.parquet", leaseObject)
	if commits, err := filepath.Glob(filepath.Join(w.dir, "_delta_log", "*.json")); err != nil || len(commits) != 1 {
		t.Errorf("a locked run commits: %q %v", commits, err)
	}
	w.wants(w.request(week, "full"), "orphan.parquet") // a plan takes no lease
	w.now = w.now.Add(11 * time.Minute)
	if _, err := w.apply(p, ApplyRequest{}); err != nil {
		t.Fatal(err)
	}
	w.has("!orphan.parquet", "a.parquet", "!"+leaseObject)
}

// TestALostLeaseEndsTheRun takes the lease away in the middle: no further
// batch is deleted.
func TestALostLeaseEndsTheRun(t *testing.T) {
	w := leaseTable(t)
	for i := range 500 {
		w.file(fmt.Sprintf("x/%03d", i), 30*24*hour)
	}
	w.wrap = func(s store.Store) store.Store {
		return store.NewFaults(func(c store.Call) store.Injection {
			if c.Op == "delete" && !strings.Contains(c.Name, "_delta_log") {
				w.now = w.now.Add(20 * time.Minute)
				held(w, w.now.Add(time.Hour))
			}
			return store.Injection{}
		}).Wrap(s)
	}
	p := w.plan(w.request(week, "full"))
	r, err := w.apply(p, ApplyRequest{Tuning: Tuning{Workers: 1, DeleteRate: 20}})
	if lake.KindOf(err) != lake.Locked {
		t.Errorf("got %v", err)
	}
	if r.Deleted > 200 {
		t.Errorf("%d objects deleted under a lease that is another's", r.Deleted)
	}
	w.has("a.parquet", leaseObject)
}

// TestALogThatMayNotBeWritten: the lease moves to the state directory, where
// runs of one machine still exclude each other.
func TestALogThatMayNotBeWritten(t *testing.T) {
	w := leaseTable(t)
	w.wrap = func(s store.Store) store.Store { return readOnlyLog{s} }
	p := w.plan(w.request(week, "full"))
	off, h := ApplyRequest{CommitLog: "off"}, p.Head()
	other := off
	other.Journal = filepath.Join(t.TempDir(), "other.journal")
	job, _, err := w.e.apply().Delta(t.Context(), p, &h, other.run())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.apply(p, off); lake.KindOf(err) != lake.Locked {
		t.Errorf("two runs at once: %v", err)
	}
	if err := apply.Release(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	if _, err := w.apply(p, off); lake.KindOf(err) != lake.Denied {
		t.Errorf("the watermark can't be written: %v", err)
	}
	w.has("!orphan.parquet", "a.parquet", "!"+leaseObject)
}

// readOnlyLog is a store in which nobody writes to the log.
type readOnlyLog struct{ store.Store }

func (s readOnlyLog) PutIfAbsent(ctx context.Context, name string, data []byte) error {
	if strings.HasPrefix(name, "_delta_log/") {
		return fs.ErrPermission
	}
	return s.Store.PutIfAbsent(ctx, name, data)
}

func (s readOnlyLog) Replace(ctx context.Context, name string, data []byte, etag string) (string, error) {
	if strings.HasPrefix(name, "_delta_log/") {
		return "", fs.ErrPermission
	}
	return s.Store.Replace(ctx, name, data, etag)
}
