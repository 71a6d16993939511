package plan_test

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/plan"
)

var created = time.Date(2026, 1, 10, 12, 0, 0, 7, time.UTC)

func head() filelist.Head {
	version := int64(41)
	return filelist.Head{PlanID: "p1", Table: "s3://b/t", Given: "s3://b/t/", TableID: "id", Format: "delta", Version: &version, Created: created, Cutoff: created,
		Mode: "full", Guards: []filelist.Guard{{Code: "enclosed", Outcome: filelist.Passed, Detail: "none"}},
		Totals: filelist.Totals{Candidates: 9, Dead: 2, DeadBytes: 5, DeadDirectories: 1, ByReason: map[string]filelist.Count{
			"tombstone": {Objects: 1, Bytes: 5}, "orphan": {Objects: 1}}},
		State: map[string]string{"protocol": "x"}}
}

func rows() []lake.Verdict {
	return []lake.Verdict{
		{Key: "a/b\xff", Size: 5, Modified: created.Add(-time.Hour), Reason: lake.Tombstone, Tombstone: created.Add(-2 * time.Hour), ETag: `"1"`,
			Partition: lake.Partition{{Column: "p", Value: "1"}, {Column: "q", Null: true}}},
		{Key: "c", Size: -1, Modified: created.Add(-time.Hour), Reason: lake.Orphan},
		{Key: "d", Directory: true, Size: -1, Modified: created.Add(-time.Hour), Reason: lake.EmptyDirectory},
	}
}

func seq(rows ...lake.Verdict) iter.Seq2[lake.Verdict, error] {
	return func(yield func(lake.Verdict, error) bool) {
		for _, v := range rows {
			if !yield(v, nil) {
				return
			}
		}
	}
}

func read(t *testing.T, p *plan.Plan) []lake.Verdict {
	t.Helper()
	var rows []lake.Verdict
	for v, err := range p.Rows() {
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, v)
	}
	return rows
}

func held(t *testing.T, h filelist.Head, rows ...lake.Verdict) (*plan.Plan, error) {
	return plan.Hold(t.Context(), h, seq(rows...), func() error { return nil })
}

func TestAPlanComesBackAsItWasWritten(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "plan.parquet")
	for name, create := range map[string]func() (*plan.Plan, error){
		"Create": func() (*plan.Plan, error) { return plan.Create(t.Context(), path, head(), seq(rows()...)) },
		"Open":   func() (*plan.Plan, error) { return plan.Open(t.Context(), path) },
		"Hold":   func() (*plan.Plan, error) { return held(t, head(), rows()...) },
	} {
		if name == "Open" {
			p, err := plan.Create(t.Context(), path, head(), seq(rows()...))
			if err != nil || p.Close() != nil {
				t.Fatal(err)
			}
		}
		p, err := create()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want := head()
		want.Schema, want.Digest = plan.Schema, p.Head().Digest
		if diff := cmp.Diff(want, p.Head()); diff != "" || (want.Digest == "") != (name == "Hold") {
			t.Errorf("%s: digest %q, head: %s", name, want.Digest, diff)
		}
		for range 2 {
			if diff := cmp.Diff(rows(), read(t, p)); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestAHeadIsACopy(t *testing.T) {
	given := head()
	fill(reflect.ValueOf(&given.Evidence).Elem())
	fill(reflect.ValueOf(&given.Totals.Blobs).Elem())
	given.Watermark, given.Totals.ProtectedLive, given.Totals.EstimatedCost, given.Totals.MonthlySaving = new(int64(3)), new(int64(4)), new(1.5), new(2.5)
	p, err := held(t, given, rows()...)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for name, h := range map[string]filelist.Head{"the head it was made of": given, "another copy": p.Head()} {
		for _, field := range shared(reflect.ValueOf(h), reflect.ValueOf(p.Head()), "head") {
			t.Errorf("%s is the same memory in %s", field, name)
		}
	}
}

// fill makes every pointer, slice and map of v hold something.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	}
}

// shared names the fields of a and b that lie in the same memory, and those
// that hold nothing, which prove nothing.
func shared(a, b reflect.Value, name string) (fields []string) {
	switch a.Kind() {
	case reflect.Struct:
		if a.Type() == reflect.TypeFor[time.Time]() {
			return nil
		}
		for i := range a.NumField() {
			fields = append(fields, shared(a.Field(i), b.Field(i), name+"."+a.Type().Field(i).Name)...)
		}
	case reflect.Pointer, reflect.Slice, reflect.Map:
		if a.IsZero() || a.UnsafePointer() == b.UnsafePointer() {
			return []string{name}
		}
		if a.Kind() == reflect.Pointer {
			return shared(a.Elem(), b.Elem(), name)
		}
	}
	return fields
}

func TestNoByteOfAPlanMayChange(t *testing.T) {
	var file bytes.Buffer
	if err := plan.Write(t.Context(), &file, head(), seq(rows()...)); err != nil {
		t.Fatal(err)
	}
	good := file.Bytes()
	if _, err := plan.Read(t.Context(), bytes.NewReader(good), int64(len(good))); err != nil {
		t.Fatal(err)
	}
	accepted := 0
	for i := 0; i < len(good); i += 13 { // prime to the width of any field
		bad := slices.Clone(good)
		bad[i] ^= 0x20
		p, err := plan.Read(t.Context(), bytes.NewReader(bad), int64(len(bad)))
		if err != nil {
			if k := lake.KindOf(err); k != lake.Damaged && k != lake.Unsupported {
				t.Errorf("byte %d: %v of kind %v", i, err, k)
			}
			continue
		}
		accepted++
		h := head()
		h.Schema, h.Digest = plan.Schema, p.Head().Digest
		if diff := cmp.Diff(rows(), read(t, p)) + cmp.Diff(h, p.Head()); diff != "" {
			t.Errorf("byte %d changed the plan unseen: %s", i, diff)
		}
	}
	t.Logf("%d of %d bytes carry nothing of the plan", accepted, len(good)/13)
	for _, n := range []int{0, 3, len(good) / 2, len(good) - 1} {
		if _, err := plan.Read(t.Context(), bytes.NewReader(good[:n]), int64(n)); lake.KindOf(err) != lake.Damaged || err == nil {
			t.Errorf("cut to %d bytes: %v", n, err)
		}
	}
}

func TestWhatIsNoPlan(t *testing.T) {
	broken := errors.New("broken")
	row := func(k string) lake.Verdict { return lake.Verdict{Key: lake.Key(k), Size: 1, Reason: lake.Orphan} }
	none := func() filelist.Head { h := head(); h.Totals = filelist.Totals{}; return h }
	two := func() filelist.Head {
		h := none()
		h.Totals = filelist.Totals{Dead: 2, DeadBytes: 2, ByReason: map[string]filelist.Count{"orphan": {Objects: 2, Bytes: 2}}}
		return h
	}
	for _, c := range []struct {
		rule string
		head filelist.Head
		rows iter.Seq2[lake.Verdict, error]
		want string
	}{
		{"totals of other rows", head(), seq(rows()[:1]...), "the head counts 2"},
		{"a reason that isn't counted", none(), seq(), ""},
		{"rows that aren't counted", none(), seq(row("a")), "the head counts 0"},
		{"a row twice", two(), seq(row("a"), row("a")), `row "a" after "a"`},
		{"rows out of order", two(), seq(row("b"), row("a")), `row "a" after "b"`},
		{"a row without a name", none(), seq(lake.Verdict{Size: 1}), "a row with the key"},
		{"a row with two names", none(), seq(lake.Verdict{Key: "a", URI: "s3://b/a"}), "a row with the key"},
		{"rows that end in an error", none(), func(yield func(lake.Verdict, error) bool) { yield(lake.Verdict{}, broken) }, "broken"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			released := false
			_, err := plan.Hold(t.Context(), c.head, c.rows, func() error { released = true; return nil })
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) || released {
				t.Errorf("held: %v, want %s; released: %v", err, c.want, released)
			}
			dir := t.TempDir()
			path := filepath.Join(dir, "plan")
			p, err := plan.Create(t.Context(), path, c.head, c.rows)
			if c.want == "" {
				if err != nil || p.Close() != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}

func TestPlansOfOtherSchemasAndListsAreRefused(t *testing.T) {
	var file bytes.Buffer
	w := filelist.NewWriter(&file, filelist.Options{})
	if _, err := w.Close(map[string]string{filelist.HeadKey: `{"schema": 2}`}); err != nil {
		t.Fatal(err)
	}
	if _, err := plan.Read(t.Context(), bytes.NewReader(file.Bytes()), int64(file.Len())); lake.KindOf(err) != lake.Unsupported {
		t.Errorf("schema 2: %v", err)
	}
	file.Reset()
	w = filelist.NewWriter(&file, filelist.Options{})
	if _, err := w.Close(nil); err != nil {
		t.Fatal(err)
	}
	if _, err := plan.Read(t.Context(), bytes.NewReader(file.Bytes()), int64(file.Len())); lake.KindOf(err) != lake.Damaged {
		t.Errorf("a list: %v", err)
	}
}

func TestACancelledReadIsNoPlan(t *testing.T) {
	var file bytes.Buffer
	if err := plan.Write(t.Context(), &file, head(), seq(rows()...)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if p, err := plan.Read(ctx, bytes.NewReader(file.Bytes()), int64(file.Len())); p != nil || lake.KindOf(err) != lake.Interrupted {
		t.Errorf("%v, %v", p, err)
	}
}

func TestIDsAreUniqueAndSortByTime(t *testing.T) {
	a, b, c := plan.NewID(created), plan.NewID(created), plan.NewID(created.Add(time.Second))
	if a == b || c < a || c < b || strings.ContainsAny(a, "/: ") {
		t.Errorf("%q, %q, %q", a, b, c)
	}
}
