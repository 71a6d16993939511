// Package advisory is the lease that one run holds on a table whose format has
// no lock of its own: one object that says who holds the table, and until
// when. It keeps two of our runs from working on one table at once; no other
// writer knows it, and none has to.
//
//	{"holder": "lakesweep v1.2.3", "plan_id": "…", "host": "etl-7", "boot": "<id>", "process": 4711, "born": 123456,
//	 "token": "…", "taken": "2026-01-02T03:04:05Z", "until": "2026-01-02T03:19:05Z"}
//
// A lease is free when its time is up, or at once when its holder was a
// process of this very machine, boot and set of process numbers that no longer
// runs. A holder renews it in Verify.
package advisory

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lock"
	"github.com/lakesweep/lakesweep/store"
)

const (
	defaultValidity = 15 * time.Minute // more than clocks may be apart
	renewals        = 3                // in one Validity
	mostBytes       = 1 << 14          // of the object; a longer one is none of ours
)

// Options of a lease.
type Options struct {
	Object   string        // the name of the lease, below the store's root
	Holder   string        // "lakesweep v1.2.3"
	PlanID   string        // what the run carries out
	Validity time.Duration // 0: 15 min
	Process  Process       // who asks; Self() in a program
	Now      func() time.Time
}

// Provider takes the lease. It takes it or says who has it; it doesn't wait.
type Provider struct {
	r store.Reader
	w store.Writer
	o Options
}

// New returns the provider of one table. w writes where r reads.
func New(r store.Reader, w store.Writer, o Options) *Provider {
	if o.Validity <= 0 {
		o.Validity = defaultValidity
	}
	return &Provider{r, w, o}
}

// Name names the object.
func (p *Provider) Name() string { return "lease " + p.o.Object }

// content is what the object holds.
type content struct {
	Holder string `json:"holder"`
	PlanID string `json:"plan_id,omitempty"`
	Process
	Token string    `json:"token"`
	Taken time.Time `json:"taken"`
	Until time.Time `json:"until"`
}

func (c *content) String() string {
	if c.Token == "" {
		return "something that is no lease"
	}
	return fmt.Sprintf("%s on host %s, process %d, since %s, until %s", c.Holder, c.Host, c.PID,
		c.Taken.UTC().Format(time.RFC3339), c.Until.UTC().Format(time.RFC3339))
}

// Acquire takes the lease, also from a holder that is gone.
//
// Errors: Locked, naming the holder; those of the store.
func (p *Provider) Acquire(ctx context.Context) (lock.Lease, error) {
	l := &lease{p: p, c: content{Holder: p.o.Holder, PlanID: p.o.PlanID, Process: p.o.Process, Token: rand.Text(), Taken: p.o.Now().UTC()}}
	for range 3 {
		err := l.create(ctx)
		if !errors.Is(err, fs.ErrExist) {
			return p.settled(ctx, l, err)
		}
		held, etag, err := p.read(ctx)
		if errors.Is(err, fs.ErrNotExist) {
			continue // given back just now
		}
		if err != nil {
			return nil, err
		}
		if !p.free(&held) {
			return nil, p.held(&held)
		}
		if err := l.write(ctx, etag); !errors.Is(err, store.ErrChanged) {
			return p.settled(ctx, l, err)
		}
	}
	return nil, &lake.Error{Op: "take lock", Kind: lake.Locked, Err: fmt.Errorf("%s changes hands all the time", p.Name()), Hint: "Run again later."}
}

// settled reads the lease back: a store that heeds no condition may have let
// two holders write.
func (p *Provider) settled(ctx context.Context, l *lease, err error) (lock.Lease, error) {
	if err != nil {
		return nil, err
	}
	held, etag, err := p.read(ctx)
	if err != nil {
		return nil, err
	}
	if held.Token != l.c.Token {
		return nil, p.held(&held)
	}
	l.etag = etag
	return l, nil
}

// free reports whether a lease may be taken over.
func (p *Provider) free(c *content) bool {
	return !p.o.Now().Before(c.Until) || p.o.Process.knowsGone(c.Process)
}

func (p *Provider) held(c *content) error {
	return &lake.Error{Op: "take lock", Kind: lake.Locked, Err: fmt.Errorf("%s is held by %s", p.Name(), c),
		Hint: "Wait until that run ends. If it is gone for sure, remove the object; else the lease ends by itself at the time named."}
}

// read returns the lease with the ETag that it had, or an older one, with
// which nothing can be written then. What can't be read as a lease is one that
// was valid as long as ours would be.
func (p *Provider) read(ctx context.Context) (c content, etag string, err error) {
	info, err := p.r.Stat(ctx, p.o.Object)
	if err != nil {
		return c, "", err
	}
	r, err := p.r.Open(ctx, p.o.Object, 0, mostBytes)
	if err != nil {
		return c, "", err
	}
	data, err := io.ReadAll(r)
	if err = errors.Join(err, r.Close()); err != nil {
		return c, "", err
	}
	if err := json.Unmarshal(data, &c); err != nil || c.Token == "" {
		c = content{Until: info.Modified.Add(p.o.Validity)}
	}
	return c, info.ETag, nil
}

type lease struct {
	p    *Provider
	c    content
	etag string
}

func (l *lease) create(ctx context.Context) error {
	data, err := l.data()
	if err != nil {
		return err
	}
	return l.p.w.PutIfAbsent(ctx, l.p.o.Object, data)
}

func (l *lease) write(ctx context.Context, etag string) error {
	data, err := l.data()
	if err != nil {
		return err
	}
	written, err := l.p.w.Replace(ctx, l.p.o.Object, data, etag)
	if err == nil {
		l.etag = written
	}
	return err
}

func (l *lease) data() ([]byte, error) {
	l.c.Until = l.p.o.Now().Add(l.p.o.Validity).UTC()
	return json.Marshal(&l.c)
}

// Verify renews the lease when it is due. One whose time ran out is renewed
// too, as long as nobody took it.
func (l *lease) Verify(ctx context.Context) error {
	if l.c.Until.Sub(l.p.o.Now()) > l.p.o.Validity*(renewals-1)/renewals {
		return nil
	}
	err := l.write(ctx, l.etag)
	if errors.Is(err, store.ErrChanged) || errors.Is(err, fs.ErrNotExist) {
		return lock.Lost(l.p.Name(), err)
	}
	return err
}

// Release removes the lease if it is still ours.
func (l *lease) Release(ctx context.Context) error {
	err := l.p.w.Remove(ctx, l.p.o.Object, l.etag)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, store.ErrChanged) {
		return nil
	}
	return err
}
