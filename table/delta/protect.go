package delta

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/keyset"
	"github.com/lakesweep/lakesweep/table/delta/checkpoint"
	"github.com/lakesweep/lakesweep/table/delta/logdir"
	"github.com/lakesweep/lakesweep/table/delta/logfault"
	"github.com/lakesweep/lakesweep/table/delta/logline"
	"github.com/lakesweep/lakesweep/table/delta/meta"
	"github.com/lakesweep/lakesweep/table/delta/txlog"
)

// ProtectRequest says what Protect must keep besides the live files.
type ProtectRequest struct {
	Cutoff       time.Time           // files live at any instant from here on are kept
	KeepVersions []int64             // all that these versions need is kept
	Partitions   bool                // collect partition values and directories, for WHERE
	CaseFold     bool                // also protect lake.Key.Fold of every key
	Keep         []lake.Key          // keys that somebody else needs, such as a shallow clone
	Expect       func(lake.Key) bool // which live files a complete listing must show; nil: all
	ExpectIn     func(lake.Key) bool // and in which directories; nil: in all. Both may be called by many goroutines
	// Narrow leaves keys in other directories than ExpectIn's out of Protection.Set, which then says nothing of them: whoever asks for it must let
	// nothing die there. A key is judged by its own directory, so that with CaseFold, where a store may show it in another, nothing is left out.
	Narrow bool
	Memory int64 // bytes for Protection.Set, beyond which it lies on disk; 0: no bound
}

// Protection is all that the log says about the files of a table.
type Protection struct {
	Set *keyset.Set // everything that must stay; live files and on-disk deletion vectors below the root are expected

	LiveFiles, LiveBytes int64 // data files of the version opened, those outside included
	OutsideFiles         int64 // of them, those outside the root
	LiveDVs              int64 // deletion vector files on disk below the root that live files need

	// HistoryGap says why the log can't prove what was live at the cutoff, "" if it can.
	HistoryGap string
	// OldestFeed is the oldest version from which on all change data is kept; -1 on tables without a change feed.
	OldestFeed int64
	// Seeds is a sorted sample of live keys, for splitting a listing.
	Seeds []lake.Key
	// Partitions holds the distinct partition values seen, if asked for; nil if there were too many.
	Partitions []PartitionDirs

	removals *removals
	parts    *checkpoint.Partitions
	caseFold bool // Set holds folded forms too
}

// holds reports whether k must stay, in any form that is the same object in the store.
func (p *Protection) holds(k lake.Key) bool {
	return p.Set.Has(k) || p.caseFold && p.Set.Has(k.Fold())
}

// PartitionDirs is one combination of partition values with the directories
// that files of it lie in; those of live files that only a checkpoint names are left out.
type PartitionDirs struct {
	Values lake.Partition
	Dirs   []lake.Key // sorted; "" is the root
}

// Removed looks up a key that is not in Set. ok is false for an orphan: no log
// entry known to us names it.
func (p *Protection) Removed(k lake.Key) (r Removed, ok bool) { return p.removals.get(k, p.parts) }

// protector gathers a Protection. Safe for concurrent use.
type protector struct {
	t       *Table
	req     ProtectRequest
	set     *keyset.Builder
	dvs     *keyset.Exact // of live files, for counting
	removed *removals
	parts   *checkpoint.Partitions
	dirs    *dirTable
	bound   int64 // ms; no checkpoint tombstone without a commit was committed later

	mu     sync.Mutex
	sinks  []*protectSink
	retain time.Duration // the smallest retention property seen, 0 if one can't be read
}

// Protect replays the whole log: once per plan.
//
// Commits above the checkpoint and the checkpoint give the live files. Every
// commit made since the cutoff gives what it removed, and older ones that are
// still there give dead files their reason.
//
// Memory: about 12 bytes a live file, 60 a file removed before the cutoff,
// and 40 an action above the checkpoint, besides a page of each column of a checkpoint a worker.
// Errors: Damaged, Unsupported; Invalid for a version to keep that can't be
// rebuilt any more.
// Source: spec/delta-vacuum.md 1.3-1.9.
func (t *Table) Protect(ctx context.Context, req ProtectRequest) (*Protection, error) {
	var p *Protection
	err := t.log.WithCheckpoint(func(base *logdir.Checkpoint) (err error) {
		p, err = t.protect(ctx, req, base)
		return err
	})
	if err != nil {
		return nil, t.wrap("replay log", err)
	}
	return p, nil
}

func (t *Table) protect(ctx context.Context, req ProtectRequest, base *logdir.Checkpoint) (*Protection, error) {
	g := &protector{t: t, req: req, set: protectedSet(req), dvs: keyset.NewExact(), removed: newRemovals(rand.Uint64()), retain: math.MaxInt64}
	if req.Partitions {
		g.parts, g.dirs = checkpoint.NewPartitions(t.log.Metadata.PartitionColumns), newDirTable()
	}
	g.noteRetention(t.log.Metadata)
	gap, err := t.historyGap(ctx, req.Cutoff)
	if err != nil {
		return nil, err
	}
	if gap != "" {
		g.bound = t.o.Now().UnixMilli()
		if err := g.noteCheckpoints(ctx); err != nil {
			return nil, err
		}
	}
	if err := g.replay(ctx, base); err != nil {
		return nil, err
	}
	for _, v := range req.KeepVersions {
		if err := g.keep(ctx, v); err != nil {
			return nil, err
		}
	}
	keep := g.start(false)
	for _, k := range req.Keep {
		keep.protect(lake.Paths{Key: k}, false)
	}
	return g.finish(ctx, gap)
}

func protectedSet(req ProtectRequest) *keyset.Builder {
	if req.Memory > 0 {
		return keyset.NewBounded("", req.Memory)
	}
	return keyset.New()
}

// start returns a sink for one goroutine. primary is true for the version
// opened, whose live files are counted and expected.
func (g *protector) start(primary bool) *protectSink {
	s := &protectSink{g: g, adds: keyset.NewBatch(g.set), primary: primary}
	if g.dirs != nil {
		s.dirs = g.dirs.cache()
	}
	g.mu.Lock()
	g.sinks = append(g.sinks, s)
	g.mu.Unlock()
	return s
}

// counts adds up what the sinks saw live.
func (g *protector) counts() (n liveCounts) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, s := range g.sinks {
		n.files, n.bytes, n.outside, n.dvs = n.files+s.n.files, n.bytes+s.n.bytes, n.outside+s.n.outside, n.dvs+s.n.dvs
		n.unsized = n.unsized || s.n.unsized
	}
	return n
}

// others looks at the metaData of each commit read, for the smallest
// retention that was ever in force.
func (g *protector) others(c logdir.File, b txlog.Batch) error {
	for _, a := range b.Others {
		if a.Op == logline.Metadata {
			m, err := meta.ParseMetadata(a.Raw)
			if err != nil {
				return logfault.Damaged(c.Name, err)
			}
			g.noteRetention(m)
		}
	}
	return nil
}

func (g *protector) noteRetention(m meta.Metadata) {
	d, err := m.Retention()
	if err != nil {
		d = 0 // nothing is sure then
	}
	g.mu.Lock()
	g.retain = min(g.retain, d)
	g.mu.Unlock()
}

// noteCheckpoints looks at the retention property of every checkpoint that is left.
func (g *protector) noteCheckpoints(ctx context.Context) error {
	for _, c := range g.t.log.Checkpoints() {
		h, err := g.t.log.Reader.Head(ctx, c)
		if logfault.IsCorrupt(err) {
			continue // whether it is needed, the replay finds out
		}
		if err != nil {
			return err
		}
		if h.MetadataVersion >= 0 {
			g.noteRetention(h.Metadata)
		}
	}
	return nil
}

// replay reads the version opened and at the same time what the commits below
// its checkpoint removed: what a removal is noted as doesn't depend on which of
// several is met first. Of commits, together as many are read at once as the log
// has workers; the checkpoint has its own bound (checkpoint.Reader.Files).
func (g *protector) replay(ctx context.Context, base *logdir.Checkpoint) error {
	var old []logdir.File
	if base != nil {
		old = slices.Clone(g.t.log.Segment.Below(base.Version))
		slices.Reverse(old)
	}
	var below error
	var reading sync.WaitGroup
	early, cancel := context.WithCancel(ctx)
	defer cancel()
	slots := make(chan struct{}, g.t.log.Dir.Workers())
	reader := txlog.Commits{Log: g.t.log, Parts: g.parts, SkipAdds: true, Slots: slots}
	reading.Go(func() { below = g.read(early, reader, old) })
	// WHERE judges files that are gone: where live ones lie is nothing to it.
	opened := txlog.Commits{Log: g.t.log, Parts: g.parts, RemovedOnly: true, Slots: slots}
	err := g.t.log.Replay(ctx, g.t.log.Segment.Version, base, opened, func() txlog.Sink { return g.start(true) }, g.others)
	if err == nil {
		n := g.counts()
		err = g.t.log.CheckCounts(n.files, n.bytes, n.unsized)
	}
	if err != nil {
		cancel()
	}
	reading.Wait()
	if err = cmp.Or(err, below); err != nil || g.parts == nil || g.removed.empty() {
		return err
	}
	// WHERE asks what the adds said of the files that are gone.
	reader.SkipAdds = false
	return g.read(ctx, reader, old)
}

// read hands the actions of old commits to a sink.
func (g *protector) read(ctx context.Context, reader txlog.Commits, commits []logdir.File) error {
	out := g.start(false)
	return reader.Each(ctx, commits, func(c logdir.File, b txlog.Batch) error {
		for i := range b.Files {
			if err := out.Gone(&b.Files[i], &c); err != nil {
				return logfault.LineError(c.Name, err)
			}
		}
		return g.others(c, b)
	})
}

// keep protects what one version needs.
func (g *protector) keep(ctx context.Context, v int64) error {
	defer g.settle()
	t := g.t
	invalid := func(err error) error {
		return &lake.Error{Op: fmt.Sprintf("keep version %d", v), Kind: lake.Invalid, Err: err,
			Hint: "Name versions that the log can still rebuild; DESCRIBE HISTORY lists them."}
	}
	if v < 0 || v > t.log.Segment.Version {
		return invalid(fmt.Errorf("versions are 0 to %d", t.log.Segment.Version))
	}
	var last error
	for _, c := range t.log.Checkpoints() {
		if c.Version > v || t.log.Segment.First() > c.Version+1 {
			continue
		}
		err := t.log.Replay(ctx, v, &c, txlog.Commits{Log: t.log, Parts: g.parts}, func() txlog.Sink { return keepSink{g.start(false), v} }, g.others)
		if !logfault.IsCorrupt(err) {
			return err
		}
		last = err
	}
	if t.log.Segment.FromZero {
		return t.log.Replay(ctx, v, nil, txlog.Commits{Log: t.log, Parts: g.parts}, func() txlog.Sink { return keepSink{g.start(false), v} }, g.others)
	}
	if last != nil {
		return last
	}
	return invalid(errors.New("its commits were cleaned up"))
}

// historyGap says why the commits can't prove what was live at an instant, ""
// if they can: they reach back to it, or to version 0.
//
// Source: spec/delta-vacuum.md 1.5.
func (t *Table) historyGap(ctx context.Context, cutoff time.Time) (string, error) {
	first := t.log.Segment.First()
	if first == 0 {
		return "", nil
	}
	if c := t.log.Segment.Commit(first); c != nil {
		at, err := t.log.CommitTime(ctx, *c)
		if err != nil || !at.After(cutoff) {
			return "", err
		}
	}
	for _, c := range t.log.Checkpoints() {
		// The version before the first commit was made before its checkpoint was written.
		if c.Version == first-1 && !c.Parts[0].Modified.After(cutoff) {
			return "", nil
		}
	}
	return fmt.Sprintf("commits before version %d are gone, and that one is younger than the cutoff", first), nil
}

// settle adds to the set what the sinks so far still hold, and lets go of
// those whose counts and samples nobody asks for: else each version kept would
// cost a Batch a worker until the end. Nobody uses the sinks meanwhile.
func (g *protector) settle() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, s := range g.sinks {
		s.adds.Flush()
	}
	g.sinks = slices.DeleteFunc(g.sinks, func(s *protectSink) bool { return !s.primary })
}

// finish makes the Protection.
func (g *protector) finish(ctx context.Context, gap string) (*Protection, error) {
	g.settle()
	t, n := g.t, g.counts()
	set, err := g.set.Finish()
	if err != nil {
		return nil, err
	}
	p := &Protection{Set: set, LiveFiles: n.files, LiveBytes: n.bytes, OutsideFiles: n.outside, LiveDVs: n.dvs,
		OldestFeed: -1, removals: g.removed, parts: g.parts, caseFold: g.req.CaseFold}
	if asked := t.o.Now().Sub(g.req.Cutoff); gap != "" && asked > g.retain {
		p.HistoryGap = fmt.Sprintf("%s; checkpoints keep removed files for %v only, %v are asked for", gap, g.retain, asked.Round(time.Second))
	}
	if t.log.Metadata.Configuration[meta.FeedKey] == "true" {
		v, ok, err := t.log.ActiveAt(ctx, g.req.Cutoff.Add(-time.Nanosecond))
		if err != nil {
			return nil, err
		}
		p.OldestFeed = t.log.Segment.First()
		if ok {
			p.OldestFeed = v + 1
		}
	}
	for _, s := range g.sinks {
		p.Seeds = append(p.Seeds, s.sampler.keys...)
	}
	slices.Sort(p.Seeds)
	p.Seeds = slices.Compact(p.Seeds)
	if g.dirs != nil {
		p.Partitions = g.dirs.list(g.parts)
	}
	t.mu.Lock()
	t.live = [2]int64{p.LiveFiles, p.LiveBytes}
	t.mu.Unlock()
	t.o.Observer.Emit(lake.Event{Stage: "replay", Done: p.LiveFiles, Finished: true})
	return p, nil
}

// sampler keeps an even sample of the keys of one goroutine.
type sampler struct {
	keys    []lake.Key
	step, n int
}

// sampleSize bounds a sampler.
const sampleSize = 4096

func (s *sampler) add(k lake.Key) {
	if s.step == 0 {
		s.step = 1
	}
	if s.n++; s.n%s.step != 0 {
		return
	}
	if len(s.keys) == sampleSize {
		for i := range sampleSize / 2 {
			s.keys[i] = s.keys[2*i+1]
		}
		s.keys, s.step = s.keys[:sampleSize/2], s.step*2
	}
	s.keys = append(s.keys, lake.Key(strings.Clone(string(k))))
}
