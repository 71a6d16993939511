package cleanplan

import (
	"context"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table/hudi/filegroup"
	"github.com/lakesweep/lakesweep/table/hudi/folder"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// orphans adds what failed writes left in a partition: base and, from version
// 8 on, log files whose instant is on no timeline, that nothing names and that
// are older than Config.OrphanAge. They are no part of a clean's plan on the
// timeline: Hudi knows nothing of them.
//
// A writer puts its instant on the timeline before its first file, and a
// rollback takes it off only after it has removed the files. While one is
// pending nothing is an orphan. An instant from before the timeline's start and
// the archived timeline's may have been completed.
//
// Source: Hudi 1.2.0, HoodieRepairTool; spec/hudi-clean.md section 7.
func (p *Plan) orphans(ctx context.Context, out []lake.Verdict, f *folder.Partition, groups []filegroup.Group) ([]lake.Verdict, error) {
	for _, i := range p.t.Timeline.Instants {
		if (i.Action == timeline.Rollback || i.Action == timeline.Restore) && i.State != timeline.Completed {
			return out, nil
		}
	}
	candidates := f.Unlisted
	for _, g := range groups {
		if p.t.Folders.Files != nil {
			break // what the metadata table lists was committed, whatever the timelines have kept
		}
		for _, s := range g.Hidden {
			s.Files(func(f *folder.File) { candidates = append(candidates, *f) })
		}
	}
	oldest := p.t.Options.Now().Add(-p.Config.OrphanAge)
	for _, c := range candidates {
		orphan, err := p.orphan(ctx, f.Path, c)
		if err != nil {
			return nil, err
		}
		if !orphan {
			continue
		}
		n := len(out)
		if out, err = p.append(ctx, out, lake.Verdict{Key: f.Key(c.Name), Size: c.Size, Modified: c.Modified, Reason: lake.FailedWrite, ETag: c.ETag}); err != nil {
			return nil, err
		}
		if len(out) > n && !(out[n].Modified.Before(oldest) && !out[n].Modified.IsZero()) {
			out = out[:n]
		}
	}
	return out, nil
}

// orphan reports whether no timeline, savepoint or pending plan knows a file.
func (p *Plan) orphan(ctx context.Context, partition string, f folder.File) (bool, error) {
	s := p.rules.Services
	_, saved := s.Saved[f.Name]
	_, planned := s.Planned[filegroup.PlannedFile{Partition: partition, Name: f.Name}]
	if f.Missing || saved || planned || f.Log && p.t.Timeline.Layout == timeline.Layout1 {
		return false, nil
	}
	if p.t.View.OnTimeline(f.Instant) {
		return false, nil
	}
	return p.t.View.NeverCompleted(ctx, f.Instant)
}
