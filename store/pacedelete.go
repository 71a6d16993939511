package store

import (
	"context"
	"errors"
	"time"
)

// Delete deletes in as many calls as the pace takes. What a later call as a
// whole fails with is the outcome of its targets and of those not yet sent.
func (p paced) Delete(ctx context.Context, targets []Target) ([]Outcome, error) {
	outcomes := make([]Outcome, 0, len(targets))
	for len(outcomes) < len(targets) {
		left := targets[len(outcomes):]
		got, err := p.deletePortion(ctx, left[:p.p.delete.portion(len(left))])
		if err != nil && len(outcomes) == 0 {
			return nil, err
		} else if err != nil {
			for _, t := range left {
				outcomes = append(outcomes, Outcome{Target: t, Err: err})
			}
			break
		}
		outcomes = append(outcomes, got...)
	}
	return outcomes, nil
}

func (p paced) deletePortion(ctx context.Context, targets []Target) ([]Outcome, error) {
	if err := p.p.delete.wait(ctx, len(targets)); err != nil {
		return nil, err
	}
	start := time.Now()
	outcomes, err := p.s.Delete(ctx, targets)
	throttled, served := errors.Is(err, ErrThrottled), 0
	for _, o := range outcomes {
		if errors.Is(o.Err, ErrThrottled) {
			throttled = true
		} else {
			served++
		}
	}
	p.p.delete.done(start, served, err == nil, throttled)
	return outcomes, err
}

func (p paced) DeleteDir(ctx context.Context, name string) error {
	if err := p.p.delete.wait(ctx, 1); err != nil {
		return err
	}
	start := time.Now()
	err := p.s.DeleteDir(ctx, name)
	p.p.delete.done(start, 1, err == nil, errors.Is(err, ErrThrottled))
	return err
}
