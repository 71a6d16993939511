package file

import (
	"context"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lock"
	"github.com/lakesweep/lakesweep/store/mem"
)

func provider(s *mem.Store, owner string, now time.Time, slept *int, meanwhile func()) *Provider {
	return New(s, Options{Dir: ".hoodie", Expire: time.Hour, Owner: owner, Now: func() time.Time { return now }, Wait: lock.Wait{Attempts: 3,
		Sleep: func(context.Context, time.Duration) error {
			*slept++
			if meanwhile != nil {
				meanwhile()
			}
			return nil
		}}})
}

func TestOneHolderAtATime(t *testing.T) {
	ctx, now, slept := t.Context(), time.Now(), 0
	s := mem.New(mem.Options{Now: func() time.Time { return now }})
	a, err := provider(s, "a", now, &slept, nil).Acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := provider(s, "b", now, &slept, nil).Acquire(ctx); lake.KindOf(err) != lake.Locked || slept != 2 {
		t.Errorf("a second holder: %v after %d pauses", err, slept)
	}
	b, err := provider(s, "b", now, &slept, func() {
		if err := a.Release(ctx); err != nil {
			t.Fatal(err)
		}
	}).Acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Verify(ctx); lake.KindOf(err) != lake.Locked {
		t.Errorf("a released lease verifies: %v", err)
	}
	if err := a.Release(ctx); lake.KindOf(err) != lake.Locked {
		t.Errorf("releases another's lock: %v", err)
	}
	if err := b.Verify(ctx); err != nil {
		t.Error(err)
	}
}

// Hudi's own clients delete the file without asking whose it is.
func TestALockThatHudiRemovedIsLost(t *testing.T) {
	ctx, now, slept := t.Context(), time.Now(), 0
	s := mem.New(mem.Options{})
	l, err := provider(s, "a", now, &slept, nil).Acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range []func() error{
		func() error { return s.Remove(ctx, ".hoodie/lock", "") },
		func() error { return s.PutIfAbsent(ctx, ".hoodie/lock", nil) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if err := l.Verify(ctx); lake.KindOf(err) != lake.Locked {
			t.Errorf("still verifies: %v", err)
		}
	}
}

// Hudi's own file is empty, and ours is for a moment where a store creates a
// file before it is written: somebody's, until it expires.
func TestAnEmptyLockIsSomebodys(t *testing.T) {
	made, slept := time.Now(), 0
	s := mem.New(mem.Options{})
	s.Put(".hoodie/lock", nil, made)
	if _, err := provider(s, "b", made.Add(time.Hour-1), &slept, nil).Acquire(t.Context()); lake.KindOf(err) != lake.Locked {
		t.Errorf("an empty lock: %v", err)
	}
	if _, err := provider(s, "b", made.Add(time.Hour), &slept, nil).Acquire(t.Context()); err != nil {
		t.Errorf("an expired one: %v", err)
	}
}

func TestAnExpiredLockIsTakenOver(t *testing.T) {
	ctx, now, slept := t.Context(), time.Now(), 0
	s := mem.New(mem.Options{Now: func() time.Time { return now }})
	s.Put(".hoodie/lock", nil, now.Add(-59*time.Minute))
	if _, err := provider(s, "a", now, &slept, nil).Acquire(ctx); lake.KindOf(err) != lake.Locked {
		t.Errorf("takes a lock that is not expired: %v", err)
	}
	s.Put(".hoodie/lock", nil, now.Add(-time.Hour))
	if _, err := provider(s, "a", now, &slept, nil).Acquire(ctx); err != nil {
		t.Error(err)
	}
}
