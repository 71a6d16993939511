// Package storage is the lock of Hudi's StorageBasedLockProvider: one object,
// .hoodie/.locks/table_lock.json, that is only ever written on condition of
// what it was before.
//
//	{"expired": false, "validUntil": <ms since 1970>, "owner": "<uuid>"}
//
// It is free when it isn't there, says expired, or was valid until more than
// half a second ago (the skew that Hudi allows for). A holder renews it; so
// does Verify here, when half a minute has passed.
//
// Source: Hudi 1.2.0, StorageBasedLockProvider; spec/hudi-clean.md 6.5.
package storage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/lakesweep/lakesweep/lock"
	"github.com/lakesweep/lakesweep/store"
)

// Object is the name of the lock below the table's root.
const Object = ".hoodie/.locks/table_lock.json"

const skew = 500 * time.Millisecond

// Store is what the lock needs of the table's store.
type Store interface {
	store.Reader
	store.Writer
}

// Options of a lock.
type Options struct {
	Owner    string        // unique to this process
	Validity time.Duration // 0: 300 s
	Renew    time.Duration // 0: 30 s
	Now      func() time.Time
	Wait     lock.Wait
}

// Provider takes the lock.
type Provider struct {
	s Store
	o Options
}

// New returns the provider of a table.
func New(s Store, o Options) *Provider {
	if o.Validity <= 0 {
		o.Validity = 300 * time.Second
	}
	if o.Renew <= 0 {
		o.Renew = 30 * time.Second
	}
	return &Provider{s, o}
}

// Name names the object.
func (p *Provider) Name() string { return "object " + Object }

// state is the object's content.
type state struct {
	Expired    bool   `json:"expired"`
	ValidUntil int64  `json:"validUntil"`
	Owner      string `json:"owner"`
}

// Acquire writes the object where there is none, or over a dead one.
func (p *Provider) Acquire(ctx context.Context) (lock.Lease, error) {
	return p.o.Wait.Try(ctx, p.Name(), p.take)
}

func (p *Provider) take(ctx context.Context) (lock.Lease, error) {
	l := &lease{p: p}
	s, etag, err := p.read(ctx)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = l.create(ctx)
	case err != nil:
	case !s.Expired && p.o.Now().Add(-skew).UnixMilli() <= s.ValidUntil:
		err = lock.ErrHeld
	default:
		l.etag = etag
		err = l.write(ctx, false)
	}
	if errors.Is(err, store.ErrChanged) || errors.Is(err, fs.ErrExist) {
		err = lock.ErrHeld
	}
	if err != nil {
		return nil, err
	}
	return l, nil
}

// read returns the state with the ETag that it had, or an older one, with
// which nothing can be written then.
func (p *Provider) read(ctx context.Context) (s state, etag string, err error) {
	info, err := p.s.Stat(ctx, Object)
	if err != nil {
		return s, "", err
	}
	r, err := p.s.Open(ctx, Object, 0, -1)
	if err != nil {
		return s, "", err
	}
	data, err := io.ReadAll(io.LimitReader(r, 1<<16))
	if err = errors.Join(err, r.Close()); err != nil {
		return s, "", err
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return s, "", fmt.Errorf("%s: %w", Object, err)
	}
	return s, info.ETag, nil
}

type lease struct {
	p     *Provider
	etag  string
	until time.Time
	wrote time.Time
}

func (l *lease) state(expired bool) ([]byte, time.Time, time.Time, error) {
	now := l.p.o.Now()
	until := now.Add(l.p.o.Validity)
	data, err := json.Marshal(state{expired, until.UnixMilli(), l.p.o.Owner})
	return data, now, until, err
}

func (l *lease) create(ctx context.Context) error {
	data, now, until, err := l.state(false)
	if err != nil {
		return err
	}
	if err := l.p.s.PutIfAbsent(ctx, Object, data); err != nil {
		return err
	}
	s, etag, err := l.p.read(ctx)
	if err != nil {
		return err
	}
	if s.Owner != l.p.o.Owner {
		return lock.ErrHeld
	}
	l.etag, l.wrote, l.until = etag, now, until
	return nil
}

func (l *lease) write(ctx context.Context, expired bool) error {
	data, now, until, err := l.state(expired)
	if err != nil {
		return err
	}
	etag, err := l.p.s.Replace(ctx, Object, data, l.etag)
	if err != nil {
		return err
	}
	l.etag, l.wrote, l.until = etag, now, until
	return nil
}

// Verify fails when the time is up, and renews the lease when it is due.
func (l *lease) Verify(ctx context.Context) error {
	now := l.p.o.Now()
	if !now.Before(l.until) {
		return lock.Lost(l.p.Name(), errors.New("its time is up"))
	}
	if now.Sub(l.wrote) < l.p.o.Renew {
		return nil
	}
	if err := l.write(ctx, false); err != nil {
		return lock.Lost(l.p.Name(), err)
	}
	return nil
}

// Release marks the lock as expired, if it is still ours.
func (l *lease) Release(ctx context.Context) error {
	if err := l.write(ctx, true); err != nil {
		return lock.Lost(l.p.Name(), err)
	}
	return nil
}
