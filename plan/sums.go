package plan

import (
	"fmt"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
)

// sums are the totals of rows that pass in order.
type sums struct {
	byReason        map[string]filelist.Count
	dead, deadBytes int64
	directories     int64
	last            string
	started         bool

	oldest, youngest time.Time // of the files whose time is known
}

// add counts a row. A row twice, or out of order, is no plan's.
func (s *sums) add(v *lake.Verdict) error {
	path := string(v.Key) + v.URI
	switch {
	case (v.Key == "") == (v.URI == ""):
		return fmt.Errorf("a row with the key %q and the URI %q", v.Key, v.URI)
	case s.started && path <= s.last:
		return fmt.Errorf("row %q after %q", path, s.last)
	}
	s.started, s.last = true, path
	if v.Directory {
		s.directories++
		return nil
	}
	if s.byReason == nil {
		s.byReason = make(map[string]filelist.Count)
	}
	if !v.Modified.IsZero() {
		if s.oldest.IsZero() || v.Modified.Before(s.oldest) {
			s.oldest = v.Modified
		}
		if v.Modified.After(s.youngest) {
			s.youngest = v.Modified
		}
	}
	n := s.byReason[string(v.Reason)]
	n.Objects++
	n.Bytes += max(v.Size, 0)
	s.byReason[string(v.Reason)] = n
	s.dead++
	s.deadBytes += max(v.Size, 0)
	return nil
}

// match compares with what the head says.
func (s *sums) match(t *filelist.Totals) error {
	if t.Dead != s.dead || t.DeadBytes != s.deadBytes || t.DeadDirectories != s.directories {
		return fmt.Errorf("the head counts %d dead files of %d bytes and %d directories, the rows %d, %d and %d",
			t.Dead, t.DeadBytes, t.DeadDirectories, s.dead, s.deadBytes, s.directories)
	}
	for reason, n := range t.ByReason {
		if n != s.byReason[reason] {
			return fmt.Errorf("the head counts %d objects of reason %s, the rows %d", n.Objects, reason, s.byReason[reason].Objects)
		}
	}
	for reason := range s.byReason {
		if _, ok := t.ByReason[reason]; !ok {
			return fmt.Errorf("rows of reason %s, which the head doesn't count", reason)
		}
	}
	return nil
}
