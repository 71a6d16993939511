package hudi

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table/hudi/expiry"
	"github.com/lakesweep/lakesweep/table/hudi/folder"
	"github.com/lakesweep/lakesweep/table/hudi/retain"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// Plan is a clean that is planned but nowhere written. Its Verdicts are read
// once; the Summary is complete when they have ended without an error.
type Plan struct {
	Config      retain.Config
	Earliest    *timeline.Instant // the policy's earliest commit to retain, nil for none
	Last        string            // requested time of the last completed commit
	Why         string            // why there is nothing to do, or how the earliest commit came about
	Incremental bool              // only partitions touched since the last clean are looked at
	Nothing     bool              // there is nothing to do, whatever the files are
	Extra       map[string]string // extra metadata of the clean's plan
	Resumes     string            // the pending clean that is finished instead, "" for a new one
	Schemas     []string          // of the commits that planning read, as Avro JSON
	Summary     Summary

	t       *snapshot
	rules   expiry.Rules
	last    *lastClean                 // nil if there was none
	pending map[string]map[string]bool // of a pending clean: partition → names
	going   map[string]bool            // of a pending clean: partitions to be deleted
	start   []string
	descend bool
}

// Summary counts what a plan saw. It is filled while Verdicts runs.
type Summary struct {
	Partitions     int64
	Candidates     int64 // base and log files in the partitions looked at
	Protected      int64
	Dead           int64
	LiveFiles      int64    // of slices that stay, those listed but missing included
	LiveBytes      int64    // of those whose size is known
	LiveMissing    []string // the first hundred of the missing ones
	MissingCount   int64
	Unlisted       int64 // not in the metadata table, or of no complete commit
	Foreign        int64
	ListRequests   int64
	DeadPartitions []string
	Ghosts         map[string][]string // by partition: dead files that are already gone, but listed by the metadata table
	Left           int64               // dead files beyond Config.MaxFiles, left to a later clean
	HeldBack       string              // time of the oldest replace commit some of whose groups stay though expired, but for savepoints; "" if none
	Warnings       []string
}

// sample bounds the lists of names in a Summary.
const sample = 100

// newPlan works out which partitions a clean would look at and by which rules.
// It reads the timeline only.
//
// A clean that is pending already, anybody's, is finished before a new one is
// planned: the plan is that clean's then, whatever c says.
//
// Errors: Invalid, Damaged; Refused for a pending clean that can't be carried
// out, and while a restore, or the rollback of a complete write, is pending.
func newPlan(ctx context.Context, t *snapshot, c retain.Config) (*Plan, error) {
	p, err := makePlan(ctx, t, c)
	return p, t.wrap(err)
}

func makePlan(ctx context.Context, t *snapshot, c retain.Config) (*Plan, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if err := unwinding(ctx, t); err != nil {
		return nil, err
	}
	p := &Plan{Config: c, t: t, Extra: map[string]string{}}
	p.Summary.Ghosts = map[string][]string{}
	if i, plan, err := pendingClean(ctx, t); err != nil || i != nil {
		if err != nil {
			return nil, err
		}
		return p, p.resume(*i, plan)
	}
	writes := t.timeline.Writes()
	if len(writes) == 0 {
		return p.nothing("no completed commit")
	}
	p.Last = writes[len(writes)-1].Time
	last, err := readLastClean(ctx, t.timeline)
	if err != nil {
		return nil, err
	}
	p.last = last
	if since := commitsSince(writes, last); since < c.TriggerCommits {
		return p.nothing(fmt.Sprintf("%d commits since the last clean, %d are wanted", since, c.TriggerCommits))
	}
	if p.Earliest, p.Why, err = expiry.Earliest(t.timeline, c, t.o.Now(), t.zone, p.claimed()); err != nil {
		return nil, err
	}
	p.rules = expiry.Rules{Config: c, Services: &t.services}
	if p.Earliest != nil {
		p.rules.Earliest = p.Earliest.Time
	} else if c.Policy != retain.LatestVersions {
		return p.nothing(p.Why)
	}
	if len(t.services.Savepoints) > 0 { // until the next clean writers archive nothing that one of them holds
		p.Extra["savepointed_timestamps"] = strings.Join(t.services.SavepointTimes(), ",")
	}
	return p, p.choose(ctx, last)
}

// nothing makes p a plan of no clean. With Config.Orphans all partitions are
// looked at for leftovers all the same.
func (p *Plan) nothing(why string) (*Plan, error) {
	p.Nothing, p.Why = true, why
	p.rules.Services = &p.t.services
	if !p.Config.Orphans {
		return p, nil
	}
	var err error
	p.start, p.descend, err = p.t.folders.All()
	return p, err
}

func commitsSince(writes []timeline.Instant, last *lastClean) int {
	if last == nil {
		return len(writes)
	}
	n := 0
	for _, w := range writes {
		if w.Time > last.meta.LastCompleted {
			n++
		}
	}
	return n
}

// choose decides between all partitions and those touched since the last clean.
//
// Source: spec/hudi-clean.md section 5.4.
func (p *Plan) choose(ctx context.Context, last *lastClean) (err error) {
	full := func() error {
		p.start, p.descend, err = p.t.folders.All()
		return err
	}
	if p.Config.Policy == retain.LatestVersions || !p.Config.Incremental || p.Config.Orphans || last == nil || last.meta.Extra[extraAhead] != "" || strings.TrimSpace(last.meta.Earliest) == "" || last.meta.Earliest < p.t.timeline.Start() {
		return full()
	}
	for _, old := range strings.Split(last.meta.Extra["savepointed_timestamps"], ",") {
		if old != "" && !slices.Contains(p.t.services.SavepointTimes(), old) {
			return full() // what the savepoint held is due now
		}
	}
	touched, ok, err := p.touched(ctx, last.meta.Earliest)
	if err != nil {
		return err
	}
	if !ok {
		return full()
	}
	p.Incremental, p.start = true, touched
	return nil
}

// touched returns the partitions that commits from the last clean's earliest
// commit up to this one's wrote in a way that can leave something to clean, and
// those of older replace commits that the timeline still has: one that came to
// complete after the last clean, whose savepoint went, or that a filtered clean
// of Hudi's passed by, has groups to clean, and they would be alive again once
// it is archived. ok is false if a commit's metadata can't be read.
func (p *Plan) touched(ctx context.Context, from string) (list []string, ok bool, err error) {
	seen := make(map[string]bool)
	for _, i := range p.t.timeline.Writes() {
		if i.Time < from || i.Time >= p.Earliest.Time {
			continue
		}
		data, err := p.t.timeline.Read(ctx, i, timeline.Completed)
		if err != nil {
			return nil, false, err
		}
		m, err := timeline.DecodeCommit(data)
		if err != nil {
			p.Summary.Warnings = append(p.Summary.Warnings, fmt.Sprintf("all partitions are looked at: %v", err))
			return nil, false, nil
		}
		if text := m.Schema(); text != "" && !slices.Contains(p.Schemas, text) {
			p.Schemas = append(p.Schemas, text)
		}
		inserts := i.Action == timeline.Commit && p.t.kind() == "COPY_ON_WRITE"
		for partition, stats := range m.Stats {
			if !inserts || slices.ContainsFunc(stats, func(s timeline.WriteStat) bool { return !s.New() }) {
				seen[partition] = true
			}
		}
		for partition := range m.Replaced {
			seen[partition] = true
		}
	}
	for id, by := range p.t.services.Replaced {
		if by.Time < p.Earliest.Time {
			seen[id.Partition] = true
		}
	}
	for partition := range seen {
		if err := folder.Check(partition); err != nil {
			return nil, false, err
		}
		list = append(list, partition)
	}
	slices.Sort(list)
	return list, true, nil
}

// partitions returns those that the plan looks at, or begins at if it looks at
// all.
func (p *Plan) partitions() []string { return p.start }

// Verdicts yields the dead files, partition by partition in no order, and fills
// the Summary. To be called once.
//
// Memory: one partition for each worker. The strings of a verdict are parts of
// its partition's listing: who keeps a few of them clones them.
// Errors: those of the store; Damaged, Unsupported. After an error the plan is
// incomplete and must not be used.
func (p *Plan) Verdicts(ctx context.Context) iter.Seq2[lake.Verdict, error] {
	return func(yield func(lake.Verdict, error) bool) {
		if p.Nothing && !p.Config.Orphans {
			return
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		batches, result := make(chan []lake.Verdict), make(chan error, 1)
		spent := make(chan []lake.Verdict, p.t.o.Workers) // memory of batches that were read
		var mu sync.Mutex
		go func() {
			defer close(batches)
			requests, err := p.t.folders.Walk(ctx, p.start, p.descend, func(ctx context.Context, f folder.Partition) error {
				if !p.Config.Wanted(f.Path) {
					return nil
				}
				var room []lake.Verdict
				select {
				case room = <-spent:
				default:
				}
				dead, sum, err := p.judge(ctx, &f, room)
				if err != nil {
					return err
				}
				mu.Lock()
				if p.Summary.Dead > 0 && p.Summary.Dead+sum.Dead > p.Config.MaxFiles {
					sum = sum.leave()
					dead = nil
				}
				p.Summary.add(sum)
				mu.Unlock()
				if len(dead) == 0 {
					return nil
				}
				select {
				case batches <- dead:
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			})
			mu.Lock()
			p.Summary.ListRequests += requests
			mu.Unlock()
			result <- err
		}()
		for batch := range batches {
			for i := range batch {
				if !yield(batch[i], nil) {
					cancel()
					for range batches { //nolint:revive // lets the walk end
					}
					return
				}
			}
			select {
			case spent <- batch[:0]:
			default:
			}
		}
		if err := <-result; err != nil {
			yield(lake.Verdict{}, p.t.wrap(err))
		}
		slices.Sort(p.Summary.DeadPartitions)
		if left := p.Summary.Left; left > 0 {
			p.Summary.Warnings = append(p.Summary.Warnings, fmt.Sprintf("%d more dead files wait for further cleans: one clean holds %d", left, p.Config.MaxFiles))
		}
	}
}

// leave turns what was counted of a partition into one that waits for the next clean.
func (s Summary) leave() Summary {
	s.Left, s.Protected, s.Dead = s.Dead, s.Protected+s.Dead, 0
	s.DeadPartitions, s.Ghosts = nil, nil
	return s
}

func (s *Summary) add(o Summary) {
	s.Left += o.Left
	s.Partitions++
	s.Candidates += o.Candidates
	s.Protected += o.Protected
	s.Dead += o.Dead
	s.LiveFiles += o.LiveFiles
	s.LiveBytes += o.LiveBytes
	s.MissingCount += o.MissingCount
	s.LiveMissing = append(s.LiveMissing, o.LiveMissing[:min(len(o.LiveMissing), sample-len(s.LiveMissing))]...)
	s.Unlisted += o.Unlisted
	s.Foreign += o.Foreign
	s.DeadPartitions = append(s.DeadPartitions, o.DeadPartitions...)
	for partition, names := range o.Ghosts {
		s.Ghosts[partition] = names
	}
	if o.HeldBack != "" && (s.HeldBack == "" || o.HeldBack < s.HeldBack) {
		s.HeldBack = o.HeldBack
	}
	s.Warnings = append(s.Warnings, o.Warnings...)
}

// Claim returns the earliest commit to retain that the clean may claim, nil
// for none: not one beyond a replace commit whose groups partly stay; and for a
// clean that leaves files to a later one, or looked at some partitions only by
// wish, that of the clean before. For a clean that claims none, as all do under
// LatestVersions, writers archive up to the clean itself; so one that leaves
// replaced groups behind claims their replace commit instead.
//
// Source: spec/hudi-clean.md section 10, traps 1 and 2.
func (p *Plan) Claim() (*timeline.Instant, error) {
	held := p.Summary.HeldBack
	switch {
	case p.Config.Policy == retain.LatestVersions && p.Resumes == "":
		if p.partial() {
			held = p.t.services.OldestReplace()
		}
	case p.Earliest == nil:
		return nil, nil
	case p.partial():
		if before := p.claimBefore(); before != nil {
			return before, nil
		}
		held = p.t.services.OldestReplace()
	case held == "" || held >= p.Earliest.Time:
		return p.Earliest, nil
	}
	if held == "" {
		return nil, nil
	}
	if i, ok := p.t.timeline.Find(held, timeline.ReplaceCommit); ok {
		return &i, nil
	}
	return nil, errors.New("the replace commit " + held + " is gone from the timeline")
}

// partial reports whether the plan leaves out partitions, or dead files.
func (p *Plan) partial() bool { return p.Config.Filtered() || p.Summary.Left > 0 }

// ahead reports whether what a partial clean claims is no clean's: there is
// none before it that looked at all partitions. The next one has to.
func (p *Plan) ahead() bool {
	return p.partial() && (p.claimed() == "" || p.last.meta.Extra[extraAhead] != "")
}

// claimed is the earliest commit to retain that the last clean claims, "" for
// none.
func (p *Plan) claimed() string {
	if p.last == nil {
		return ""
	}
	return p.last.meta.Earliest
}

// claimBefore is what the clean before claims, also where the commit is archived.
func (p *Plan) claimBefore() *timeline.Instant {
	at := p.claimed()
	if at == "" {
		return nil
	}
	for _, i := range p.t.timeline.Writes() {
		if i.Time == at {
			return &i
		}
	}
	return &timeline.Instant{Time: at, Action: timeline.Commit, State: timeline.Completed}
}

// lastCompleted is the commit up to which the clean says that it has looked:
// a part of a split one goes on from where the clean before ended.
func (p *Plan) lastCompleted() string {
	switch {
	case p.Summary.Left == 0:
		return p.Last
	case p.last == nil:
		return ""
	}
	return p.last.meta.LastCompleted
}

// Cutoff is the instant before which files expired: that of the earliest
// commit to retain. It is zero where there is none, or its zone isn't known.
func (p *Plan) Cutoff() time.Time {
	if p.Earliest == nil {
		return time.Time{}
	}
	zone, err := p.t.zone()
	if err != nil {
		return time.Time{}
	}
	at, err := timeline.ParseTime(p.Earliest.Time, zone)
	if err != nil {
		return time.Time{} // instants that are no times
	}
	return at
}
