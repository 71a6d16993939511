// Package zookeeper is the lock of Hudi's ZookeeperBasedLockProvider, which is
// Curator's InterProcessMutex: each contender makes an ephemeral sequential
// node named _c_<uuid>-lock-<number> below one path, and the lowest number
// holds the lock. The session's end frees it.
//
// Source: Apache Curator, shared reentrant lock; Hudi 1.2.0,
// ZookeeperBasedLockProvider; spec/hudi-clean.md 6.5.
package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lock"
)

// Options of a lock.
type Options struct {
	Servers []string      // host:port
	Path    string        // hoodie.write.lock.zookeeper.base_path and .lock_key, joined by a slash
	Session time.Duration // 0: 60 s
	Wait    lock.Wait
}

// Provider takes the lock.
type Provider struct{ o Options }

// New returns the provider of a table.
func New(o Options) *Provider {
	if o.Session <= 0 {
		o.Session = 60 * time.Second
	}
	return &Provider{o}
}

// Name names the path.
func (p *Provider) Name() string {
	return "ZooKeeper " + strings.Join(p.o.Servers, ",") + p.o.Path
}

// Acquire queues up and waits for its turn.
func (p *Provider) Acquire(ctx context.Context) (lock.Lease, error) {
	conn, _, err := zk.Connect(p.o.Servers, p.o.Session, zk.WithLogger(silent{}))
	if err != nil {
		return nil, p.fail(err)
	}
	l := &lease{p: p, conn: conn}
	if err := l.queue(ctx); err != nil {
		conn.Close()
		return nil, p.fail(err)
	}
	held, err := p.o.Wait.Try(ctx, p.Name(), func(context.Context) (lock.Lease, error) {
		first, err := l.first()
		switch {
		case err != nil:
			return nil, p.fail(err)
		case !first:
			return nil, lock.ErrHeld
		}
		return l, nil
	})
	if err != nil {
		return nil, errors.Join(err, l.leave())
	}
	return held, nil
}

func (p *Provider) fail(err error) error {
	return &lake.Error{Op: "take lock", Kind: lake.Locked, Err: fmt.Errorf("%s: %w", p.Name(), err), Hint: "See that the ZooKeeper servers of the writers' lock settings can be reached."}
}

type lease struct {
	p    *Provider
	conn *zk.Conn
	node string
}

// queue makes our node. The connection is waited for as long as a session lasts.
func (l *lease) queue(ctx context.Context) error {
	made := make(chan error, 1)
	go func() { made <- l.create() }()
	select {
	case err := <-made:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(l.p.o.Session):
		return errors.New("no answer")
	}
}

func (l *lease) create() (err error) {
	parent := ""
	for part := range strings.SplitSeq(strings.Trim(l.p.o.Path, "/"), "/") {
		parent += "/" + part
		if _, err := l.conn.Create(parent, nil, 0, zk.WorldACL(zk.PermAll)); err != nil && !errors.Is(err, zk.ErrNodeExists) {
			return err
		}
	}
	l.node, err = l.conn.CreateProtectedEphemeralSequential(parent+"/lock-", nil, zk.WorldACL(zk.PermAll))
	return err
}

// first reports whether no contender is before us.
func (l *lease) first() (bool, error) {
	i := strings.LastIndexByte(l.node, '/')
	children, _, err := l.conn.Children(l.node[:i])
	if err != nil {
		return false, err
	}
	there := false
	for _, c := range children {
		there = there || c == l.node[i+1:]
		if number(c) < number(l.node) {
			return false, nil
		}
	}
	if !there {
		return false, errors.New("our place in the queue is gone")
	}
	return true, nil
}

// number is what Curator sorts by: all behind "lock-".
func number(node string) string {
	if _, n, ok := strings.Cut(node, "lock-"); ok {
		return n
	}
	return node
}

// Verify asks the servers whether our node is still the first.
func (l *lease) Verify(context.Context) error {
	if l.conn.State() != zk.StateHasSession {
		return lock.Lost(l.p.Name(), fmt.Errorf("the session is %s", l.conn.State()))
	}
	first, err := l.first()
	if err == nil && !first {
		err = errors.New("another is before us")
	}
	if err != nil {
		return lock.Lost(l.p.Name(), err)
	}
	return nil
}

// Release removes our node.
func (l *lease) Release(context.Context) error { return l.leave() }

func (l *lease) leave() error {
	defer l.conn.Close()
	if err := l.conn.Delete(l.node, -1); err != nil && !errors.Is(err, zk.ErrNoNode) {
		return lock.Lost(l.p.Name(), err)
	}
	return nil
}

type silent struct{}

func (silent) Printf(string, ...any) {}
