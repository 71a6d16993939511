package timeline

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
)

// Timeline is the active timeline of a table as one listing showed it.
type Timeline struct {
	Layout   Layout
	Dir      string    // the folder of the instants, relative to the store
	Instants []Instant // in order
	// Strays are temporary files of instants that a crash left, by name.
	Strays []string
	reader store.Reader
}

// Load lists the folder dir of a store.
//
// Memory: some 200 bytes an instant; writers archive beyond a few dozen.
func Load(ctx context.Context, r store.Reader, dir string, layout Layout) (*Timeline, error) {
	entries, err := list(ctx, r, dir)
	if err != nil {
		return nil, err
	}
	t := &Timeline{Layout: layout, Dir: dir, reader: r}
	byKey := make(map[string]int)
	for _, e := range entries {
		name := strings.TrimPrefix(e.Name, dir+"/")
		if e.Kind != store.File {
			continue
		}
		i, ok := ParseName(layout, name)
		if !ok {
			if stray(layout, name) {
				t.Strays = append(t.Strays, strings.Clone(name))
			}
			continue
		}
		i.Time, i.Completion, i.Files[i.State] = strings.Clone(i.Time), strings.Clone(i.Completion), strings.Clone(name)
		if i.Legacy {
			if i.Completion, err = modified(ctx, r, e); err != nil {
				return nil, err
			}
		}
		i.Empty = e.Size == 0 && !r.Traits().NamesFirst
		key := i.Time + string(i.Action.Comparable())
		if at, seen := byKey[key]; seen {
			t.Instants[at] = merge(t.Instants[at], i)
		} else {
			byKey[key] = len(t.Instants)
			t.Instants = append(t.Instants, i)
		}
	}
	slices.SortFunc(t.Instants, Instant.Compare)
	return t, nil
}

// Reload lists the folder of t again.
func (t *Timeline) Reload(ctx context.Context) (*Timeline, error) {
	return Load(ctx, t.reader, t.Dir, t.Layout)
}

// merge joins two files of one instant. Of two completions the later stays.
func merge(a, b Instant) Instant {
	if b.State > a.State || b.State == a.State && b.Completion > a.Completion {
		a, b = b, a
	}
	for s, name := range b.Files {
		if a.Files[s] == "" {
			a.Files[s] = name
		}
	}
	return a
}

// modified is the completion time of a legacy name: its file's time, in UTC.
func modified(ctx context.Context, r store.Reader, e store.Info) (string, error) {
	if e.Modified.IsZero() {
		var err error
		if e, err = r.Stat(ctx, e.Name); err != nil {
			return "", err
		}
	}
	return FormatTime(e.Modified, time.UTC), nil
}

// stray reports a name such as 20260603080000688.clean.requested.<uuid>.
func stray(layout Layout, name string) bool {
	i := strings.LastIndexByte(name, '.')
	if i < 0 || len(name)-i != 37 {
		return false
	}
	_, ok := ParseName(layout, name[:i])
	return ok
}

// Read returns the bytes of an instant's file.
//
// Errors: those of the store; Damaged if the instant has no such file.
func (t *Timeline) Read(ctx context.Context, i Instant, s State) ([]byte, error) {
	if i.Files[s] == "" {
		return nil, &lake.Error{Op: "read timeline", Kind: lake.Damaged, Err: errNoFile(i, s)}
	}
	return readFile(ctx, t.reader, t.Dir+"/"+i.Files[s])
}

// Find returns the instant of a requested time whose comparable action is a's.
func (t *Timeline) Find(time string, a Action) (Instant, bool) {
	for _, i := range t.Instants {
		if i.Time == time && i.Action.Comparable() == a.Comparable() {
			return i, true
		}
	}
	return Instant{}, false
}

// Filter returns the instants that match, in order.
func (t *Timeline) Filter(match func(Instant) bool) []Instant {
	var out []Instant
	for _, i := range t.Instants {
		if match(i) {
			out = append(out, i)
		}
	}
	return out
}

// Writes returns the completed commits, delta commits and replace commits.
func (t *Timeline) Writes() []Instant {
	return t.Filter(func(i Instant) bool { return i.State == Completed && IsWrite(i.Action) })
}

// WriteBefore returns the last completed write before a time, nil if there
// is none.
func (t *Timeline) WriteBefore(time string) (last *Instant) {
	list := t.Writes()
	for i := range list {
		if list[i].Time < time {
			last = &list[i]
		}
	}
	return last
}

// IsWrite reports whether a completes as a commit, delta commit or replace commit.
func IsWrite(a Action) bool {
	switch a.Comparable() {
	case Commit, DeltaCommit, ReplaceCommit:
		return true
	}
	return false
}

// Start is the time before which instants count as archived: that of the first
// write, in any state, that no savepoint holds on the timeline. Where savepoints
// hold them all, as after a restore to the oldest one, it is that of the last:
// what lies between them may be archived too. "" if there is no write.
//
// Source: spec/hudi-clean.md section 2.5.
func (t *Timeline) Start() string {
	held := make(map[string]bool)
	for _, i := range t.Instants {
		if i.Action == Savepoint && i.State == Completed {
			held[i.Time] = true
		}
	}
	last := ""
	for _, i := range t.Instants {
		if !IsWrite(i.Action) {
			continue
		}
		if last = i.Time; !held[last] {
			return last
		}
	}
	return last
}

// LastTime returns the greatest requested or completion time on the timeline.
func (t *Timeline) LastTime() string {
	last := ""
	for _, i := range t.Instants {
		last = max(last, i.Time, i.Completion)
	}
	return last
}
