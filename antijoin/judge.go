package antijoin

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/keyset"
	"github.com/lakesweep/lakesweep/store"
)

// judge decides about one object, in the order of doubts: what it may not be,
// who needs it, where it belongs, how old it is.
func (j *Join) judge(ctx context.Context, k lake.Key, o *store.Info, need keyset.Found, t *tally) error {
	if root, ok := foreignRoot(k, o.Kind == store.Dir || o.Kind == store.Marker); ok {
		j.Foreign(root)
	}
	if j.o.Inside != nil && strings.HasPrefix(string(k), "_delta_log/") && strings.HasSuffix(string(k), ".json") {
		j.whole.Store(true)
	}
	switch {
	case o.Kind != store.File || k == "":
		return nil
	case j.foreign.holds(k):
		j.spare(k, &t.foreign)
		return nil
	case j.o.Hidden(k):
		return nil
	case need.Has:
		if need.First || !j.o.Repeats {
			t.candidates++
			t.protected++
		}
		return nil
	case j.o.Absent != nil && j.o.Absent(k):
		return nil
	}
	if j.o.Match != nil {
		switch j.o.Match(k) {
		case True:
		case False:
			j.spare(k, &t.candidates, &t.unmatched)
			return nil
		default:
			j.spare(k, &t.candidates, &t.unknown)
			return nil
		}
	}
	return j.age(ctx, k, o, t)
}

// spare counts an object that isn't dead. Where it may come again, further rows
// of it don't count, and none of them lets it die.
func (j *Join) spare(k lake.Key, counts ...*int64) {
	if j.spared != nil && !j.spared.AddNew(k) {
		return
	}
	for _, n := range counts {
		*n++
	}
}

// age decides about an object that nothing but its youth can protect.
func (j *Join) age(ctx context.Context, k lake.Key, o *store.Info, t *tally) error {
	if o.Modified.IsZero() && j.o.Stat != nil {
		now, err := j.o.Stat(ctx, o.Name)
		switch {
		case errors.Is(err, fs.ErrNotExist) || err == nil && now.Kind != store.File:
			return nil
		case err != nil:
			return &lake.Error{Op: "stat candidate", Key: k, Kind: lake.KindOf(err), Err: err}
		}
		o = &now
	}
	why := j.o.Reason(k)
	switch {
	case o.Modified.IsZero():
		j.spare(k, &t.candidates, &t.unknown)
		return nil
	case !j.old(o.Modified), !why.Time.IsZero() && !why.Time.Before(j.o.Cutoff):
		j.spare(k, &t.candidates, &t.young)
		return nil
	}
	t.candidates++
	size := max(o.Size, -1)
	t.count(why.Reason, 1, max(size, 0))
	t.dead = append(t.dead, lake.Verdict{Key: k, Size: size, Modified: o.Modified, Reason: why.Reason,
		Partition: why.Partition, Tombstone: why.Time, ETag: o.ETag})
	return nil
}

// old reports whether an object modified at the time, or up to the store's
// resolution later, was there before the cutoff and before the inventory's scan.
func (j *Join) old(modified time.Time) bool {
	latest := modified.Add(j.o.Grain)
	return modified.Before(j.o.Cutoff) && !latest.After(j.o.Cutoff) &&
		(j.o.NotAfter.IsZero() || !modified.After(j.o.NotAfter))
}

// protected reports whether the set holds k in any form that is the same
// object in the store, and whether it comes for the first time. It marks each
// form as seen.
func (j *Join) protected(k lake.Key) (has, first bool) {
	has, first = j.o.Protected.MarkFirst(k)
	if j.o.CaseFolds {
		hasFolded, firstFolded := j.o.Protected.MarkFirst(k.Fold())
		has, first = has || hasFolded, first || firstFolded
	}
	return has, first
}

// protectedAll is protected of many keys. Seen is seen, whatever else an object
// is: the guards count live files by it.
func (j *Join) protectedAll(keys []lake.Key, needs []keyset.Found) {
	if !j.o.CaseFolds {
		j.o.Protected.MarkAll(keys, needs)
		return
	}
	for i, k := range keys {
		needs[i].Has, needs[i].First = j.protected(k)
	}
}

// needed reports whether the set holds a directory's name.
func (j *Join) needed(dir lake.Key) bool {
	has, _ := j.protected(dir)
	return has
}
