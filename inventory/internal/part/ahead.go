package part

import (
	"context"
	"io"
)

// Ahead reads in on a goroutine of its own, so that unpacking and splitting one
// file keep two cores busy. Stop it before the stream under in is closed.
type Ahead struct {
	ctx    context.Context
	cancel context.CancelFunc
	blocks chan block
	free   chan []byte
	cur    block
	rest   []byte
	done   chan struct{}
}

type block struct {
	buf []byte
	err error
}

const blockSize = 128 << 10

// ReadAhead begins to read in.
func ReadAhead(ctx context.Context, in io.Reader) *Ahead {
	ctx, cancel := context.WithCancel(ctx)
	a := &Ahead{ctx: ctx, cancel: cancel, blocks: make(chan block, 4), free: make(chan []byte, 6), done: make(chan struct{})}
	for range cap(a.free) {
		a.free <- make([]byte, blockSize)
	}
	go a.run(in)
	return a
}

// Stop ends the goroutine, and returns when it is gone.
func (a *Ahead) Stop() {
	a.cancel()
	<-a.done
}

func (a *Ahead) run(in io.Reader) {
	defer close(a.done)
	for {
		var buf []byte
		select {
		case buf = <-a.free:
		case <-a.ctx.Done():
			return
		}
		n, err := io.ReadFull(in, buf[:blockSize])
		if err == io.ErrUnexpectedEOF && n > 0 {
			err = nil // the next read tells the true end
		}
		select {
		case a.blocks <- block{buf[:n], err}:
		case <-a.ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// Read returns what was read ahead.
func (a *Ahead) Read(p []byte) (int, error) {
	for len(a.rest) == 0 {
		if a.cur.err != nil {
			return 0, a.cur.err
		}
		if a.cur.buf != nil {
			a.free <- a.cur.buf[:blockSize]
		}
		select {
		case a.cur = <-a.blocks:
			a.rest = a.cur.buf
		case <-a.ctx.Done():
			return 0, a.ctx.Err()
		}
	}
	n := copy(p, a.rest)
	a.rest = a.rest[n:]
	return n, nil
}
