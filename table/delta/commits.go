package delta

import (
	"bytes"
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/keyset"
	"github.com/lakesweep/lakesweep/table/delta/logline"
)

const (
	batchSize  = 1024 // files of a commit that are handed over at once
	longAtOnce = 12   // long commits that are read at once, which each take a few MiB
)

// batch is a part of a commit: some of its files, in the order of its lines,
// or its other actions.
type batch struct {
	files  []logline.Action
	prints []keyset.Print   // of the files' identities, zero of change data; none without commitReader.keys
	others []logline.Action // with raw texts of their own
	err    error
}

// commitReader reads commits in parallel and hands them out in order.
type commitReader struct {
	l        *txLog
	parts    *partitionTable
	skipAdds bool // only removes and change data matter: adds are passed over unread
	// removedOnly: the values of a checkpoint's live files don't matter.
	removedOnly bool
	keys        *keyset.Exact // makes the batches' prints; nil for none
}

// each calls fn with the batches of each commit, commit by commit in the order
// given, in the calling goroutine. At most workers commits are in memory, longAtOnce
// long ones among them, with a few batches each.
func (r commitReader) each(ctx context.Context, commits []logFile, fn func(c logFile, b batch) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type stream struct {
		commit  logFile
		batches chan batch
	}
	queue := make(chan stream, r.l.dir.workers())
	long := make(chan struct{}, longAtOnce)
	var g errgroup.Group
	g.SetLimit(r.l.dir.workers())
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer close(queue)
		for _, c := range commits {
			s := stream{c, make(chan batch, 4)}
			select {
			case queue <- s:
			case <-ctx.Done():
				return
			}
			isLong := c.size > chunkSize
			if isLong { // in this order, so that the one waited for is always read
				select {
				case long <- struct{}{}:
				case <-ctx.Done():
					close(s.batches)
					return
				}
			}
			g.Go(func() error {
				defer close(s.batches)
				defer func() {
					if isLong {
						<-long
					}
				}()
				if err := r.read(ctx, c, s.batches); err != nil {
					send(ctx, s.batches, batch{err: err})
				}
				return nil
			})
		}
	}()
	var failed error
	for s := range queue {
		for b := range s.batches {
			if failed == nil {
				if failed = b.err; failed == nil {
					failed = fn(s.commit, b)
				}
				if failed != nil {
					cancel()
				}
			}
		}
		if failed == nil && ctx.Err() != nil {
			failed = ctx.Err()
		}
	}
	<-done
	if err := g.Wait(); failed == nil {
		failed = err
	}
	if failed == nil {
		failed = ctx.Err()
	}
	if errors.Is(failed, context.Canceled) || errors.Is(failed, context.DeadlineExceeded) {
		return &lake.Error{Op: "read log", Kind: lake.Interrupted, Err: failed}
	}
	return failed
}

func send(ctx context.Context, to chan<- batch, b batch) {
	select {
	case to <- b:
	case <-ctx.Done():
	}
}

// errUnread is an error of Protect with Options.Brief: the part of a commit that
// Open left unread holds the protocol or the metadata of the version opened.
var errUnread = errors.New("protocol or metadata stands far behind the beginning of a commit")

// read parses one commit.
func (r commitReader) read(ctx context.Context, c logFile, to chan<- batch) error {
	var b batch
	rest := noHead()
	intern := r.parts.interner()
	err := r.l.dir.lines(ctx, c, func(line []byte) error {
		if r.skipAdds && bytes.HasPrefix(line, []byte(`{"add":`)) {
			return nil
		}
		a, err := logline.Parse(line, intern)
		if err != nil {
			return err
		}
		switch a.Op {
		case logline.Add, logline.Remove, logline.CDC:
			if b.files == nil {
				b.files = make([]logline.Action, 0, batchSize)
				if r.keys != nil {
					b.prints = make([]keyset.Print, 0, batchSize)
				}
			}
			if r.keys != nil {
				b.prints = append(b.prints, identity(r.keys, &a))
			}
			if b.files = append(b.files, a); len(b.files) == batchSize {
				send(ctx, to, b)
				b = batch{}
			}
		case logline.Sidecar, logline.CheckpointMetadata:
			return errors.New("an action in a commit that belongs to checkpoints only")
		case logline.CommitInfo:
			info, err := parseCommitInfo(a.Raw)
			if err != nil {
				return err
			}
			if info.ICT != nil {
				r.l.setICT(c.version, *info.ICT)
			}
			a.Raw = bytes.Clone(a.Raw)
			b.others = append(b.others, a)
		case logline.Metadata, logline.Protocol:
			if r.l.dir.begunOnly(c.version) {
				if err := r.l.headLine(&rest, a, c.version); err != nil {
					return err
				}
			}
			a.Raw = bytes.Clone(a.Raw)
			b.others = append(b.others, a)
		}
		return ctx.Err()
	})
	if err == nil && (rest.protocolVersion > r.l.protocolVersion || rest.metadataVersion > r.l.metadataVersion) {
		return &lake.Error{Op: "read log", Key: lake.Key(c.name), Kind: lake.Stale, Err: errUnread, Hint: "Nothing was deleted. Run the command again."}
	}
	if err == nil && len(b.files)+len(b.others) > 0 {
		send(ctx, to, b)
	}
	return err
}
