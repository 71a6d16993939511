package filegroup

import (
	"context"
	"slices"
	"sort"
	"strings"

	"github.com/lakesweep/lakesweep/table/hudi/datafile"
	"github.com/lakesweep/lakesweep/table/hudi/folder"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// Group is a file group with its committed slices, newest first.
type Group struct {
	ID     ID
	Slices []*Slice
	// Hidden are the slices of uncommitted instants, newest first.
	Hidden []*Slice
}

// Slice is a file slice. A pending compaction makes one without files.
type Slice struct {
	Instant string
	Bases   []*folder.File // one, more only after retried tasks
	Logs    []*folder.File
}

// Whole reports whether no file of the slice is missing.
func (s *Slice) Whole() bool {
	gone := func(f *folder.File) bool { return f.Missing }
	return !slices.ContainsFunc(s.Bases, gone) && !slices.ContainsFunc(s.Logs, gone)
}

// Files calls f for each file of the slice.
func (s *Slice) Files(f func(*folder.File)) {
	for _, b := range s.Bases {
		f(b)
	}
	for _, l := range s.Logs {
		f(l)
	}
}

// View tells the file groups of a table's partitions, and what was committed,
// as the timeline said when it was made. Safe for concurrent use, but for
// Follow.
type View struct {
	timeline   *timeline.Timeline
	services   *Services
	completion *completions
	visible    visibility
}

// NewView returns the view by a timeline and what it says of files. archive
// reads the archived timeline; it is called once, when first needed.
func NewView(tl *timeline.Timeline, s *Services, archive func(context.Context) (timeline.Archive, error)) *View {
	c := newCompletions(tl, archive)
	return &View{timeline: tl, services: s, completion: c, visible: newVisibility(tl, c)}
}

// Groups builds the file groups of a partition from the files in it, ordered
// by file id. They refer to the files given.
//
// Source: Hudi 1.2.0, AbstractTableFileSystemView.buildFileGroups and
// HoodieFileGroup; spec/hudi-clean.md section 4.2; invariants 2 and 3.
func (v *View) Groups(ctx context.Context, partition string, files []folder.File) ([]Group, error) {
	at := inOrder(files)
	var out []Group
	for start, end := 0, 0; start < len(at); start = end {
		id := at[start].FileID
		for end = start + 1; end < len(at) && at[end].FileID == id; {
			end++
		}
		if out == nil {
			out = make([]Group, 0, len(at)/end+1) // groups are mostly alike
		}
		g := Group{ID: ID{partition, id}}
		all, err := v.slices(ctx, g.ID, at[start:end])
		if err != nil {
			return nil, err
		}
		g.Slices = all[:0]
		by, replaced := v.services.Replaced[g.ID]
		for _, s := range all {
			committed, err := v.visible.committed(ctx, s.Instant)
			if err != nil {
				return nil, err
			}
			if committed || replaced && v.superseded(s.Instant, by) {
				g.Slices = append(g.Slices, s)
			} else {
				g.Hidden = append(g.Hidden, s)
			}
		}
		out = append(out, g)
	}
	return out, nil
}

// superseded reports whether an uncommitted slice of a replaced group goes with
// the group: no writer is at it. Hudi takes what is older than the timeline for
// committed, so what stayed of the group would come back as rows.
func (v *View) superseded(instant string, by timeline.Instant) bool {
	return instant < v.completion.start || instant < by.Time && !v.OnTimeline(instant)
}

// inOrder returns the files by group, newest instant first, then by name.
func inOrder(files []folder.File) []*folder.File {
	at := make([]*folder.File, len(files))
	for i := range files {
		at[i] = &files[i]
	}
	slices.SortFunc(at, func(a, b *folder.File) int {
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
func (v *View) slices(ctx context.Context, id ID, files []*folder.File) ([]*Slice, error) {
	made, all := make([]Slice, 0, len(files)+1), make([]*Slice, 0, len(files)+1)
	at := func(instant string) *Slice {
		i := sort.Search(len(all), func(i int) bool { return all[i].Instant <= instant })
		if i == len(all) || all[i].Instant != instant {
			made = append(made, Slice{Instant: instant})
			all = slices.Insert(all, i, &made[len(made)-1])
		}
		return all[i]
	}
	var logs []*folder.File
	for i, f := range files {
		if f.Log {
			logs = append(logs, f)
			continue
		}
		if s := at(f.Instant); s.Bases == nil {
			s.Bases = files[i : i+1 : i+1]
		} else {
			s.Bases = append(s.Bases, f)
		}
	}
	if c := v.services.Compacting[id]; c.At != "" {
		at(c.At)
	}
	slices.SortFunc(logs, func(a, b *folder.File) int { return datafile.CompareLogs(a.File, b.File) })
	for _, l := range logs {
		instant, err := v.sliceOf(ctx, l, all)
		if err != nil {
			return nil, err
		}
		s := at(instant)
		s.Logs = append(s.Logs, l)
	}
	return all, nil
}

// sliceOf returns the instant of the slice that a log belongs to.
func (v *View) sliceOf(ctx context.Context, l *folder.File, all []*Slice) (string, error) {
	if v.timeline.Layout == timeline.Layout1 || len(all) == 0 {
		return l.Instant, nil
	}
	completion, ok, err := v.completion.of(ctx, l.Instant)
	if err != nil {
		return "", err
	}
	if !ok {
		return all[0].Instant, nil
	}
	if len(completion) != len(all[0].Instant) {
		completion = l.Instant // instants that are no times, or of another era
	}
	for _, s := range all {
		if completion >= s.Instant {
			return s.Instant, nil
		}
	}
	return l.Instant, nil
}

// Has reports whether a file is part of the slice.
func (s *Slice) Has(d datafile.File) bool {
	found := false
	s.Files(func(f *folder.File) { found = found || f.Name == d.Name })
	return found
}
