package antijoin

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/lake/keyset"
	"github.com/lakesweep/lakesweep/store"
)

// Match is what a partition predicate says of an object, in SQL's three values.
type Match int8

// The values of Match. The zero value keeps the object as unknown.
const (
	Unknown Match = iota // the partition isn't known, or the predicate is NULL for it
	True
	False
)

// Removal is why an object that nothing protects is dead.
type Removal struct {
	Reason    lake.Reason
	Time      time.Time      // effective removal time; zero if the log names none
	Partition lake.Partition // nil if unknown
}

// Options say how to judge. Protected, Hidden, Reason and Cutoff must be set.
type Options struct {
	Protected *keyset.Set
	Cutoff    time.Time // objects modified at or after it are too young
	// Hidden reports whether an object may never be a candidate by its name, at any depth.
	Hidden func(lake.Key) bool
	// Match filters by partition. Nil lets everything pass.
	Match func(lake.Key) Match
	// Absent reports whether an unprotected object is known to be gone: it is no candidate then. Nil knows of none.
	Absent func(lake.Key) bool
	// DirMatch reports whether everything below a directory matches. Only such directories may die. Nil means all of them without Match, none with it.
	DirMatch func(lake.Key) bool
	// Reason says why an unprotected old object is dead.
	Reason func(lake.Key) Removal
	// Stat describes objects whose time a listing doesn't give, and directories; fs.ErrNotExist if it is gone. Nil keeps such objects as unknown.
	Stat func(ctx context.Context, name string) (store.Info, error)

	// Inside returns the foreign table that a directory lies in or is. It is asked about the dead rows' directories where the candidates show no commit of the
	// table's own log: then they may be an excerpt, which shows no marks of tables either. Nil where a listing shows all. Called by several goroutines.
	Inside func(ctx context.Context, dir lake.Key) (root lake.Key, ok bool, err error)

	Repeats   bool          // an object may come twice, as in inventories: it is dead only if every row says so, and the youngest counts
	CaseFolds bool          // compare folded forms too (store.Traits.CaseFolds)
	Grain     time.Duration // resolution of Modified; an object may be younger by so much
	NotAfter  time.Time     // objects modified after it can't die either, if not zero: the start of an inventory's scan
	Memory    int64         // bytes for sorting dead rows and, where the protected set lies on disk, for a part of it; 0: 32 MiB and 64 MiB
	TempDir   string        // "": the system's

	Observe lake.Observer // stage "join"
}

// Join is one run of candidates against the protected set. Batch, Directory,
// Foreign and Spare are safe for concurrent use; Finish is called once, after them.
type Join struct {
	o       Options
	foreign *foreignRoots // by itself, for the Result keeps it and is to hold nothing else of the Join
	dirs    directories
	done    atomic.Int64
	whole   atomic.Bool // commits of the table's log were among the candidates
	rows    *filelist.Sorter
	spill   *spill          // of candidates, where the protected set lies on disk
	benches sync.Pool       // of *bench
	spared  *keyset.Builder // unprotected objects that aren't dead; nil if no object comes twice

	mu    sync.Mutex
	tally tally
	err   error
	links map[lake.Key]bool // what Spare told of
}

// New returns a Join. It must be closed, which removes its temporary files.
func New(o Options) *Join {
	j := &Join{o: o, foreign: new(foreignRoots), rows: filelist.NewSorter(o.TempDir, o.Memory), tally: newTally()}
	if o.Repeats {
		j.spared = keyset.New()
	}
	if o.Protected.Spilled() && !o.CaseFolds {
		// A folded name may lie in another shard, so there each is looked up by itself.
		j.spill = newSpill(o.Protected, o.TempDir, o.Memory)
	}
	return j
}

// Batch judges objects that a listing or an inventory shows, with full names
// below the root; of their memory nothing is kept. An object must come once only.
//
// Errors: those of Stat but fs.ErrNotExist, and of the temporary files. After
// an error there is no result.
func (j *Join) Batch(ctx context.Context, objects []store.Info) error {
	err := ctx.Err()
	if err == nil && j.spill != nil {
		err = j.spill.add(objects)
	} else if err == nil {
		err = j.judgeAll(ctx, objects)
	}
	if err != nil {
		j.mu.Lock()
		defer j.mu.Unlock()
		if j.err == nil {
			j.err = err
		}
		return err
	}
	j.o.Observe.Emit(lake.Event{Stage: "join", Done: j.done.Add(int64(len(objects)))})
	return nil
}

// bench is what judging a batch takes, to be used again.
type bench struct {
	keys  []lake.Key
	needs []keyset.Found
	dead  []lake.Verdict
}

// judgeAll judges objects, all or none.
func (j *Join) judgeAll(ctx context.Context, objects []store.Info) error {
	b, ok := j.benches.Get().(*bench)
	if !ok {
		b = new(bench)
	}
	b.keys, b.needs = slices.Grow(b.keys[:0], len(objects))[:len(objects)], slices.Grow(b.needs[:0], len(objects))[:len(objects)]
	t := newTally()
	t.dead = b.dead[:0]
	defer func() {
		clear(b.keys) // they hold the page
		clear(t.dead)
		b.dead = t.dead
		j.benches.Put(b)
	}()
	for i := range objects {
		b.keys[i] = lake.Listed(objects[i].Name)
	}
	j.protectedAll(b.keys, b.needs)
	for i, k := range b.keys {
		if err := j.judge(ctx, k, &objects[i], b.needs[i], &t); err != nil {
			return err
		}
	}
	return j.keep(&t)
}

// keep adds what was judged to the whole.
func (j *Join) keep(t *tally) error {
	if err := j.rows.AddAll(t.dead); err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.tally.add(t)
	return nil
}

// Foreign tells of a table below the root, where a listing saw that a directory
// is one and leaves it out. Batch finds those whose names it sees by itself.
func (j *Join) Foreign(root lake.Key) {
	if !j.o.Hidden(root) {
		j.foreign.add(root)
	}
}

// Spare tells of an object that another name leads to, as a symlink does: it
// stays, for nobody knows who reads it by that name.
func (j *Join) Spare(k lake.Key) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.links == nil {
		j.links = make(map[lake.Key]bool)
	}
	j.links[k] = true
}

// Result is what a join found.
type Result struct {
	Totals  filelist.Totals // the counts of objects; requests, cost and time are the caller's
	Foreign []string        // roots of tables inside the table, relative, in byte order
	rows    *filelist.Sorter
	spared  spared
}

// Finish ends the join and judges the directories. The Result outlives the
// Join, holds neither it nor the protected set, and is to be closed by itself.
//
// Errors: the first of any Batch; those of Stat.
func (j *Join) Finish(ctx context.Context) (*Result, error) {
	if err := j.failed(); err != nil {
		return nil, err
	}
	if j.spill != nil {
		if err := j.spill.each(ctx, j.judgeAll); err != nil {
			return nil, err
		}
	}
	t := newTally()
	if err := j.emptyDirectories(ctx, &t); err != nil {
		return nil, err
	}
	if err := j.keep(&t); err != nil {
		return nil, err
	}
	if err := j.lookInside(ctx); err != nil {
		return nil, err
	}
	r := &Result{Foreign: j.foreign.sorted(), rows: j.rows, spared: spared{foreign: j.foreign, links: j.links}}
	if j.spared != nil {
		r.spared.keys = j.spared.Done()
	}
	if err := j.settle(&r.spared); err != nil {
		return nil, err
	}
	if err := j.o.Protected.Err(); err != nil {
		return nil, err
	}
	if j.spill != nil {
		if err := j.spill.close(); err != nil {
			return nil, spillError(err)
		}
	}
	j.rows, j.spill = nil, nil // the dead rows are the Result's now
	r.Totals = j.tally.totals()
	j.o.Observe.Emit(lake.Event{Stage: "join", Done: j.done.Load(), Finished: true})
	return r, nil
}

func (j *Join) failed() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.err
}

// Dead yields the dead objects and directories in byte order of their keys. It
// may be ranged over again, by several at once too, until the Result is closed.
//
// Errors: Internal, once, as the last element.
func (r *Result) Dead() iter.Seq2[lake.Verdict, error] {
	return func(yield func(lake.Verdict, error) bool) {
		var held lake.Verdict // the youngest row so far of the key at hand
		for v, err := range r.rows.Sorted() {
			switch {
			case err != nil:
				yield(lake.Verdict{}, err)
				return
			case r.spared.foreign.holds(v.Key), r.spared.has(v.Key):
				continue
			case v.Key == held.Key:
				if v.Modified.After(held.Modified) {
					held = v
				}
				continue
			case held.Key != "" && !yield(held, nil):
				return
			}
			held = v
		}
		if held.Key != "" {
			yield(held, nil)
		}
	}
}

// Close gives up the dead objects and what of them lies in temporary files.
func (r *Result) Close() error { return r.rows.Close() }

// Close removes the Join's temporary files. It has none once it is finished.
func (j *Join) Close() error {
	var err error
	if j.rows != nil {
		err = j.rows.Close()
	}
	if j.spill != nil {
		err = errors.Join(err, j.spill.close())
	}
	return err
}
