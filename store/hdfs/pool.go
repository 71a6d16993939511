package hdfs

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"sync"
	"time"

	native "github.com/colinmarc/hdfs/v2"
	"github.com/lakesweep/lakesweep/store"
)

const (
	maxConnections = 32          // to one name service; a connection does one call at a time
	patience       = time.Minute // for one call
)

// pool holds connections to the name nodes of one file system. Safe for
// concurrent use.
type pool struct {
	opt   native.ClientOptions
	slots chan struct{}

	mu   sync.Mutex
	idle []*connection
}

// connection is a client with the socket that it talks to a name node by. One
// call runs at a time.
type connection struct {
	*native.Client
	mu     sync.Mutex
	socket net.Conn
	until  time.Time
	broken bool // of use to nobody any more
}

func newPool(opt native.ClientOptions, dial func(context.Context, string, string) (net.Conn, error)) *pool {
	if dial == nil {
		dial = (&net.Dialer{Timeout: 20 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	}
	opt.NamenodeDialFunc, opt.DatanodeDialFunc = dial, dial
	return &pool{opt: opt, slots: make(chan struct{}, maxConnections)}
}

// do calls f with a connection of its own. When the context ends, the
// connection is broken, so that f returns.
func (p *pool) do(ctx context.Context, f func(*native.Client) error) error {
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-p.slots }()
	if err := ctx.Err(); err != nil {
		return err
	}
	c, err := p.take()
	if err != nil {
		return err
	}
	defer p.give(c)
	return c.run(ctx, f)
}

// run calls f with the connection, as do.
func (c *connection) run(ctx context.Context, f func(*native.Client) error) error {
	c.expire(time.Now().Add(patience))
	stop := context.AfterFunc(ctx, func() { c.expire(time.Unix(1, 0)) })
	err := f(c.Client)
	if !stop() {
		c.broken = true
		return errors.Join(ctx.Err(), err)
	}
	if err != nil && !answered(err) {
		c.broken = true
		return err
	}
	c.expire(time.Time{})
	return err
}

// answered reports errors that came from the name node, after which the
// connection is as good as before.
func answered(err error) bool {
	var remote native.Error
	return errors.As(err, &remote) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrPermission) ||
		errors.Is(err, fs.ErrInvalid) || errors.Is(err, store.ErrChanged)
}

// give takes a connection back.
func (p *pool) give(c *connection) {
	if c.broken {
		_ = c.Close() // nothing is lost with it
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, c)
}

func (p *pool) take() (*connection, error) {
	p.mu.Lock()
	if n := len(p.idle); n > 0 {
		c := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		return c, nil
	}
	p.mu.Unlock()
	c := &connection{until: time.Now().Add(patience)}
	opt := p.opt
	opt.NamenodeDialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		socket, err := p.opt.NamenodeDialFunc(ctx, network, address)
		if err != nil {
			return nil, err
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.socket = socket
		return socket, socket.SetDeadline(c.until)
	}
	var err error
	c.Client, err = native.NewClient(opt)
	return c, err
}

// expire sets when calls give up, zero for never.
func (c *connection) expire(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.until = at
	if c.socket != nil {
		_ = c.socket.SetDeadline(at) // a closed socket's calls end by themselves
	}
}
