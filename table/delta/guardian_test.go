package delta_test

import (
	"strings"
	"testing"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table"
	"github.com/lakesweep/lakesweep/table/delta/deltatest"
)

// watch plans on f and returns a guardian of a table opened anew, as apply does.
func watch(t *testing.T, f *fixture) (state map[string]string, again func() (table.Guardian, error)) {
	t.Helper()
	state = f.mustOpen(t).State()
	return state, func() (table.Guardian, error) { return f.mustOpen(t).Guardian(state, false) }
}

// O11: a commit that adopts an old file while the vacuum runs.
func TestO11AdoptedOldFile(t *testing.T) {
	f := chain(t)
	_, again := watch(t, f)
	dv, file := deltatest.UUIDVector("xy", 9, 0)
	f.Commit(day(90), deltatest.NewAdd("f2", 1).WithDV(dv), deltatest.NewCDC("_change_data/c", 1), deltatest.NewRemove("f9", day(90)))
	g, err := again()
	if err != nil {
		t.Fatal(err)
	}
	if g.Protected("f2") {
		t.Error("protected before it was read")
	}
	for range 2 {
		if err := g.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	f.Commit(day(91), deltatest.NewAdd("s%2F%2Fx", 1))
	if err := g.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, k := range keys("f2", lake.Key(file), "_change_data/c", "f9", "s/x", "s//x", "s%2F%2Fx") {
		if !g.Protected(k) {
			t.Errorf("%q isn't protected", k)
		}
	}
	for _, k := range keys("f1", "f3") {
		if g.Protected(k) {
			t.Errorf("%q is protected", k)
		}
	}
	f.Checkpoint(11, day(92), deltatest.Checkpoint{})
	if err := g.Refresh(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestWhatMakesAPlanStale(t *testing.T) {
	other := func(f *fixture) deltatest.MetaData { return f.MetaData }
	for name, change := range map[string]func(t *testing.T, f *fixture){
		"metadata": func(t *testing.T, f *fixture) {
			m := other(f)
			m.Configuration = map[string]string{"delta.appendOnly": "true"}
			f.Commit(day(90), deltatest.Action{MetaData: &m})
		},
		"protocol": func(t *testing.T, f *fixture) {
			f.Commit(day(90), deltatest.Action{Protocol: &deltatest.Protocol{MinReaderVersion: 2, MinWriterVersion: 5}})
		},
		"restore": func(t *testing.T, f *fixture) {
			f.Commit(day(90), deltatest.Action{CommitInfo: map[string]any{"operation": "RESTORE"}})
		},
		"replaced by a table with the same versions": func(t *testing.T, f *fixture) {
			body := string(f.read(t, deltatest.Name(0)))
			f.Put(deltatest.Name(0), []byte(strings.Replace(body, f.MetaData.ID, "99999999-1111-2222-3333-444444444444", 1)), day(0))
		},
		"rolled back": func(t *testing.T, f *fixture) { f.remove(t, deltatest.Name(9)) },
		"another commit of the same number": func(t *testing.T, f *fixture) {
			f.Put(deltatest.Name(9), []byte(`{"commitInfo":{"operation":"WRITE"}}`), day(95))
		},
		"cleaned up beyond the plan": func(t *testing.T, f *fixture) {
			f.Commit(day(90))
			f.Commit(day(91))
			f.Checkpoint(11, day(92), deltatest.Checkpoint{})
			f.remove(t, commitsTo(10)...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := chain(t)
			_, again := watch(t, f)
			live, err := f.mustOpen(t).Guardian(f.mustOpen(t).State(), false)
			if err != nil {
				t.Fatal(err)
			}
			change(t, f)
			g, err := again()
			if err != nil {
				t.Fatal(err)
			}
			if err := g.Refresh(t.Context()); lake.KindOf(err) != lake.Stale || lake.HintOf(err) == "" {
				t.Errorf("opened after: %v", err)
			}
			if err := live.Refresh(t.Context()); lake.KindOf(err) != lake.Stale &&
				!strings.Contains(name, "same") && name != "rolled back" { // what stands there was read before
				t.Errorf("opened before: %v", err)
			}
		})
	}
}

func TestPlanStaysGoodAcrossOrdinaryCommits(t *testing.T) {
	f := chain(t)
	_, again := watch(t, f)
	same := f.MetaData
	f.Commit(day(90), deltatest.NewAdd("n", 1))
	f.Commit(day(91), deltatest.Action{MetaData: &same}, deltatest.Action{Protocol: &f.Protocol})
	g, err := again()
	if err == nil {
		err = g.Refresh(t.Context())
	}
	if err != nil {
		t.Error(err)
	}
}

func TestGuardianFailsOnWhatItCantRead(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		kind lake.Kind
	}{
		"cut":     {`{"add":{"path":"x"`, lake.Damaged},
		"empty":   {"", lake.Damaged},
		"feature": {`{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["new"],"writerFeatures":["new"]}}`, lake.Unsupported},
		"vector":  {`{"add":{"path":"x","deletionVector":{"storageType":"q","pathOrInlineDv":"x"}}}`, lake.Unsupported},
	} {
		f := chain(t)
		g, err := f.mustOpen(t).Guardian(f.mustOpen(t).State(), false)
		if err != nil {
			t.Fatal(err)
		}
		f.Put(deltatest.Name(10), []byte(c.body), day(90))
		if err := g.Refresh(t.Context()); lake.KindOf(err) != c.kind {
			t.Errorf("%s: %v", name, err)
		}
	}
	f := chain(t)
	if _, err := f.mustOpen(t).Guardian(map[string]string{}, false); lake.KindOf(err) != lake.Invalid {
		t.Error(err)
	}
}
