package lock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lakesweep/lakesweep/lake"
)

// Provider takes the lock of one table. Safe for concurrent use.
type Provider interface {
	// Acquire waits for the lock as long as it was configured to. Errors: Locked; those of the service.
	Acquire(ctx context.Context) (Lease, error)
	// Name says what kind of lock it is, and where.
	Name() string
}

// Lease is a lock that is held.
type Lease interface {
	// Verify fails if the lock isn't ours any more, or that can't be known. Errors: Locked.
	Verify(ctx context.Context) error
	// Release gives it back. What isn't ours any more is left alone.
	Release(ctx context.Context) error
}

// Wait is how long and how often Acquire tries, and how it sleeps.
type Wait struct {
	Attempts int           // 0: 10
	Pause    time.Duration // between attempts, 0: 5 s
	Sleep    func(ctx context.Context, d time.Duration) error
}

// Sleep waits for d, or until ctx is done.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// Try calls take until it gives a lease, or another error than ErrHeld.
//
// Errors: Locked when all attempts found it held.
func (w Wait) Try(ctx context.Context, name string, take func(context.Context) (Lease, error)) (Lease, error) {
	if w.Attempts <= 0 {
		w.Attempts = 10
	}
	if w.Pause <= 0 {
		w.Pause = 5 * time.Second
	}
	if w.Sleep == nil {
		w.Sleep = Sleep
	}
	var held error
	for n := range w.Attempts {
		if n > 0 {
			if err := w.Sleep(ctx, w.Pause); err != nil {
				return nil, err
			}
		}
		lease, err := take(ctx)
		if err == nil {
			return lease, nil
		}
		if !errors.Is(err, ErrHeld) {
			return nil, err
		}
		held = err
	}
	return nil, &lake.Error{Op: "take lock", Kind: lake.Locked, Err: fmt.Errorf("%s: %w after %d attempts", name, held, w.Attempts),
		Hint: "Wait until the other writer is done, or run again later."}
}

// ErrHeld is what a take function returns while another holds the lock.
var ErrHeld = errors.New("another writer holds the lock")

// Lost is the error of a lease that isn't ours any more.
func Lost(name string, err error) error {
	return &lake.Error{Op: "hold lock", Kind: lake.Locked, Err: fmt.Errorf("%s was lost: %w", name, err),
		Hint: "Run again: what was begun is finished then."}
}

// None is the lock of a table that has no other writers: the user vouches.
type None struct{}

// Acquire returns a lease that is always held.
func (None) Acquire(context.Context) (Lease, error) { return none{}, nil }

// Name says that nobody else is locked out.
func (None) Name() string { return "none: no other writers, as the user says" }

type none struct{}

func (none) Verify(context.Context) error  { return nil }
func (none) Release(context.Context) error { return nil }
