package storage

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lock"
	"github.com/lakesweep/lakesweep/store/mem"
)

type clock struct{ now time.Time }

func (c *clock) options(owner string) Options {
	return Options{Owner: owner, Now: func() time.Time { return c.now }, Wait: lock.Wait{Attempts: 2, Sleep: func(context.Context, time.Duration) error { return nil }}}
}

func TestLease(t *testing.T) {
	ctx, c, s := t.Context(), &clock{time.UnixMilli(1_000_000)}, mem.New(mem.Options{})
	a, b := New(s, c.options("a")), New(s, c.options("b"))
	la, err := a.Acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Acquire(ctx); lake.KindOf(err) != lake.Locked {
		t.Errorf("a second holder: %v", err)
	}
	c.now = c.now.Add(200 * time.Second)
	if err := la.Verify(ctx); err != nil { // renews
		t.Fatal(err)
	}
	c.now = c.now.Add(299 * time.Second)
	if _, err := b.Acquire(ctx); lake.KindOf(err) != lake.Locked {
		t.Errorf("takes a renewed lock: %v", err)
	}
	c.now = c.now.Add(time.Second)
	if err := la.Verify(ctx); lake.KindOf(err) != lake.Locked {
		t.Errorf("an expired lease verifies: %v", err)
	}
	if _, err := b.Acquire(ctx); lake.KindOf(err) != lake.Locked {
		t.Errorf("takes it within the skew: %v", err)
	}
	c.now = c.now.Add(501 * time.Millisecond)
	lb, err := b.Acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := la.Release(ctx); lake.KindOf(err) != lake.Locked {
		t.Errorf("releases another's: %v", err)
	}
	if err := lb.Release(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Acquire(ctx); err != nil {
		t.Errorf("a released lock isn't free: %v", err)
	}
}

// The object is what Hudi's provider writes and reads.
func TestHudisObject(t *testing.T) {
	ctx, c, s := t.Context(), &clock{time.UnixMilli(5_000)}, mem.New(mem.Options{})
	s.Put(Object, []byte(`{"expired":false,"validUntil":4499,"owner":"0d1"}`), time.Time{})
	if _, err := New(s, c.options("me")).Acquire(ctx); err != nil {
		t.Fatal(err)
	}
	got, _, err := New(s, c.options("x")).read(ctx)
	if err != nil || fmt.Sprint(got) != "{false 305000 me}" {
		t.Errorf("%v, %v", got, err)
	}
	s.Put(Object, []byte(`{"expired":true,"validUntil":99999999,"owner":"0d1"}`), time.Time{})
	if _, err := New(s, c.options("me")).Acquire(ctx); err != nil {
		t.Error(err)
	}
	s.Put(Object, []byte(`{`), time.Time{})
	if _, err := New(s, c.options("me")).Acquire(ctx); err == nil {
		t.Error("takes a lock that it can't read")
	}
}
