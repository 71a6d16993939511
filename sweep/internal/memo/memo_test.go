package memo_test

import (
	"fmt"
	"testing"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/sweep/internal/memo"
)

func TestADirectoryIsWorkedOutOnce(t *testing.T) {
	asked := map[lake.Key]int{}
	length := memo.ByDir(func(dir lake.Key) int { asked[dir]++; return len(dir) })
	for range 3 {
		for _, dir := range []lake.Key{"", "a", "a/b"} {
			if got := length(dir); got != len(dir) {
				t.Errorf("%q: got %d", dir, got)
			}
		}
	}
	if len(asked) != 3 || asked["a"] != 1 {
		t.Errorf("asked %v", asked)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	asked := 0
	f := memo.ByDir(func(lake.Key) bool { asked++; return true })
	const many = 10_000
	for range 2 {
		for i := range many {
			f(lake.Key(fmt.Sprint(i)))
		}
	}
	if asked != 2*many {
		t.Errorf("worked out %d of %d: more directories are remembered than fit", asked, 2*many)
	}
}
