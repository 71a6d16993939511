package blob

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table/hudi/blob/shape"
)

// Judge finds out which candidates nothing refers to. Safe for concurrent use
// as far as its Index is.
type Judge struct{ o Options }

// NewJudge returns a Judge.
func NewJudge(o Options) *Judge {
	o.schemas = new(schemas)
	return &Judge{o}
}

// batch is how many files are gathered before they are read, so that what the
// ledger and the index know comes first.
const batch = 1 << 16

// indexBatch is how many paths an index is asked for at once.
const indexBatch = 1000

// Judge looks for the candidates in the files of all stages, which together
// must be all files that are retained. A stage is begun only if one before has
// left a candidate that isn't Referenced; before the second the index is asked,
// or, if there is one stage only, before files are read. candidates is ranged over twice at most, in any order; a path may
// come several times. Under Options.Exact candidates come in byte order and are ranged
// over once more to name one; out of order nothing is ruled out.
//
// It stops reading as soon as every candidate is Referenced.
//
// Memory: 48 to 80 bytes a candidate, under Options.Exact 8 more and 32 MiB;
// 40 bytes a file that the ledger knows, what 65,536 files are called, and for
// each worker 16 MiB and 16 bytes a reference of its file. Larger logs are
// spooled to temporary files.
// Errors: those of the iterators and of the store. A file that can't be read
// is none: it is told in Round.Unread, and leaves all candidates Undecided
// that no other file keeps.
func (j *Judge) Judge(ctx context.Context, candidates iter.Seq2[lake.BlobID, error], stages ...iter.Seq2[File, error]) (*Round, error) {
	book, err := j.o.Ledger.open(j.o.Names)
	if err != nil {
		return nil, err
	}
	seed := rand.Uint64()
	if book != nil {
		seed = book.seed
	}
	r := &round{o: j.o, book: book, ballot: newBallot(j.o.Names, seed, j.o.Exact), Round: &Round{}}
	r.Round.ballot, r.Round.candidates = r.ballot, candidates
	for id, err := range candidates {
		if err != nil {
			return nil, errors.Join(err, book.close())
		}
		r.ballot.add(id)
	}
	all := true
	for i, files := range stages {
		if err != nil || r.ballot.open == 0 {
			all = false
			break
		}
		r.last = i == len(stages)-1
		before := r.Files
		err = r.run(ctx, candidates, files)
		r.Stages = append(r.Stages, r.Files-before)
	}
	if err == nil {
		err = r.compared()
	}
	return r.Round, errors.Join(err, book.finish(all && err == nil && r.Skipped == 0))
}

// round is a Round under way.
type round struct {
	*Round
	o      Options
	book   *book
	ballot *ballot
	asked  bool // the index was asked
	last   bool // it is the last stage
	opened int64
	mu     sync.Mutex // guards all but o, while files are read
}

func (r *round) run(ctx context.Context, candidates iter.Seq2[lake.BlobID, error], files iter.Seq2[File, error]) error {
	var list []File
	for f, err := range files {
		if err != nil {
			return err
		}
		r.Files++
		if f.Missing {
			r.unread(f, errors.New("the metadata table lists it, and storage doesn't have it"))
			continue
		}
		if f, err = r.o.sized(ctx, f); err != nil {
			if !unreadable(err) {
				return err
			}
			r.unread(f, err)
			continue
		}
		known, err := r.remembered(f)
		if err != nil {
			return err
		}
		if !known {
			list = append(list, f)
		}
		if len(list) == batch {
			if err := r.read(ctx, candidates, list); err != nil {
				return err
			}
			list = list[:0]
		}
	}
	return r.read(ctx, candidates, list)
}

// remembered counts what the ledger knows of a file.
func (r *round) remembered(f File) (bool, error) {
	if f.Inflight {
		return false, nil
	}
	entry, ok, err := r.book.lookup(f)
	if err != nil || !ok {
		return false, err
	}
	// What was passed over then may matter now.
	for _, a := range entry.passed {
		if r.ballot.tooMany || r.hasAuthority(a) {
			return false, nil
		}
	}
	for _, b := range entry.ruled {
		if r.ballot.exact == nil || !r.ballot.exact.excludes(b) {
			return false, nil
		}
	}
	r.Remembered++
	r.ballot.vote(Finding{By: f.Key, Instant: f.Instant}, entry.votes, nil)
	r.book.keep(f)
	return true, nil
}

func (r *round) hasAuthority(print uint64) bool {
	for a := range r.ballot.authorities {
		if r.ballot.print(a) == print {
			return true
		}
	}
	return false
}

// read reads files that aren't known, until all candidates are settled.
func (r *round) read(ctx context.Context, candidates iter.Seq2[lake.BlobID, error], list []File) error {
	if len(list) > 0 && r.ballot.open > 0 && r.last && !r.asked && r.o.Index != nil {
		r.asked = true
		if err := r.ask(ctx, candidates); err != nil {
			return err
		}
	}
	group, gctx := errgroup.WithContext(ctx)
	group.SetLimit(r.o.workers())
	for _, f := range list {
		if gctx.Err() != nil {
			break
		}
		if !r.admit(f) {
			continue
		}
		group.Go(func() error { return r.file(gctx, f) })
	}
	return cmp.Or(group.Wait(), ctx.Err()) // files that weren't begun for it say nothing
}

// admit reports whether a file is still to be read.
func (r *round) admit(f File) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ballot.open == 0 {
		r.Skipped++
		return false
	}
	switch {
	case r.o.MaxFiles > 0 && r.opened >= r.o.MaxFiles:
		r.Limit = fmt.Sprintf("%d files", r.o.MaxFiles)
	case r.o.MaxBytes > 0 && r.Bytes > 0 && r.Bytes+f.Size > r.o.MaxBytes:
		r.Limit = fmt.Sprintf("%d bytes", r.o.MaxBytes)
	}
	if r.Limit != "" {
		r.Skipped++
		return false
	}
	r.opened++
	r.Bytes += f.Size
	return true
}

// ask asks the index for the candidates that aren't settled yet.
func (r *round) ask(ctx context.Context, candidates iter.Seq2[lake.BlobID, error]) error {
	var paths []string
	flush := func() error {
		alive, err := r.o.Index.Alive(ctx, paths)
		for path, g := range alive {
			r.ballot.vote(Finding{By: lake.Key(g.Partition + "/" + g.FileID)}, r.ballot.votes(path), nil)
		}
		paths = paths[:0]
		return err
	}
	for id, err := range candidates {
		if err != nil {
			return err
		}
		if f, _ := r.ballot.of(id); f.Fate == Referenced {
			continue
		}
		if paths = append(paths, string(id)); len(paths) == indexBatch {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if len(paths) == 0 {
		return nil
	}
	return flush()
}

// file reads one file and counts its votes.
func (r *round) file(ctx context.Context, f File) error {
	v, err := r.votes(ctx, f)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		if err = named(f, err); !unreadable(err) {
			return err
		}
		r.unread(f, err)
		return nil
	}
	if v.ruledOut && len(v.committed) == 0 && len(v.pending) == 0 {
		r.Ruled++
	} else {
		r.Read++
	}
	by := Finding{By: f.Key, Instant: f.Instant}
	if f.Inflight {
		r.ballot.vote(by, nil, v.committed)
	} else {
		r.ballot.vote(by, v.committed, nil)
	}
	r.ballot.vote(by, nil, v.pending)
	r.o.Observe.Emit(lake.Event{Stage: "references", Done: r.Read + r.Ruled})
	if f.Inflight || !v.settled {
		return nil
	}
	return r.book.add(f, entry{votes: v.committed, passed: v.passed, ruled: v.ruled})
}

func (r *round) unread(f File, err error) {
	r.UnreadFiles++
	if len(r.Unread) < mostUnread {
		r.Unread = append(r.Unread, Unread{f.Key, err})
	}
}

// votes is what one file refers to, in order.
type votes struct {
	committed, pending []vote
	passed             []uint64 // authorities whose chunks weren't read
	ruled              []bounds // of chunks that weren't read, under Options.Exact
	ruledOut           bool     // some chunk wasn't read
	settled            bool     // the same will be found again, but for passed and ruled
}

func (r *round) votes(ctx context.Context, f File) (v votes, err error) {
	add := func(to *[]vote, path string) {
		if path != "" {
			*to = append(*to, r.ballot.votes(path)...)
		}
	}
	defer func() {
		v.committed, v.pending = distinct(v.committed), distinct(v.pending)
	}()
	if !f.Log {
		p, err := r.o.parquet(ctx, f)
		if err != nil {
			return v, err
		}
		// What a Bloom filter rules out isn't remembered: a search in parts would never come to its end.
		s := &sieve{ballot: r.ballot, filters: r.o.MaxFiles == 0 && r.o.MaxBytes == 0}
		err = p.paths(s, func(path string) error { add(&v.committed, path); return nil })
		slices.Sort(s.passed)
		v.passed, v.ruled, v.settled = slices.Compact(s.passed), s.ruled, s.filtered == 0
		v.ruledOut = len(v.passed)+len(v.ruled)+s.filtered > 0
		return v, err
	}
	res, err := r.o.logBlocks(ctx, f, func(ref shape.Reference, _ bool) error {
		if ref.Pending {
			add(&v.pending, ref.Path)
		} else {
			add(&v.committed, ref.Path)
		}
		return nil
	})
	if err == nil && res.torn && (r.o.Writing || f.Inflight) {
		return v, &lake.Error{Op: "read log file", Kind: lake.Damaged, Err: errors.New("a torn block, which may be one that a writer is appending")}
	}
	v.settled = !res.torn && !res.pending
	return v, err
}

func distinct(list []vote) []vote {
	slices.SortFunc(list, func(a, b vote) int {
		return cmp.Or(cmp.Compare(a.print, b.print), bytes.Compare(a.spelled[:], b.spelled[:]))
	})
	return slices.Compact(list)
}
