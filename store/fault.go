package store

import (
	"context"
	"errors"
	"io"
	"sync"
)

// ErrKilled is what all calls return after an Injection with Kill, as if the
// process had died there.
var ErrKilled = errors.New("killed by a test")

// Call is one call to a store, as Fault shows it.
type Call struct {
	N     int64  // counted from 1 over all calls through the Faults
	Op    string // stat, open, list, status, create, replace, remove, delete, rmdir, copy
	Name  string // the object, the prefix, or the first target
	Count int    // targets of a delete
}

// Writes reports whether the call changes the store.
func (c Call) Writes() bool {
	switch c.Op {
	case "stat", "open", "list", "status":
		return false
	}
	return true
}

// Moment is when a fault strikes.
type Moment uint8

// The moments.
const (
	Before Moment = iota // nothing took effect
	Half                 // half of a delete's targets are gone, half of a body or page was read (of other calls: After)
	After                // all took effect, the answer is lost
)

// Injection is what happens to a call. The zero Injection lets it pass.
type Injection struct {
	Err   error // the call fails with it
	When  Moment
	Kill  bool // and with it all later ones, with ErrKilled
	Block bool // the call hangs until its context ends
}

// Faults injects faults into all stores that it wraps. Safe for concurrent use.
type Faults struct {
	decide func(Call) Injection

	mu     sync.Mutex
	n      int64
	killed bool
}

// NewFaults asks decide about each call, one at a time. A nil decide only counts.
func NewFaults(decide func(Call) Injection) *Faults { return &Faults{decide: decide} }

// FailNth lets the n-th call fail with i and all others pass.
func FailNth(n int64, i Injection) func(Call) Injection {
	return func(c Call) Injection {
		if c.N == n {
			return i
		}
		return Injection{}
	}
}

// Calls returns the number of calls so far.
func (f *Faults) Calls() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.n
}

// Wrap injects faults into calls of s.
func (f *Faults) Wrap(s Store) Store { return faulty{s, f} }

// next decides about a call.
func (f *Faults) next(op, name string, count int) Injection {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n++
	if f.killed {
		return Injection{Err: ErrKilled}
	}
	if f.decide == nil {
		return Injection{}
	}
	i := f.decide(Call{N: f.n, Op: op, Name: name, Count: count})
	if i.Kill {
		f.killed = true
		i.Err = ErrKilled
	}
	return i
}

type faulty struct {
	s Store
	f *Faults
}

func (f faulty) Unwrap() Store  { return f.s }
func (f faulty) Traits() Traits { return f.s.Traits() }

// call runs do, or not, as decided.
func (f faulty) call(ctx context.Context, op, name string, do func() error) error {
	i := f.f.next(op, name, 1)
	if i.Block {
		<-ctx.Done()
		return ctx.Err()
	}
	if i.Err == nil {
		return do()
	}
	if i.When == Before {
		return i.Err
	}
	_ = do() // its answer is lost
	return i.Err
}

func (f faulty) Stat(ctx context.Context, name string) (info Info, err error) {
	err = f.call(ctx, "stat", name, func() error {
		info, err = f.s.Stat(ctx, name)
		return err
	})
	return info, err
}

func (f faulty) Open(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	i := f.f.next("open", name, 1)
	if i.Block {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if i.Err != nil && i.When == Before {
		return nil, i.Err
	}
	r, err := f.s.Open(ctx, name, offset, length)
	if err != nil || i.Err == nil {
		return r, err
	}
	info, err := f.s.Stat(ctx, name)
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	size := max(info.Size-offset, 0)
	if length >= 0 {
		size = min(size, length)
	}
	return brokenBody{r, io.MultiReader(io.LimitReader(r, size/2), errReader{i.Err})}, nil
}

// brokenBody fails in the middle.
type brokenBody struct {
	body   io.ReadCloser
	broken io.Reader
}

func (b brokenBody) Read(p []byte) (int, error) { return b.broken.Read(p) }
func (b brokenBody) Close() error               { return b.body.Close() }
func (b brokenBody) ETag() string               { return etagOf(b.body) }

func (f faulty) List(ctx context.Context, req PageRequest) (page Page, err error) {
	err = f.call(ctx, "list", req.Prefix, func() error {
		page, err = f.s.List(ctx, req)
		return err
	})
	if err != nil {
		return Page{}, err
	}
	return page, nil
}

func (f faulty) Status(ctx context.Context) (status Status, err error) {
	err = f.call(ctx, "status", "", func() error {
		status, err = f.s.Status(ctx)
		return err
	})
	return status, err
}

func (f faulty) PutIfAbsent(ctx context.Context, name string, data []byte) error {
	return f.call(ctx, "create", name, func() error { return f.s.PutIfAbsent(ctx, name, data) })
}

func (f faulty) Replace(ctx context.Context, name string, data []byte, ifMatch string) (etag string, err error) {
	err = f.call(ctx, "replace", name, func() error {
		etag, err = f.s.Replace(ctx, name, data, ifMatch)
		return err
	})
	return etag, err
}

func (f faulty) Remove(ctx context.Context, name string, ifMatch string) error {
	return f.call(ctx, "remove", name, func() error { return f.s.Remove(ctx, name, ifMatch) })
}

func (f faulty) Delete(ctx context.Context, targets []Target) ([]Outcome, error) {
	first := ""
	if len(targets) > 0 {
		first = targets[0].Name
	}
	i := f.f.next("delete", first, len(targets))
	switch {
	case i.Block:
		<-ctx.Done()
		return nil, ctx.Err()
	case i.Err == nil:
		return f.s.Delete(ctx, targets)
	case i.When == Half:
		targets = targets[:len(targets)/2]
	case i.When == Before:
		targets = nil
	}
	if len(targets) > 0 {
		_, _ = f.s.Delete(ctx, targets) // its answer is lost
	}
	return nil, i.Err
}

func (f faulty) DeleteDir(ctx context.Context, name string) error {
	return f.call(ctx, "rmdir", name, func() error { return f.s.DeleteDir(ctx, name) })
}

func (f faulty) Copy(ctx context.Context, name string, to Store, toName string) error {
	return f.call(ctx, "copy", name, func() error { return f.s.Copy(ctx, name, to, toName) })
}
