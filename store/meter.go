package store

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
)

// Count is what one kind of call came to.
type Count struct {
	Requests  int64 // calls, failed ones included
	Failed    int64
	Throttled int64 // failed by ErrThrottled; for deletes, keys
	Entries   int64 // entries listed, keys deleted
	Bytes     int64 // read or written
}

// Usage is what was asked of a store so far.
type Usage struct {
	Stat, Open, List, Write, Delete, Copy, Status Count
}

// A Meter counts the calls of all stores that it wraps. The zero Meter is
// ready. Safe for concurrent use.
type Meter struct {
	stat, open, list, write, delete, copy, status counter
}

type counter struct{ requests, failed, throttled, entries, bytes atomic.Int64 }

func (c *counter) add(err error, entries, bytes int) {
	c.requests.Add(1)
	if err != nil {
		c.failed.Add(1)
	}
	if errors.Is(err, ErrThrottled) {
		c.throttled.Add(1)
	}
	c.entries.Add(int64(entries))
	c.bytes.Add(int64(bytes))
}

func (c *counter) count() Count {
	return Count{c.requests.Load(), c.failed.Load(), c.throttled.Load(), c.entries.Load(), c.bytes.Load()}
}

// Usage returns the counts of now.
func (m *Meter) Usage() Usage {
	return Usage{m.stat.count(), m.open.count(), m.list.count(), m.write.count(), m.delete.count(), m.copy.count(), m.status.count()}
}

// Wrap counts the calls that reach s. Put it below Retry, to count attempts.
func (m *Meter) Wrap(s Store) Store { return metered{s, m} }

type metered struct {
	s Store
	m *Meter
}

func (m metered) Unwrap() Store  { return m.s }
func (m metered) Traits() Traits { return m.s.Traits() }

func (m metered) Stat(ctx context.Context, name string) (Info, error) {
	info, err := m.s.Stat(ctx, name)
	m.m.stat.add(err, 0, 0)
	return info, err
}

func (m metered) Open(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	r, err := m.s.Open(ctx, name, offset, length)
	m.m.open.add(err, 0, 0)
	if err != nil {
		return nil, err
	}
	return meteredBody{r, &m.m.open}, nil
}

// meteredBody counts the bytes read.
type meteredBody struct {
	io.ReadCloser
	c *counter
}

func (b meteredBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.c.bytes.Add(int64(n))
	return n, err
}

func (b meteredBody) ETag() string { return etagOf(b.ReadCloser) }

// etagOf returns the ETag of the object that a body is of, "" if it doesn't tell.
func etagOf(r io.Reader) string {
	if t, ok := r.(interface{ ETag() string }); ok {
		return t.ETag()
	}
	return ""
}

func (m metered) List(ctx context.Context, req PageRequest) (Page, error) {
	page, err := m.s.List(ctx, req)
	m.m.list.add(err, len(page.Entries), 0)
	return page, err
}

func (m metered) Status(ctx context.Context) (Status, error) {
	status, err := m.s.Status(ctx)
	m.m.status.add(err, 0, 0)
	return status, err
}

func (m metered) PutIfAbsent(ctx context.Context, name string, data []byte) error {
	err := m.s.PutIfAbsent(ctx, name, data)
	m.m.write.add(err, 0, len(data))
	return err
}

func (m metered) Replace(ctx context.Context, name string, data []byte, ifMatch string) (string, error) {
	etag, err := m.s.Replace(ctx, name, data, ifMatch)
	m.m.write.add(err, 0, len(data))
	return etag, err
}

func (m metered) Remove(ctx context.Context, name string, ifMatch string) error {
	err := m.s.Remove(ctx, name, ifMatch)
	m.m.delete.add(err, 0, 0)
	return err
}

func (m metered) Delete(ctx context.Context, targets []Target) ([]Outcome, error) {
	outcomes, err := m.s.Delete(ctx, targets)
	deleted, throttled := 0, int64(0)
	for _, o := range outcomes {
		if o.Err == nil {
			deleted++
		} else if errors.Is(o.Err, ErrThrottled) {
			throttled++
		}
	}
	m.m.delete.add(err, deleted, 0)
	m.m.delete.throttled.Add(throttled)
	return outcomes, err
}

func (m metered) DeleteDir(ctx context.Context, name string) error {
	err := m.s.DeleteDir(ctx, name)
	m.m.delete.add(err, 0, 0)
	return err
}

func (m metered) Copy(ctx context.Context, name string, to Store, toName string) error {
	err := m.s.Copy(ctx, name, to, toName)
	m.m.copy.add(err, 0, 0)
	return err
}
