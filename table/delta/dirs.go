package delta

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table/delta/checkpoint"
)

// maxDirs bounds the pairs of partition values and directories.
const maxDirs = 500_000

// dirTable collects in which directories files of which partition values lie.
// Safe for concurrent use through caches of its own.
type dirTable struct {
	mu   sync.Mutex
	dirs map[dirPair]struct{}
	full bool
}

type dirPair struct {
	values int32
	dir    lake.Key
}

func newDirTable() *dirTable { return &dirTable{dirs: map[dirPair]struct{}{}} }

// dirCache remembers the last pair, since neighbours mostly share theirs.
type dirCache struct {
	table *dirTable
	last  dirPair
	any   bool
}

func (t *dirTable) cache() *dirCache { return &dirCache{table: t} }

func (c *dirCache) add(values int32, k lake.Key) {
	pair := dirPair{values, k.Dir()}
	if c.any && pair == c.last {
		return
	}
	pair.dir = lake.Key(strings.Clone(string(pair.dir))) // not the whole key
	c.last, c.any = pair, true
	c.table.mu.Lock()
	defer c.table.mu.Unlock()
	if len(c.table.dirs) < maxDirs {
		c.table.dirs[pair] = struct{}{}
	} else if _, ok := c.table.dirs[pair]; !ok {
		c.table.full = true
	}
}

// list returns the directories by partition values, nil if there were too many.
func (t *dirTable) list(parts *checkpoint.Partitions) []PartitionDirs {
	if t.full {
		return nil
	}
	byValues := map[int32][]lake.Key{}
	for pair := range t.dirs {
		byValues[pair.values] = append(byValues[pair.values], pair.dir)
	}
	out := []PartitionDirs{}
	for values, dirs := range byValues {
		slices.Sort(dirs)
		out = append(out, PartitionDirs{parts.Tuple(values), dirs})
	}
	slices.SortFunc(out, func(a, b PartitionDirs) int {
		return cmp.Or(slices.Compare(a.Dirs, b.Dirs), comparePartitions(a.Values, b.Values))
	})
	return out
}
