package hudi

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"

	"github.com/lakesweep/lakesweep/table"
	"github.com/lakesweep/lakesweep/table/hudi/folder"
)

// Verify compares the metadata table with the folders and names what belongs
// to no slice. emit is called by one goroutine at a time. Nothing is changed.
//
// Errors: as Verdicts.
func (t *Table) Verify(ctx context.Context, emit func(table.Finding) error) error {
	var mu sync.Mutex
	tell := func(f table.Finding) error {
		mu.Lock()
		defer mu.Unlock()
		return emit(f)
	}
	if t.snap.Distrust != nil {
		if err := tell(table.Finding{Type: "unreadable", Path: ".hoodie/metadata", Detail: t.snap.Distrust.Error()}); err != nil {
			return err
		}
	}
	for _, s := range t.snap.Timeline.Strays {
		if err := tell(table.Finding{Type: "leftover", Path: t.snap.Timeline.Dir + "/" + s, Detail: "a temporary file that a crash left on the timeline"}); err != nil {
			return err
		}
	}
	start, descend, err := t.snap.Folders.All()
	if err != nil {
		return t.snap.Wrap(err)
	}
	_, err = t.snap.Folders.Walk(ctx, start, descend, func(ctx context.Context, f folder.Partition) error { return t.verify(ctx, f, tell) })
	return t.snap.Wrap(err)
}

func (t *Table) verify(ctx context.Context, f folder.Partition, tell func(table.Finding) error) error {
	if f.Nested {
		if err := tell(table.Finding{Type: "foreign_table", Path: f.Path, Detail: "another table lies in this partition"}); err != nil {
			return err
		}
	}
	for _, one := range f.Files {
		if one.Missing {
			if err := tell(table.Finding{Type: "missing", Path: string(f.Key(one.Name)), Detail: "the metadata table lists it, and storage doesn't have it"}); err != nil {
				return err
			}
			continue
		}
		if err := t.verifySize(ctx, f, one, tell); err != nil {
			return err
		}
	}
	for _, one := range f.Unlisted {
		if err := tell(table.Finding{Type: "leftover", Path: string(f.Key(one.Name)), Detail: "the metadata table doesn't list it: a write in flight or what a failed one left"}); err != nil {
			return err
		}
	}
	groups, err := t.snap.View.Groups(ctx, f.Path, f.Files)
	if err != nil {
		return err
	}
	for _, g := range groups {
		for _, s := range g.Hidden {
			var names []string
			s.Files(func(f *folder.File) { names = append(names, f.Name) })
			for _, name := range names {
				if err := tell(table.Finding{Type: "leftover", Path: string(f.Key(name)), Detail: fmt.Sprintf("its instant %s is not complete", s.Instant)}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// verifySize compares a file's size with the one in the metadata table.
func (t *Table) verifySize(ctx context.Context, f folder.Partition, one folder.File, tell func(table.Finding) error) error {
	key, actual := string(f.Key(one.Name)), one.Size
	if one.Listed == 0 {
		return nil
	}
	if one.Modified.IsZero() { // the listing told the name only
		info, err := t.snap.Reader.Stat(ctx, key)
		if errors.Is(err, fs.ErrNotExist) {
			return tell(table.Finding{Type: "missing", Path: key, Detail: "the metadata table lists it, and storage doesn't have it"})
		}
		if err != nil {
			return err
		}
		actual = info.Size
	}
	if actual < 0 || actual == one.Listed {
		return nil
	}
	return tell(table.Finding{Type: "size_mismatch", Path: key, Detail: fmt.Sprintf("the metadata table says %d bytes, storage has %d", one.Listed, actual), Size: &one.Listed, Actual: &actual})
}
