package delta

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/keyset"
	"github.com/lakesweep/lakesweep/table/delta/logdir"
	"github.com/lakesweep/lakesweep/table/delta/logfault"
	"github.com/lakesweep/lakesweep/table/delta/logline"
	"github.com/lakesweep/lakesweep/table/delta/meta"
	"github.com/lakesweep/lakesweep/table/delta/txlog"
)

// LiteRequest asks for the verdicts that the log alone gives.
type LiteRequest struct {
	Cutoff    time.Time
	Watermark Watermark
}

// LiteRange is the versions that LITE covers.
type LiteRange struct {
	First, Last int64  // inclusive; First > Last: nothing to do
	Next        *int64 // the watermark after a complete run of LITE or FULL; nil: as it was
}

// LiteRange computes the range of LITE: from after the watermark, or the first
// commit, to the version that was active at the cutoff.
//
// Errors: Refused with code lite_unproved where commits are gone that no run
// covered; the range's Next still holds for a full run then.
// Source: spec/delta-vacuum.md 3.5.
func (t *Table) LiteRange(ctx context.Context, req LiteRequest) (LiteRange, error) {
	r := LiteRange{First: t.log.Segment.First(), Last: -1}
	last, ok, err := t.log.ActiveAt(ctx, req.Cutoff.Add(-time.Nanosecond))
	if err != nil {
		return r, t.wrap("find lite range", err)
	}
	w := req.Watermark.Version
	if ok {
		if r.Last = last; w == nil || *w < last {
			r.Next = &last
		}
	}
	if r.First > 0 && (w == nil || *w < r.First-1) {
		return r, &lake.Error{Op: "find lite range", Table: t.root.String(), Kind: lake.Refused, Code: "lite_unproved",
			Err:  fmt.Errorf("the commits before version %d are gone and no earlier run covered them: LITE can't be proved", r.First),
			Hint: "Run once with --mode full; LITE works again after that."}
	}
	if w != nil {
		r.First = max(r.First, *w+1)
	}
	return r, nil
}

// Lite yields what the commits of the range removed before the cutoff and p
// doesn't protect, each key once: data files, deletion vectors, change data.
// Storage times are unknown; apply stats each. What lies in or below any
// _delta_log never comes.
//
// Errors: as LiteRange; Damaged. After an error the stream is incomplete.
func (t *Table) Lite(ctx context.Context, req LiteRequest, p *Protection) iter.Seq2[lake.Verdict, error] {
	return func(yield func(lake.Verdict, error) bool) {
		err := t.lite(ctx, req, p, func(v lake.Verdict) bool { return yield(v, nil) })
		if err != nil && !errors.Is(err, errStopped) {
			yield(lake.Verdict{}, t.wrap("plan lite", err))
		}
	}
}

// errStopped ends a reading whose consumer wants no more.
var errStopped = errors.New("stopped")

func (t *Table) lite(ctx context.Context, req LiteRequest, p *Protection, yield func(lake.Verdict) bool) error {
	r, err := t.LiteRange(ctx, req)
	if err != nil || r.First > r.Last {
		return err
	}
	commits := t.log.Segment.CommitsFrom(r.First)
	commits = commits[:r.Last-commits[0].Version+1]
	s := &liteSink{protectSink: (&protector{t: t, req: ProtectRequest{Cutoff: req.Cutoff}}).start(false),
		p: p, yielded: keyset.NewExact(), yield: yield}
	reader := txlog.Commits{Log: t.log, Parts: p.parts, SkipAdds: true}
	err = reader.Each(ctx, commits, func(c logdir.File, b txlog.Batch) error {
		for i := range b.Files {
			if err := s.Gone(&b.Files[i], &c); err != nil {
				if errors.Is(err, errStopped) {
					return err
				}
				return logfault.LineError(c.Name, err)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return p.Set.Err() // files that it couldn't ask about were passed over
}

type liteSink struct {
	*protectSink
	p       *Protection
	yielded *keyset.Exact
	yield   func(lake.Verdict) bool
}

func (s *liteSink) Gone(a *logline.Action, c *logdir.File) error {
	if a.Op == logline.Add {
		return nil
	}
	paths, err := s.g.t.logPath(a.Path)
	if err != nil {
		return err
	}
	if err := s.verdict(paths, a, c, a.Size); err != nil {
		return err
	}
	dv, onDisk, err := s.g.dv(a)
	if err != nil || !onDisk {
		return err
	}
	return s.verdict(dv, a, c, -1)
}

func (s *liteSink) verdict(paths lake.Paths, a *logline.Action, c *logdir.File, size int64) error {
	k := paths.Key
	if paths.Outside || s.p.holds(k) || inLog(k) || s.g.removalTime(a, c) >= s.g.req.Cutoff.UnixMilli() || !s.yielded.Add(string(k)) {
		return nil
	}
	v := lake.Verdict{Key: k, Size: size, Reason: lake.Tombstone, Tombstone: time.UnixMilli(s.g.removalTime(a, c)).UTC()}
	if a.Op == logline.CDC {
		v.Reason = lake.ChangeData
	}
	if known, ok := s.p.Removed(k); ok {
		v.Reason, v.Size = known.Reason, max(size, known.Size)
		if !known.Time.IsZero() {
			v.Tombstone = known.Time
		}
		if len(known.Partitions) > 0 {
			v.Partition = known.Partitions[0]
		}
	}
	if !s.yield(v) {
		return errStopped
	}
	return nil
}

// inLog reports whether k lies in or below a folder _delta_log at any depth.
func inLog(k lake.Key) bool {
	return strings.Contains("/"+string(k)+"/", "/"+meta.LogDir+"/")
}
