package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/mem"
	"github.com/lakesweep/lakesweep/store/storetest"
)

var errFlaky = &lake.Error{Kind: lake.Transient, Err: errors.New("flaky")}

// noPause are options of Retry that don't wait.
func noPause(attempts int) store.RetryOptions {
	return store.RetryOptions{Attempts: attempts, Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }}
}

func TestWrappersKeepTheContract(t *testing.T) {
	storetest.Run(t, func(*testing.T) store.Store {
		// Every third call fails, before or after it took effect.
		faults := store.NewFaults(func(c store.Call) store.Injection {
			if c.N%3 == 0 {
				return store.Injection{Err: errFlaky, When: store.Moment(c.N / 3 % 3)}
			}
			return store.Injection{}
		})
		s := faults.Wrap(mem.New(mem.Options{}))
		s = store.Trace(s, slog.New(slog.NewTextHandler(io.Discard, &slog.HandlerOptions{Level: slog.LevelDebug})))
		s = new(store.Meter).Wrap(s)
		s = store.NewPacer(store.PaceOptions{}).Pace(s)
		return tolerant{store.Retry(s, noPause(8))}
	}, storetest.Options{})
}

// tolerant hides what a lost answer makes unknowable: a repeated call can't
// tell an object that its first attempt deleted, or copied, from one that was
// gone, or there.
type tolerant struct{ store.Store }

func (s tolerant) Unwrap() store.Store { return s.Store }

func (s tolerant) Delete(ctx context.Context, targets []store.Target) ([]store.Outcome, error) {
	outcomes, err := s.Store.Delete(ctx, targets)
	for i, o := range outcomes {
		if errors.Is(o.Err, fs.ErrNotExist) {
			outcomes[i].Err = nil
		}
	}
	return outcomes, err
}

func (s tolerant) Copy(ctx context.Context, name string, to store.Store, toName string) error {
	_, before := s.Stat(ctx, toName)
	err := s.Store.Copy(ctx, name, to, toName)
	if errors.Is(err, fs.ErrExist) && errors.Is(before, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (s tolerant) DeleteDir(ctx context.Context, name string) error {
	page, err := s.List(ctx, store.PageRequest{Prefix: name + "/", Limit: 1})
	if err != nil {
		return err
	}
	if err := s.Store.DeleteDir(ctx, name); !errors.Is(err, fs.ErrNotExist) && (err != nil || len(page.Entries) > 0) {
		return err
	}
	if len(page.Entries) > 0 {
		return nil
	}
	return fs.ErrNotExist
}

func TestRetryGivesUpWithTheCause(t *testing.T) {
	faults := store.NewFaults(func(store.Call) store.Injection { return store.Injection{Err: store.ErrThrottled} })
	s := store.Retry(faults.Wrap(mem.New(mem.Options{})), noPause(5))
	if _, err := s.List(t.Context(), store.PageRequest{}); !errors.Is(err, store.ErrThrottled) || faults.Calls() != 5 {
		t.Errorf("%v after %d calls", err, faults.Calls())
	}
}

func TestRetryLeavesFinalErrorsAlone(t *testing.T) {
	for _, final := range []error{fs.ErrNotExist, fs.ErrExist, fs.ErrPermission, store.ErrChanged, store.ErrUnsupported, errors.New("odd"), context.Canceled} {
		faults := store.NewFaults(func(store.Call) store.Injection { return store.Injection{Err: final} })
		s := store.Retry(faults.Wrap(mem.New(mem.Options{})), noPause(5))
		if _, err := s.Stat(t.Context(), "f"); !errors.Is(err, final) || faults.Calls() != 1 {
			t.Errorf("%v after %d calls", err, faults.Calls())
		}
	}
}

func TestRetryPausesGrowWithFullJitter(t *testing.T) {
	var pauses []time.Duration
	s := store.Retry(store.NewFaults(func(store.Call) store.Injection { return store.Injection{Err: errFlaky} }).Wrap(mem.New(mem.Options{})), store.RetryOptions{
		Attempts: 6, Base: 100 * time.Millisecond, Cap: 500 * time.Millisecond, Jitter: func() float64 { return 0.5 },
		Sleep: func(_ context.Context, d time.Duration) error { pauses = append(pauses, d); return nil },
	})
	if _, err := s.Stat(t.Context(), "f"); err == nil {
		t.Fatal("no error")
	}
	if got := fmt.Sprint(pauses); got != "[50ms 100ms 200ms 250ms 250ms]" {
		t.Error(got)
	}
}

func TestRetryEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	faults := store.NewFaults(func(store.Call) store.Injection { cancel(); return store.Injection{Err: errFlaky} })
	s := store.Retry(faults.Wrap(mem.New(mem.Options{})), store.RetryOptions{Base: time.Hour, Cap: time.Hour})
	if _, err := s.Stat(ctx, "f"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestRetryOwnsWhatItsLostAttemptWrote(t *testing.T) {
	for _, rival := range []bool{false, true} {
		m := mem.New(mem.Options{})
		faults := store.NewFaults(store.FailNth(1, store.Injection{Err: errFlaky, When: store.After}))
		if rival {
			m.Put("f", []byte("rival"), time.Time{})
		}
		err := store.Retry(faults.Wrap(m), noPause(3)).PutIfAbsent(t.Context(), "f", []byte("ours"))
		if rival != errors.Is(err, fs.ErrExist) || !rival && err != nil {
			t.Errorf("rival %v: %v", rival, err)
		}
	}
}

// failing fails chosen keys of a delete a number of times.
type failing struct {
	store.Store
	left    map[string]int
	batches []int
}

func (f *failing) Delete(ctx context.Context, targets []store.Target) ([]store.Outcome, error) {
	f.batches = append(f.batches, len(targets))
	var outcomes []store.Outcome
	for _, t := range targets {
		if f.left[t.Name] > 0 {
			f.left[t.Name]--
			outcomes = append(outcomes, store.Outcome{Target: t, Err: store.ErrThrottled})
			continue
		}
		o, err := f.Store.Delete(ctx, []store.Target{t})
		if err != nil {
			return nil, err
		}
		outcomes = append(outcomes, o...)
	}
	return outcomes, nil
}

func TestRetryRepeatsOnlyFailedKeysOfABatch(t *testing.T) {
	m := mem.New(mem.Options{})
	var targets []store.Target
	for i := range 10 {
		name := fmt.Sprint("f", i)
		m.Put(name, nil, time.Time{})
		targets = append(targets, store.Target{Name: name})
	}
	f := &failing{Store: m, left: map[string]int{"f2": 1, "f5": 2, "f7": 99}}
	outcomes, err := store.Retry(f, noPause(4)).Delete(t.Context(), targets)
	if err != nil {
		t.Fatal(err)
	}
	for i, o := range outcomes {
		if o.Target != targets[i] || errors.Is(o.Err, store.ErrThrottled) != (i == 7) || i != 7 && o.Err != nil {
			t.Errorf("%d: %+v", i, o)
		}
	}
	if got := fmt.Sprint(f.batches); got != "[10 3 2 1 1 1]" {
		t.Error(got)
	}
}

// A listing that repeats its pages by itself sees each refusal, and slows down by it.
func TestRetryLeavesOnceToTheCaller(t *testing.T) {
	faults := store.NewFaults(store.FailNth(1, store.Injection{Err: store.ErrThrottled}))
	s := store.Retry(faults.Wrap(mem.New(mem.Options{})), noPause(4))
	if _, err := s.List(t.Context(), store.PageRequest{Once: true}); !errors.Is(err, store.ErrThrottled) {
		t.Error(err)
	}
	faults = store.NewFaults(store.FailNth(1, store.Injection{Err: store.ErrThrottled}))
	s = store.Retry(faults.Wrap(mem.New(mem.Options{})), noPause(4))
	if _, err := s.List(t.Context(), store.PageRequest{}); err != nil {
		t.Error(err)
	}
}

func TestMeterCounts(t *testing.T) {
	m := mem.New(mem.Options{})
	faults := store.NewFaults(store.FailNth(2, store.Injection{Err: store.ErrThrottled}))
	var meter store.Meter
	s := meter.Wrap(faults.Wrap(m))
	m.Put("a", []byte("12345"), time.Time{})
	m.Put("b", nil, time.Time{})
	for range 2 {
		_, _ = s.List(t.Context(), store.PageRequest{})
	}
	r, err := s.Open(t.Context(), "a", 1, 3)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(r); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Delete(t.Context(), []store.Target{{Name: "a"}, {Name: "nope"}}); err != nil {
		t.Fatal(err)
	}
	want := store.Usage{
		List: store.Count{Requests: 2, Failed: 1, Throttled: 1, Entries: 2}, Open: store.Count{Requests: 1, Bytes: 3},
		Delete: store.Count{Requests: 1, Entries: 1},
	}
	if got := meter.Usage(); got != want {
		t.Errorf("%+v", got)
	}
}

func TestTraceLogsCalls(t *testing.T) {
	var log bytes.Buffer
	s := store.Trace(mem.New(mem.Options{}), slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	if _, err := s.Stat(t.Context(), "no such"); err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{`op=stat`, `name="no such"`, "error="} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("no %s in %s", want, log.String())
		}
	}
}

func TestFaultsKillAndHalve(t *testing.T) {
	m := mem.New(mem.Options{})
	var targets []store.Target
	for i := range 4 {
		m.Put(fmt.Sprint(i), nil, time.Time{})
		targets = append(targets, store.Target{Name: fmt.Sprint(i)})
	}
	s := store.NewFaults(store.FailNth(2, store.Injection{Kill: true, When: store.Half})).Wrap(m)
	if _, err := s.Stat(t.Context(), "0"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Delete(t.Context(), targets); !errors.Is(err, store.ErrKilled) {
		t.Error(err)
	}
	if _, err := s.Stat(t.Context(), "3"); !errors.Is(err, store.ErrKilled) {
		t.Error(err)
	}
	if got := fmt.Sprint(m.Names()); got != "[2 3]" {
		t.Errorf("left: %s", got)
	}
}

func TestConfinedWriterStaysInItsFolder(t *testing.T) {
	m := mem.New(mem.Options{})
	m.Put("data", nil, time.Time{})
	w := store.Confine(m, "_delta_log")
	if err := w.PutIfAbsent(t.Context(), "_delta_log/_sidecars/x", nil); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"", "data", "_delta_log", "_delta_log/", "_delta_logs/x", "_delta_log/../data", "_delta_log//x", "_delta_log/./x", "/_delta_log/x", `_delta_log/..\data`, "_delta_log/x/"} {
		if err := w.Remove(t.Context(), name, ""); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("remove %q: %v", name, err)
		}
		if err := w.PutIfAbsent(t.Context(), name, nil); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("create %q: %v", name, err)
		}
		if _, err := w.Replace(t.Context(), name, nil, ""); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("replace %q: %v", name, err)
		}
	}
	if err := (store.MetaWriter{}).PutIfAbsent(t.Context(), "x", nil); err == nil {
		t.Error("the zero writer writes")
	}
	if err := store.Confine(m, "").PutIfAbsent(t.Context(), "/x", nil); err == nil {
		t.Error("a writer of the root writes")
	}
	if got := fmt.Sprint(m.Names()); got != "[_delta_log/_sidecars/x data]" {
		t.Error(got)
	}
}

func TestRegistryOpensByClassAndHidesWriting(t *testing.T) {
	m := mem.New(mem.Options{})
	r := store.Registry{
		Classes: map[string]store.OpenFunc{"s3": func(context.Context, lake.Root) (store.Store, error) { return m, nil }},
		Wrap:    func(_ lake.Root, s store.Store) store.Store { return new(store.Meter).Wrap(s) },
	}
	reader, err := r.OpenReader(t.Context(), lake.Root{Scheme: "s3a", Authority: "b", Path: "t"})
	if err != nil {
		t.Fatal(err)
	}
	for what, ok := range map[string]bool{
		"Writer": is[store.Writer](reader), "Deleter": is[store.Deleter](reader), "Store": is[store.Store](reader), "Unwrap": is[interface{ Unwrap() store.Store }](reader),
	} {
		if ok {
			t.Errorf("a reader is a %s", what)
		}
	}
	s, err := r.OpenStore(t.Context(), lake.Root{Scheme: "s3", Authority: "b", Path: "t"})
	if err != nil || store.Unwrap(s) != store.Store(m) {
		t.Error(err)
	}
	if _, err := r.OpenReader(t.Context(), lake.Root{Scheme: "gs", Authority: "b", Path: "t"}); lake.KindOf(err) != lake.Invalid {
		t.Error(err)
	}
}

func is[T any](v any) bool { _, ok := v.(T); return ok }

// What a read-only file system answers is a lack of permission, and final.
func TestReadOnlyFileSystemsDeny(t *testing.T) {
	err := store.Fail("create", lake.Root{Scheme: "file", Path: "t"}, "x", &fs.PathError{Op: "open", Path: "x", Err: syscall.EROFS})
	if lake.KindOf(err) != lake.Denied || lake.HintOf(err) == "" || store.Retryable(err) {
		t.Errorf("%v (%v), retryable %v", err, lake.KindOf(err), store.Retryable(err))
	}
}
