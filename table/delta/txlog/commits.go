package txlog

import (
	"bytes"
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/keyset"
	"github.com/lakesweep/lakesweep/table/delta/checkpoint"
	"github.com/lakesweep/lakesweep/table/delta/logdir"
	"github.com/lakesweep/lakesweep/table/delta/logline"
	"github.com/lakesweep/lakesweep/table/delta/meta"
)

const (
	BatchSize  = 1024 // files of a commit that are handed over at once
	longAtOnce = 12   // long commits that are read at once, which each take a few MiB
)

// Batch is a part of a commit: some of its files, in the order of its lines,
// or its other actions.
type Batch struct {
	Files  []logline.Action
	prints []keyset.Print   // of the files' identities, zero of change data; none without Commits.keys
	Others []logline.Action // with raw texts of their own
	err    error
}

// Commits reads commits in parallel and hands them out in order.
type Commits struct {
	Log      *Log
	Parts    *checkpoint.Partitions
	SkipAdds bool // only removes and change data matter: adds are passed over unread
	// RemovedOnly: the values of a checkpoint's adds don't matter.
	RemovedOnly bool
	Slots       chan struct{} // one is held for each commit in memory, shared with others that read at the same time; nil: as many of its own as the Dir has workers
	keys        *keyset.Exact // makes the batches' prints; nil for none
}

// Each calls fn with the batches of each commit, commit by commit in the order
// given, in the calling goroutine. At most as many commits as there are Slots are
// in memory, longAtOnce long ones among them, with a few batches each. fn must
// not wait for others that share the Slots.
func (r Commits) Each(ctx context.Context, commits []logdir.File, fn func(c logdir.File, b Batch) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type stream struct {
		commit  logdir.File
		batches chan Batch
	}
	slots := r.Slots
	if slots == nil {
		slots = make(chan struct{}, r.Log.Dir.Workers())
	}
	queue := make(chan stream, cap(slots))
	long := make(chan struct{}, longAtOnce)
	var g errgroup.Group
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer close(queue)
		for _, c := range commits {
			s := stream{c, make(chan Batch, 4)}
			select {
			case queue <- s:
			case <-ctx.Done():
				return
			}
			select { // in this order, so that the one waited for is always read
			case slots <- struct{}{}:
			case <-ctx.Done():
				close(s.batches)
				return
			}
			isLong := c.Size > logdir.ChunkSize
			if isLong { // in this order too
				select {
				case long <- struct{}{}:
				case <-ctx.Done():
					<-slots
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
					<-slots
				}()
				if err := r.read(ctx, c, s.batches); err != nil {
					send(ctx, s.batches, Batch{err: err})
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

func send(ctx context.Context, to chan<- Batch, b Batch) {
	select {
	case to <- b:
	case <-ctx.Done():
	}
}

// errUnread is an error of Protect with Options.Brief: the part of a commit that
// Open left unread holds the protocol or the metadata of the version opened.
var errUnread = errors.New("protocol or metadata stands far behind the beginning of a commit")

// read parses one commit.
func (r Commits) read(ctx context.Context, c logdir.File, to chan<- Batch) error {
	var b Batch
	rest := meta.NoHead()
	intern := r.Parts.Interner()
	err := r.Log.Dir.Lines(ctx, c, func(line []byte) error {
		if r.SkipAdds && bytes.HasPrefix(line, []byte(`{"add":`)) {
			return nil
		}
		a, err := logline.Parse(line, intern)
		if err != nil {
			return err
		}
		switch a.Op {
		case logline.Add, logline.Remove, logline.CDC:
			if b.Files == nil {
				b.Files = make([]logline.Action, 0, BatchSize)
				if r.keys != nil {
					b.prints = make([]keyset.Print, 0, BatchSize)
				}
			}
			if r.keys != nil {
				b.prints = append(b.prints, identity(r.keys, &a))
			}
			if b.Files = append(b.Files, a); len(b.Files) == BatchSize {
				send(ctx, to, b)
				b = Batch{}
			}
		case logline.Sidecar, logline.CheckpointMetadata:
			return errors.New("an action in a commit that belongs to checkpoints only")
		case logline.CommitInfo:
			info, err := ParseCommitInfo(a.Raw)
			if err != nil {
				return err
			}
			if info.ICT != nil {
				r.Log.setICT(c.Version, *info.ICT)
			}
			a.Raw = bytes.Clone(a.Raw)
			b.Others = append(b.Others, a)
		case logline.Metadata, logline.Protocol:
			if r.Log.Dir.BegunOnly(c.Version) {
				if err := r.Log.headLine(&rest, a, c.Version); err != nil {
					return err
				}
			}
			a.Raw = bytes.Clone(a.Raw)
			b.Others = append(b.Others, a)
		}
		return ctx.Err()
	})
	if err == nil && (rest.ProtocolVersion > r.Log.protocolVersion || rest.MetadataVersion > r.Log.metadataVersion) {
		return &lake.Error{Op: "read log", Key: lake.Key(c.Name), Kind: lake.Stale, Err: errUnread, Hint: "Nothing was deleted. Run the command again."}
	}
	if err == nil && len(b.Files)+len(b.Others) > 0 {
		send(ctx, to, b)
	}
	return err
}
