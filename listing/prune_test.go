package listing

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/mem"
)

// TestPrunedWalkFindsAllThatIsWanted lists random trees with random wishes.
func TestPrunedWalkFindsAllThatIsWanted(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		all := names(rt)
		salt := rapid.Uint64().Draw(rt, "salt")
		wants := func(dir string) bool { // of the directory itself, without those around it
			h := salt
			for i := range dir {
				h = mix(h ^ uint64(dir[i]))
			}
			return h%3 > 0
		}
		reach := func(dir string) Reach {
			whole := false
			for i, c := range dir + "/" {
				if c == '/' {
					if !wants(dir[:i]) {
						return Nothing
					}
					whole = whole || wants(dir[:i]+"!")
				}
			}
			if whole {
				return Whole
			}
			return Part
		}
		wanted := func(name string) bool { // all directories above it, unless one is wanted whole
			for i, c := range name {
				if c == '/' {
					switch reach(name[:i]) {
					case Nothing:
						return false
					case Whole:
						return true
					}
				}
			}
			return true
		}
		traits := mem.Default()
		traits.PageSize = rapid.SampledFrom([]int{1, 2, 10, 1000}).Draw(rt, "page")
		traits.StartAfter = rapid.Bool().Draw(rt, "start")
		s := filled(mem.Options{Traits: traits}, all)
		var got collector
		o := Options{Workers: 4, Reach: func(dir string) Reach {
			// Whole also means what lies below a whole directory.
			for i, c := range dir {
				if c == '/' && reach(dir[:i]) == Whole {
					return Whole
				}
			}
			return reach(dir)
		}, Expected: int64(rapid.SampledFrom([]int{0, 1, len(all), 100000}).Draw(rt, "expected"))}
		for _, n := range all { // the log knows some of the files
			if !strings.HasSuffix(n, "/") && rapid.IntRange(0, 3).Draw(rt, "known") > 0 {
				o.Seeds = append(o.Seeds, n)
			}
		}
		_, err := Walk(t.Context(), s, o, func(batch []store.Info) error {
			return got.emit(slices.DeleteFunc(slices.Clone(batch), func(e store.Info) bool { return e.Kind == store.Dir }))
		})
		if err != nil {
			rt.Fatal(err)
		}
		got.sorted()
		for i, n := range got.names {
			if i > 0 && n == got.names[i-1] {
				rt.Fatalf("%q came twice", n)
			}
			if _, ok := slices.BinarySearch(all, n); !ok {
				rt.Fatalf("%q doesn't exist", n)
			}
		}
		for _, n := range all {
			if strings.HasSuffix(n, "/") {
				continue // the placeholder of a directory isn't below it
			}
			if _, ok := slices.BinarySearch(got.names, n); !ok && wanted(n) {
				rt.Fatalf("%q is missing in %q", n, got.names)
			}
		}
	})
}

// TestPruningListsLittle lists one partition of 48, by the outer or the inner
// level, and alternating small ones.
func TestPruningListsLittle(t *testing.T) {
	partitioned := func(dirs, files int, name func(d int) string) *simulated {
		return &simulated{n: dirs * files, pageSize: 100, key: func(i int) string {
			return fmt.Sprintf("%s/%s", name(i/files), file(i%files))
		}}
	}
	part := func(match func(string) bool, depth int) func(string) Reach {
		return func(dir string) Reach {
			switch {
			case !match(dir):
				return Nothing
			case strings.Count(dir, "/") == depth-1:
				return Whole
			}
			return Part
		}
	}
	for name, c := range map[string]struct {
		s     *simulated
		reach func(string) Reach
		most  int64 // requests
	}{
		"one of 48 that nobody knows of": {partitioned(48, 1000, func(d int) string { return fmt.Sprintf("day=%02d", d) }),
			part(func(dir string) bool { return dir == "day=17" }, 1), 48 + 10 + 4*8},
		"one of 48": {partitioned(48, 1000, func(d int) string { return fmt.Sprintf("day=%02d", d) }),
			part(func(dir string) bool { return dir == "day=17" }, 1), 480 / 24},
		"inner level": {partitioned(48, 1000, func(d int) string { return fmt.Sprintf("y=%d/m=%02d", d/12, d%12) }),
			part(func(dir string) bool { return !strings.Contains(dir, "m=") || strings.HasSuffix(dir, "m=03") }, 2), 480/12 + 16},
		"small and alternating": {partitioned(2000, 5, func(d int) string { return fmt.Sprintf("id=%04d", d) }),
			part(func(dir string) bool { return strings.ContainsAny(dir[len(dir)-1:], "02468") }, 1), 110},
		"all": {partitioned(48, 1000, func(d int) string { return fmt.Sprintf("day=%02d", d) }),
			part(func(string) bool { return true }, 1), 500},
		"nothing": {partitioned(48, 1000, func(d int) string { return fmt.Sprintf("day=%02d", d) }),
			part(func(string) bool { return false }, 1), 1},
	} {
		c.s.latency = time.Nanosecond
		o := Options{Workers: 4, Reach: c.reach, Expected: int64(c.s.n), PerSeed: 8}
		for i := 0; i < c.s.n && !strings.HasSuffix(name, "nobody knows of"); i += 8 {
			o.Seeds = append(o.Seeds, c.s.key(i))
		}
		_, st, err := listed(t, c.s, o)
		if err != nil || c.s.requests.Load() > c.most {
			t.Errorf("%s: %d requests, want at most %d (%v): %+v", name, c.s.requests.Load(), c.most, err, st)
		}
	}
}

func TestExceptLeavesOutDirectories(t *testing.T) {
	all := []string{"_delta_log/0.json", "_delta_log/x/y", "_delta_log0", "_delta_lo", "a", "z", "m/n"}
	s := filled(mem.Options{}, all)
	var got collector
	if _, err := Walk(t.Context(), s, Options{Within: Except("_delta_log", "m")}, got.emit); err != nil {
		t.Fatal(err)
	}
	if want := []string{"_delta_lo", "_delta_log0", "a", "z"}; !slices.Equal(got.sorted(), want) {
		t.Errorf("got %q, want %q", got.names, want)
	}
}
