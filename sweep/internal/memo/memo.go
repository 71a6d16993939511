// Package memo remembers what was worked out for the directories seen last.
package memo

import (
	"sync"

	"github.com/lakesweep/lakesweep/lake"
)

// most bounds how many directories are remembered.
const most = 4096

// ByDir remembers the answers of f for the directories seen last: keys come
// grouped by directory. The function that it returns is safe for concurrent
// use if f is.
func ByDir[V any](f func(dir lake.Key) V) func(dir lake.Key) V {
	var mu sync.RWMutex
	known := make(map[lake.Key]V)
	return func(k lake.Key) V {
		mu.RLock()
		v, ok := known[k]
		mu.RUnlock()
		if ok {
			return v
		}
		v = f(k)
		mu.Lock()
		defer mu.Unlock()
		if len(known) >= most {
			clear(known)
		}
		known[lake.Key(append([]byte(nil), k...))] = v
		return v
	}
}
