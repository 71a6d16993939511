// Package file is the lock of Hudi's FileSystemBasedLockProvider: a file named
// "lock" that is created only where there is none.
//
// Hudi writes it empty and deletes it without asking whose it is, also when a
// client gives up that only waited. So the lock narrows the window for
// collisions and doesn't close it: ours holds a token, and Verify reads it
// back before each irreversible step.
//
// Source: Hudi 1.2.0, FileSystemBasedLockProvider; spec/hudi-clean.md 6.5.
package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/lakesweep/lakesweep/lock"
	"github.com/lakesweep/lakesweep/store"
)

// Store is what the lock needs of the table's store.
type Store interface {
	store.Reader
	store.Writer
}

// Options of a lock.
type Options struct {
	Dir    string        // the folder of the file, below the store's root
	Expire time.Duration // a lock file older than this is dead; 0: never
	Owner  string        // what the file holds; unique to this process
	Now    func() time.Time
	Wait   lock.Wait
}

// Provider takes the lock.
type Provider struct {
	s Store
	o Options
}

// New returns the provider of a table.
func New(s Store, o Options) *Provider { return &Provider{s, o} }

// Name names the file.
func (p *Provider) Name() string { return "file " + p.name() }

func (p *Provider) name() string { return p.o.Dir + "/lock" }

// Acquire creates the file, and removes one that has expired.
func (p *Provider) Acquire(ctx context.Context) (lock.Lease, error) {
	return p.o.Wait.Try(ctx, p.Name(), p.take)
}

func (p *Provider) take(ctx context.Context) (lock.Lease, error) {
	err := p.s.PutIfAbsent(ctx, p.name(), []byte(p.o.Owner))
	if err == nil {
		return &lease{p}, nil
	}
	if !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	if err := p.expire(ctx); err != nil {
		return nil, err
	}
	return nil, lock.ErrHeld
}

func (p *Provider) expire(ctx context.Context) error {
	if p.o.Expire <= 0 {
		return nil
	}
	info, err := p.s.Stat(ctx, p.name())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if p.o.Now().Sub(info.Modified) < p.o.Expire {
		return nil
	}
	return ignoreGone(p.s.Remove(ctx, p.name(), info.ETag))
}

type lease struct{ p *Provider }

// Verify reads the token back.
func (l *lease) Verify(ctx context.Context) error {
	_, err := l.ours(ctx)
	return err
}

// ours returns the file's ETag if it holds our token.
func (l *lease) ours(ctx context.Context) (etag string, err error) {
	info, err := l.p.s.Stat(ctx, l.p.name())
	if err != nil {
		return "", lock.Lost(l.p.Name(), err)
	}
	r, err := l.p.s.Open(ctx, l.p.name(), 0, -1)
	if err != nil {
		return "", lock.Lost(l.p.Name(), err)
	}
	data, err := io.ReadAll(io.LimitReader(r, 4096))
	if err = errors.Join(err, r.Close()); err != nil {
		return "", lock.Lost(l.p.Name(), err)
	}
	if string(data) != l.p.o.Owner {
		return "", lock.Lost(l.p.Name(), fmt.Errorf("it is held by %q", data))
	}
	return info.ETag, nil
}

// Release removes the file if it is ours.
func (l *lease) Release(ctx context.Context) error {
	etag, err := l.ours(ctx)
	if err != nil {
		return err
	}
	return ignoreGone(l.p.s.Remove(ctx, l.p.name(), etag))
}

func ignoreGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, store.ErrChanged) {
		return nil
	}
	return err
}
