package store

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"time"
)

// RetryOptions bound the attempts of a call. The zero value is 8 attempts, the
// pauses between them random up to 100 ms, 200 ms, … 20 s.
type RetryOptions struct {
	Attempts int
	Base     time.Duration // bound of the first pause
	Cap      time.Duration // bound of the longest
	Sleep    func(context.Context, time.Duration) error
	Jitter   func() float64 // in [0, 1)
}

// Retry repeats calls that Retryable says may do better later, with exponential
// pauses and full jitter. Of a batch of deletes only the failed keys are
// repeated. A write that was repeated and then finds its own bytes in place has
// succeeded: its first attempt had reached the store. A read that breaks goes on
// where it broke if the object is still the same.
func Retry(s Store, opt RetryOptions) Store {
	if opt.Attempts == 0 {
		opt.Attempts = 8
	}
	if opt.Base == 0 {
		opt.Base = 100 * time.Millisecond
	}
	if opt.Cap == 0 {
		opt.Cap = 20 * time.Second
	}
	if opt.Sleep == nil {
		opt.Sleep = sleep
	}
	if opt.Jitter == nil {
		opt.Jitter = rand.Float64
	}
	return &retry{s, opt}
}

type retry struct {
	s   Store
	opt RetryOptions
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// pause waits before attempt n (the first is 0, which doesn't wait).
func (r *retry) pause(ctx context.Context, n int) error {
	if n == 0 {
		return nil
	}
	bound := r.opt.Cap
	if n <= 30 {
		bound = min(bound, r.opt.Base<<(n-1))
	}
	return r.opt.Sleep(ctx, time.Duration(r.opt.Jitter()*float64(bound)))
}

// do calls f until it succeeds, fails for good, or the attempts are used up.
func (r *retry) do(ctx context.Context, f func(attempt int) error) error {
	var err error
	for n := range r.opt.Attempts {
		if e := r.pause(ctx, n); e != nil {
			return errors.Join(e, err)
		}
		if err = f(n); !Retryable(err) {
			return err
		}
	}
	return err
}

func (r *retry) Unwrap() Store  { return r.s }
func (r *retry) Traits() Traits { return r.s.Traits() }

func (r *retry) Stat(ctx context.Context, name string) (info Info, err error) {
	err = r.do(ctx, func(int) error {
		info, err = r.s.Stat(ctx, name)
		return err
	})
	return info, err
}

func (r *retry) List(ctx context.Context, req PageRequest) (page Page, err error) {
	if req.Once {
		return r.s.List(ctx, req)
	}
	err = r.do(ctx, func(int) error {
		page, err = r.s.List(ctx, req)
		return err
	})
	return page, err
}

func (r *retry) Status(ctx context.Context) (status Status, err error) {
	err = r.do(ctx, func(int) error {
		status, err = r.s.Status(ctx)
		return err
	})
	return status, err
}

func (r *retry) PutIfAbsent(ctx context.Context, name string, data []byte) error {
	return r.do(ctx, func(attempt int) error {
		err := r.s.PutIfAbsent(ctx, name, data)
		if attempt > 0 && errors.Is(err, fs.ErrExist) {
			if same, e := r.holds(ctx, name, data); e != nil {
				return e
			} else if same {
				return nil
			}
		}
		return err
	})
}

func (r *retry) Replace(ctx context.Context, name string, data []byte, ifMatch string) (etag string, err error) {
	err = r.do(ctx, func(attempt int) error {
		etag, err = r.s.Replace(ctx, name, data, ifMatch)
		if attempt > 0 && errors.Is(err, ErrChanged) {
			info, e := r.Stat(ctx, name)
			if errors.Is(e, fs.ErrNotExist) {
				return err
			} else if e != nil {
				return e
			}
			if same, e := r.holds(ctx, name, data); e != nil {
				return e
			} else if same {
				etag = info.ETag
				return nil
			}
		}
		return err
	})
	return etag, err
}

// holds reports whether the object's bytes are data.
func (r *retry) holds(ctx context.Context, name string, data []byte) (bool, error) {
	body, err := r.Open(ctx, name, 0, int64(len(data))+1)
	if err != nil {
		return false, err
	}
	found, err := io.ReadAll(body)
	return bytes.Equal(found, data), errors.Join(err, body.Close())
}

func (r *retry) Remove(ctx context.Context, name string, ifMatch string) error {
	return r.do(ctx, func(attempt int) error {
		err := r.s.Remove(ctx, name, ifMatch)
		if attempt > 0 && errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
}

func (r *retry) Delete(ctx context.Context, targets []Target) ([]Outcome, error) {
	outcomes := make([]Outcome, len(targets))
	left := make([]int, len(targets)) // indices of targets without a final outcome
	for i, t := range targets {
		outcomes[i].Target, left[i] = t, i
	}
	// Attempts are counted since the last one that got somewhere: a throttled
	// store takes large batches in small parts.
	for n := 0; len(left) > 0 && n < r.opt.Attempts; n++ {
		if err := r.pause(ctx, n); err != nil {
			return nil, err
		}
		batch := make([]Target, len(left))
		for j, i := range left {
			batch[j] = targets[i]
		}
		got, err := r.s.Delete(ctx, batch)
		if err != nil && (!Retryable(err) || n == r.opt.Attempts-1) {
			return nil, err
		} else if err != nil {
			continue
		}
		var again []int
		for j, i := range left {
			outcomes[i] = got[j]
			if Retryable(got[j].Err) {
				again = append(again, i)
			}
		}
		if len(again) < len(left) {
			n = 0
		}
		left = again
	}
	return outcomes, nil
}

func (r *retry) DeleteDir(ctx context.Context, name string) error {
	return r.do(ctx, func(attempt int) error {
		err := r.s.DeleteDir(ctx, name)
		if attempt > 0 && errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
}

func (r *retry) Copy(ctx context.Context, name string, to Store, toName string) error {
	// A repeated copy may meet what its first attempt left. Whether that is whole
	// can't be told here, so it counts as another object: nothing is deleted.
	return r.do(ctx, func(int) error { return r.s.Copy(ctx, name, to, toName) })
}
