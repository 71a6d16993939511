package reap_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/reap"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/mem"
)

// versioned keeps the versions of objects beside a store that has none, as S3
// does: a delete hides the object under a marker.
type versioned struct {
	store.Store
	mu   sync.Mutex
	n    int
	kept []store.Info // a marker has no ETag
	fail map[string]bool
}

func (v *versioned) Traits() store.Traits {
	t := v.Store.Traits()
	t.Versions = true
	return t
}

func (v *versioned) keep(name, etag string, modified time.Time) {
	v.n++
	v.kept = append(v.kept, store.Info{Name: name, ETag: etag, Modified: modified, Version: fmt.Sprint("v", v.n)})
}

func (v *versioned) List(ctx context.Context, req store.PageRequest) (store.Page, error) {
	if !req.Versions {
		return v.Store.List(ctx, req)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	var page store.Page
	for _, o := range v.kept {
		if len(o.Name) >= len(req.Prefix) && o.Name[:len(req.Prefix)] == req.Prefix && position(o) > req.Token {
			page.Entries = append(page.Entries, o)
		}
	}
	slices.SortFunc(page.Entries, func(a, b store.Info) int {
		return strings.Compare(position(a), position(b))
	})
	if len(page.Entries) > 2 {
		page.Entries = page.Entries[:2]
		page.Next = position(page.Entries[1])
	}
	return page, nil
}

// position orders versions by name, then by age.
func position(o store.Info) string { return o.Name + "\x00" + o.Version }

func (v *versioned) Delete(ctx context.Context, targets []store.Target) ([]store.Outcome, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	outcomes := make([]store.Outcome, len(targets))
	for i, target := range targets {
		outcomes[i].Target = target
		if target.Version != "" {
			if v.fail[target.Name] {
				outcomes[i].Err = errors.New("object lock")
				continue
			}
			v.kept = slices.DeleteFunc(v.kept, func(o store.Info) bool { return o.Name == target.Name && o.Version == target.Version })
			continue
		}
		info, err := v.Store.Stat(ctx, target.Name)
		if err == nil {
			var one []store.Outcome
			if one, err = v.Store.Delete(ctx, targets[i:i+1]); err == nil {
				err = one[0].Err
			}
		}
		if outcomes[i].Err = err; err == nil {
			v.keep(target.Name, info.ETag, info.Modified)
			v.keep(target.Name, "", now)
		}
	}
	return outcomes, nil
}

func (w *world) applyTo(p reap.Place, o reap.Options) (reap.Result, error) {
	w.t.Helper()
	j, err := filelist.OpenJournal(context.Background(), w.log(), filelist.JournalHead{PlanID: w.head.PlanID, Table: w.head.Table})
	if err != nil {
		w.t.Fatal(err)
	}
	return reap.Run(context.Background(), reap.Job{Cleared: w.cleared(), Place: p, Guardian: w.watch, Recorder: w.record, Journal: j}, o)
}

func (v *versioned) names() []string {
	var names []string
	for _, o := range v.kept {
		names = append(names, o.Name)
	}
	slices.Sort(names)
	return names
}

func TestAllVersionsOfDeadObjectsGoAndNoOthers(t *testing.T) {
	w := newWorld(t, mem.Default(), "a", "b", "gone")
	v := &versioned{Store: w.table}
	for _, name := range []string{"a", "a", "a", "a.other", "live-1", "gone"} {
		v.keep(name, "old", aged.Add(-time.Hour))
	}
	v.keep("gone", "", aged)
	w.drop("gone")
	w.opt.AllVersions = true
	res, err := w.applyTo(v, w.opt)
	if err != nil || res.Deleted != 2 || res.Gone != 1 || !res.Complete {
		t.Errorf("%+v, %v", res, err)
	}
	if names := v.names(); !slices.Equal(names, []string{"a.other", "live-1"}) {
		t.Errorf("versions left: %q", names)
	}
	w.sound()
}

func TestWithoutAllVersionsTheyStay(t *testing.T) {
	w := newWorld(t, mem.Default(), "a")
	v := &versioned{Store: w.table}
	if _, err := w.applyTo(v, w.opt); err != nil || len(v.kept) != 2 {
		t.Errorf("%v, %q", err, v.names())
	}
}

func TestAVersionThatIsYoungerThanThePlanStaysHiddenOrNot(t *testing.T) {
	w := newWorld(t, mem.Default(), "a")
	v := &versioned{Store: w.table}
	v.keep("a", "new", now) // somebody wrote and deleted it again
	v.keep("a", "", now)
	w.opt.AllVersions = true
	if _, err := w.applyTo(v, w.opt); err != nil {
		t.Error(err)
	}
	young, markers := 0, 0
	for _, o := range v.kept {
		switch o.ETag {
		case "":
			markers++
		case "new":
			young++
		default:
			t.Errorf("%+v is left", o)
		}
	}
	if young != 1 || markers != 2 {
		t.Errorf("%d young versions, %d markers: a marker less and the young one comes to light", young, markers)
	}
}

func TestAnObjectWhoseVersionsStayHasFailed(t *testing.T) {
	w := newWorld(t, mem.Default(), "a", "b")
	v := &versioned{Store: w.table, fail: map[string]bool{"a": true}}
	w.opt.AllVersions = true
	res, err := w.applyTo(v, w.opt)
	if lake.KindOf(err) != lake.Partial || res.Failed != 1 || w.outcomes["a"] != "failed" || w.outcomes["b"] != "deleted" {
		t.Errorf("%+v, %v, %v", res, err, w.outcomes)
	}
	v.fail = nil
	if res, err := w.applyTo(v, w.opt); err != nil || !res.Complete || len(v.kept) > 0 {
		t.Errorf("again: %+v, %v, %q", res, err, v.names())
	}
}

func TestVersionsNeedAStoreThatListsThem(t *testing.T) {
	w := newWorld(t, mem.Default(), "a")
	w.opt.AllVersions = true
	if _, err := w.applyTo(w.table, w.opt); lake.KindOf(err) != lake.Invalid || len(w.left()) != 1 {
		t.Error(err)
	}
}
