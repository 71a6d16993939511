package cleanplan

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lakesweep/lakesweep/table/hudi/cleandoc"
	"github.com/lakesweep/lakesweep/table/hudi/folder"
	"github.com/lakesweep/lakesweep/table/hudi/retain"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// choose decides between all partitions and those touched since the last clean.
//
// Source: spec/hudi-clean.md section 5.4.
func (p *Plan) choose(ctx context.Context, last *cleandoc.Clean) (err error) {
	full := func() error {
		p.start, p.descend, err = p.t.Folders.All()
		return err
	}
	if p.Config.Policy == retain.LatestVersions || !p.Config.Incremental || p.Config.Orphans || last == nil || last.Meta.Extra[cleandoc.ExtraAhead] != "" || strings.TrimSpace(last.Meta.Earliest) == "" || last.Meta.Earliest < p.t.Timeline.Start() {
		return full()
	}
	for _, old := range strings.Split(last.Meta.Extra["savepointed_timestamps"], ",") {
		if old != "" && !slices.Contains(p.t.Services.SavepointTimes(), old) {
			return full() // what the savepoint held is due now
		}
	}
	touched, ok, err := p.touched(ctx, last.Meta.Earliest)
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
	for _, i := range p.t.Timeline.Writes() {
		if i.Time < from || i.Time >= p.Earliest.Time {
			continue
		}
		data, err := p.t.Timeline.Read(ctx, i, timeline.Completed)
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
		inserts := i.Action == timeline.Commit && p.t.Type() == "COPY_ON_WRITE"
		for partition, stats := range m.Stats {
			if !inserts || slices.ContainsFunc(stats, func(s timeline.WriteStat) bool { return !s.New() }) {
				seen[partition] = true
			}
		}
		for partition := range m.Replaced {
			seen[partition] = true
		}
	}
	for id, by := range p.t.Services.Replaced {
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

// Partitions returns those that the plan looks at, or begins at if it looks at
// all.
func (p *Plan) Partitions() []string { return p.start }
