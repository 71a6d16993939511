package listing

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/mem"
)

// troubled is a store whose listings take time and fail as they are told to.
type troubled struct {
	store.Reader
	calls atomic.Int64
	list  func(call int64, req store.PageRequest) error // what becomes of a call; nil lets it through
}

func (f *troubled) List(ctx context.Context, req store.PageRequest) (store.Page, error) {
	call := f.calls.Add(1)
	time.Sleep(10 * time.Millisecond)
	if err := ctx.Err(); err != nil {
		return store.Page{}, err
	}
	if f.list != nil {
		if err := f.list(call, req); err != nil {
			return store.Page{}, err
		}
	}
	return f.Reader.List(ctx, req)
}

// listed walks r in virtual time and returns what it emitted. Goroutines that
// outlive the walk fail the test.
func listed(t *testing.T, r store.Reader, o Options) (names []string, st Stats, err error) {
	synctest.Test(t, func(t *testing.T) {
		var got collector
		st, err = Walk(t.Context(), r, o, got.emit)
		names = got.sorted()
	})
	return names, st, err
}

var transient = []error{store.ErrThrottled, store.ErrTruncated, errors.New("connection reset"),
	&lake.Error{Kind: lake.Transient, Err: errors.New("500")}}

// TestWalkGetsThroughFaults lists random names while calls fail now and then.
func TestWalkGetsThroughFaults(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		want := names(rt)
		traits := mem.Default()
		traits.PageSize = rapid.SampledFrom([]int{1, 3, 20}).Draw(rt, "page")
		traits.StartAfter = rapid.Bool().Draw(rt, "start")
		seed := rapid.Uint64().Draw(rt, "faults")
		f := &troubled{Reader: filled(mem.Options{Traits: traits}, want), list: func(call int64, _ store.PageRequest) error {
			if n := mix(seed + uint64(call)); n%5 == 0 {
				return transient[n/5%uint64(len(transient))]
			}
			return nil
		}}
		got, st, err := listed(t, f, Options{Workers: rapid.IntRange(0, 6).Draw(rt, "workers")})
		if !traits.StartAfter {
			got = slices.DeleteFunc(got, func(n string) bool { return strings.HasSuffix(n, "/") && !slices.Contains(want, n) })
			got = slices.Compact(got)
		}
		if err != nil {
			if lake.KindOf(err) != lake.Transient {
				rt.Fatalf("%v: kind %v", err, lake.KindOf(err))
			}
			return // so many faults in a row that it gave up
		}
		if !slices.Equal(got, want) {
			rt.Fatalf("got %q\nwant %q", got, want)
		}
		if st.Throttled+st.Retried == 0 && st.Requests > 100 {
			rt.Fatalf("no fault was met: %+v", st)
		}
	})
}

// TestWalkFailsAtEveryCall lets the n-th call and all later ones fail for good,
// for every n: the walk never claims to be complete.
func TestWalkFailsAtEveryCall(t *testing.T) {
	var want []string
	for i := range 300 {
		want = append(want, fmt.Sprintf("p=%d/f%03d", i/30, i))
	}
	for _, start := range []bool{true, false} {
		traits := mem.Default()
		traits.PageSize, traits.StartAfter = 10, start
		s := filled(mem.Options{Traits: traits}, want)
		for n := int64(1); ; n++ {
			f := &troubled{Reader: s, list: func(call int64, _ store.PageRequest) error {
				if call >= n {
					return fmt.Errorf("call %d: %w", call, fs.ErrPermission)
				}
				return nil
			}}
			got, _, err := listed(t, f, Options{Workers: 3})
			if err == nil {
				if f.calls.Load() >= n || len(got) < len(want) {
					t.Fatalf("complete after %d calls with %d names, though call %d failed", f.calls.Load(), len(got), n)
				}
				break
			}
			if !errors.Is(err, fs.ErrPermission) || lake.KindOf(err) != lake.Denied || lake.HintOf(err) == "" {
				t.Fatalf("call %d: %v (kind %v, hint %q)", n, err, lake.KindOf(err), lake.HintOf(err))
			}
		}
	}
}

// TestErrorNamesTheRange checks that an error tells where the listing broke.
func TestErrorNamesTheRange(t *testing.T) {
	s := filled(mem.Options{}, []string{"a/1", "b/1"})
	_, _, err := listed(t, &troubled{Reader: s, list: func(int64, store.PageRequest) error { return fs.ErrPermission }}, Options{Within: []Range{Below("b")}})
	if err == nil || !strings.Contains(err.Error(), `after "b/" up to "b0"`) {
		t.Errorf("%v doesn't name the range", err)
	}
	traits := mem.Default()
	traits.Flat = false
	s = filled(mem.Options{Traits: traits}, []string{"a/1", "b/1"})
	_, _, err = listed(t, &troubled{Reader: s, list: func(_ int64, req store.PageRequest) error {
		if req.Prefix == "b/" {
			return fs.ErrPermission
		}
		return nil
	}}, Options{})
	if err == nil || !strings.Contains(err.Error(), `directory "b"`) {
		t.Errorf("%v doesn't name the directory", err)
	}
}

// TestWalkEndsWhenCancelled cancels at every call and wants an end within the
// time of one page, with no goroutine left.
func TestWalkEndsWhenCancelled(t *testing.T) {
	var all []string
	for i := range 200 {
		all = append(all, fmt.Sprintf("p=%d/f%03d", i/20, i))
	}
	for _, start := range []bool{true, false} {
		traits := mem.Default()
		traits.PageSize, traits.StartAfter = 5, start
		s := filled(mem.Options{Traits: traits}, all)
		for n := int64(1); n < 30; n += 4 {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var at time.Time
				f := &troubled{Reader: s, list: func(call int64, _ store.PageRequest) error {
					if call == n {
						at = time.Now()
						cancel()
					}
					return nil
				}}
				var got collector
				_, err := Walk(ctx, f, Options{Workers: 4}, got.emit)
				if !errors.Is(err, context.Canceled) || lake.KindOf(err) != lake.Interrupted {
					t.Errorf("call %d: %v (kind %v)", n, err, lake.KindOf(err))
				}
				if late := time.Since(at); late > 10*time.Millisecond {
					t.Errorf("call %d: ended %v after it was cancelled", n, late)
				}
			})
		}
	}
}

// TestEmitErrorEndsTheWalk returns the error of the caller.
func TestEmitErrorEndsTheWalk(t *testing.T) {
	mine := errors.New("disk full")
	for _, start := range []bool{true, false} {
		traits := mem.Default()
		traits.PageSize, traits.StartAfter = 1, start
		s := filled(mem.Options{Traits: traits}, []string{"a", "b/c", "d"})
		if _, err := Walk(t.Context(), s, Options{}, func([]store.Info) error { return mine }); !errors.Is(err, mine) {
			t.Errorf("start keys %v: %v", start, err)
		}
	}
}

// deaf ignores start keys, as some servers do.
type deaf struct{ store.Reader }

func (d deaf) List(ctx context.Context, req store.PageRequest) (store.Page, error) {
	req.After = ""
	return d.Reader.List(ctx, req)
}

// TestServerThatIgnoresStartKeys is listed page after page, each name once.
func TestServerThatIgnoresStartKeys(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		want := names(rt)
		traits := mem.Default()
		traits.PageSize = rapid.SampledFrom([]int{1, 3, 20}).Draw(rt, "page")
		s := filled(mem.Options{Traits: traits}, want)
		var within []Range
		if rapid.Bool().Draw(rt, "within") {
			within = []Range{{Before: "b"}, {After: "c", Before: "é"}}
			want = slices.DeleteFunc(want, func(n string) bool { return !within[0].holds(n) && !within[1].holds(n) })
		}
		got, _, err := listed(t, &troubled{Reader: deaf{s}}, Options{Workers: 4, Within: within})
		if err != nil || !slices.Equal(got, want) {
			rt.Fatalf("got %q, %v\nwant %q", got, err, want)
		}
	})
}

// shuffled lists out of order, as directory buckets do.
type shuffled struct{ store.Reader }

func (d shuffled) List(ctx context.Context, req store.PageRequest) (store.Page, error) {
	p, err := d.Reader.List(ctx, req)
	rand.Shuffle(len(p.Entries), func(i, j int) { p.Entries[i], p.Entries[j] = p.Entries[j], p.Entries[i] })
	if len(p.Entries) > 1 && p.Entries[0].Name < p.Entries[1].Name {
		p.Entries[0], p.Entries[1] = p.Entries[1], p.Entries[0]
	}
	return p, err
}

func TestUnsortedListingIsRefused(t *testing.T) {
	s := filled(mem.Options{}, []string{"a", "b", "c", "d"})
	_, err := Walk(t.Context(), shuffled{s}, Options{}, func([]store.Info) error { return nil })
	if !errors.Is(err, errOrder) || lake.KindOf(err) != lake.Unsupported {
		t.Errorf("%v (kind %v)", err, lake.KindOf(err))
	}
}

// TestThrottledStoreIsListedInAboutTheTimeItAllows runs into a limit of 200
// requests a second with up to 256 workers.
func TestThrottledStoreIsListedInAboutTheTimeItAllows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 200_000
		s := &simulated{n: n, key: layouts["hive"](n), pageSize: 25, latency: 100 * time.Millisecond, rate: 200}
		start := time.Now()
		var got atomic.Int64
		st, err := Walk(t.Context(), s, Options{}, func(b []store.Info) error { got.Add(int64(len(b))); return nil })
		if err != nil || got.Load() != int64(n) {
			t.Fatal(got.Load(), err)
		}
		ideal, took, share := float64(n)/25/200, time.Since(start).Seconds(), float64(st.Throttled)/float64(st.Requests)
		t.Logf("%.2f of the time, %.2f%% throttled", took/ideal, 100*share)
		if took > 1.5*ideal {
			t.Errorf("took %.1f s, the limit alone %.1f s", took, ideal)
		}
		if share > 0.05 {
			t.Errorf("%.1f%% of the requests were throttled", 100*share)
		}
	})
}
