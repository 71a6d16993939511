package hudi

import (
	"context"
	"slices"
	"sort"
	"strings"

	"github.com/lakesweep/lakesweep/table/hudi/datafile"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// group is a file group with its committed slices, newest first.
type group struct {
	id     groupID
	slices []*slice
	// hidden are the slices of uncommitted instants, newest first.
	hidden []*slice
}

// slice is a file slice. A pending compaction makes one without files.
type slice struct {
	instant string
	bases   []*file // one, more only after retried tasks
	logs    []*file
}

// whole reports whether no file of the slice is missing.
func (s *slice) whole() bool {
	gone := func(f *file) bool { return f.missing }
	return !slices.ContainsFunc(s.bases, gone) && !slices.ContainsFunc(s.logs, gone)
}

// files calls f for each file of the slice.
func (s *slice) files(f func(*file)) {
	for _, b := range s.bases {
		f(b)
	}
	for _, l := range s.logs {
		f(l)
	}
}

// view tells the file groups of a table's partitions, and what was committed,
// as the timeline said when it was made. Safe for concurrent use.
type view struct {
	timeline   *timeline.Timeline
	services   *services
	completion *completions
	visible    visibility
}

// newView returns the view by a timeline and what it says of files. archive
// reads the archived timeline; it is called once, when first needed.
func newView(tl *timeline.Timeline, s *services, archive func(context.Context) (timeline.Archive, error)) *view {
	c := newCompletions(tl, archive)
	return &view{timeline: tl, services: s, completion: c, visible: newVisibility(tl, c)}
}

// groups builds the file groups of a partition from the files in it, ordered
// by file id. They refer to the files given.
//
// Source: Hudi 1.2.0, AbstractTableFileSystemView.buildFileGroups and
// HoodieFileGroup; spec/hudi-clean.md section 4.2; careful differences 3 and 4.
func (v *view) groups(ctx context.Context, partition string, files []file) ([]group, error) {
	at := inOrder(files)
	var out []group
	for start, end := 0, 0; start < len(at); start = end {
		id := at[start].FileID
		for end = start + 1; end < len(at) && at[end].FileID == id; {
			end++
		}
		if out == nil {
			out = make([]group, 0, len(at)/end+1) // groups are mostly alike
		}
		g := group{id: groupID{partition, id}}
		all, err := v.slices(ctx, g.id, at[start:end])
		if err != nil {
			return nil, err
		}
		g.slices = all[:0]
		by, replaced := v.services.replaced[g.id]
		for _, s := range all {
			committed, err := v.visible.committed(ctx, s.instant)
			if err != nil {
				return nil, err
			}
			if committed || replaced && v.superseded(s.instant, by) {
				g.slices = append(g.slices, s)
			} else {
				g.hidden = append(g.hidden, s)
			}
		}
		out = append(out, g)
	}
	return out, nil
}

// superseded reports whether an uncommitted slice of a replaced group goes with
// the group: no writer is at it. Hudi takes what is older than the timeline for
// committed, so what stayed of the group would come back as rows.
func (v *view) superseded(instant string, by timeline.Instant) bool {
	return instant < v.completion.start || instant < by.Time && !v.onTimeline(instant)
}

// inOrder returns the files by group, newest instant first, then by name.
func inOrder(files []file) []*file {
	at := make([]*file, len(files))
	for i := range files {
		at[i] = &files[i]
	}
	slices.SortFunc(at, func(a, b *file) int {
		if c := strings.Compare(a.FileID, b.FileID); c != 0 {
			return c
		}
		if c := strings.Compare(b.Instant, a.Instant); c != 0 {
			return c
		}
		return strings.Compare(a.Name, b.Name)
	})
	return at
}

// slices sorts a group's files into slices, newest first. The files come
// ordered by name, newest instant first, and are shared by the slices.
func (v *view) slices(ctx context.Context, id groupID, files []*file) ([]*slice, error) {
	made, all := make([]slice, 0, len(files)+1), make([]*slice, 0, len(files)+1)
	at := func(instant string) *slice {
		i := sort.Search(len(all), func(i int) bool { return all[i].instant <= instant })
		if i == len(all) || all[i].instant != instant {
			made = append(made, slice{instant: instant})
			all = slices.Insert(all, i, &made[len(made)-1])
		}
		return all[i]
	}
	var logs []*file
	for i, f := range files {
		if f.Log {
			logs = append(logs, f)
			continue
		}
		if s := at(f.Instant); s.bases == nil {
			s.bases = files[i : i+1 : i+1]
		} else {
			s.bases = append(s.bases, f)
		}
	}
	if c := v.services.compacting[id]; c.at != "" {
		at(c.at)
	}
	slices.SortFunc(logs, func(a, b *file) int { return datafile.CompareLogs(a.File, b.File) })
	for _, l := range logs {
		instant, err := v.sliceOf(ctx, l, all)
		if err != nil {
			return nil, err
		}
		s := at(instant)
		s.logs = append(s.logs, l)
	}
	return all, nil
}

// sliceOf returns the instant of the slice that a log belongs to.
func (v *view) sliceOf(ctx context.Context, l *file, all []*slice) (string, error) {
	if v.timeline.Layout == timeline.Layout1 || len(all) == 0 {
		return l.Instant, nil
	}
	completion, ok, err := v.completion.of(ctx, l.Instant)
	if err != nil {
		return "", err
	}
	if !ok {
		return all[0].instant, nil
	}
	if len(completion) != len(all[0].instant) {
		completion = l.Instant // instants that are no times, or of another era
	}
	for _, s := range all {
		if completion >= s.instant {
			return s.instant, nil
		}
	}
	return l.Instant, nil
}
