package blobqueue

import (
	"context"
	"errors"
	"io/fs"
	"time"
)

// Tell returns the figures that a clean is to report, and makes durable before
// that it is about to: a figure is never reported twice, whenever a run dies.
// untold is asked about a clean that was about to report figures before: whether
// it is known that it never did. In doubt its figures are forgotten.
//
// Memory: one part, which alone is written anew.
// Errors: those of untold and the store; Transient if others always were quicker.
func (q *Queue) Tell(ctx context.Context, now time.Time, clean string, untold func(clean string) (bool, error)) (Stats, error) {
	for range maxTries {
		old, err := q.Load(ctx)
		if err != nil {
			return Stats{}, err
		}
		tell, before := old.Meta.Stats, old.Meta.Telling
		if before != nil {
			again := before.Clean == clean
			if !again {
				if again, err = untold(before.Clean); err != nil {
					return Stats{}, err
				}
			}
			if again {
				tell = before.Stats.Add(tell)
			}
		}
		if tell.IsZero() || before != nil && before.Clean == clean && old.Meta.Stats.IsZero() {
			return tell, nil
		}
		next := &Snapshot{Number: old.Number + 1, q: q, Meta: old.Meta}
		next.Meta.Figures = Figures{Telling: &Telling{Clean: clean, Stats: tell}}
		last, err := old.lastPart()
		if err == nil {
			err = q.publish(ctx, next, last)
		}
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return Stats{}, err
		}
		if stood, err := q.settled(ctx, next, now); stood || err != nil {
			return tell, err
		}
	}
	return Stats{}, q.raced()
}

// lastPart returns the rows of the snapshot's own file, for another.
func (s *Snapshot) lastPart() (*part, error) {
	p, name := newPart(), s.name()
	f, err := openEntries(name, s.last)
	if err != nil {
		return nil, err
	}
	for _, group := range f.RowGroups() {
		var failed error
		err := rows(name, group, func(r *entryRow) bool {
			e := r.entry()
			failed = p.add(&e)
			return failed == nil
		})
		if err = errors.Join(err, failed); err != nil {
			return nil, err
		}
	}
	return p, nil
}
