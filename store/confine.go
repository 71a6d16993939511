package store

import (
	"context"
	"fmt"
	"io/fs"
	"strings"

	"github.com/lakesweep/lakesweep/lake"
)

// MetaWriter writes in one folder of a store and nowhere else. The zero
// MetaWriter writes nowhere. It implements Writer.
type MetaWriter struct {
	w   Writer
	dir string
}

// Confine returns a MetaWriter for the folder dir, such as "_delta_log". Names
// stay relative to the store: "_delta_log/00000000000000000001.json".
func Confine(w Writer, dir string) MetaWriter {
	return MetaWriter{w: w, dir: strings.TrimSuffix(dir, "/") + "/"}
}

// PutIfAbsent is Writer's, for names in the folder.
func (m MetaWriter) PutIfAbsent(ctx context.Context, name string, data []byte) error {
	if err := m.check(name); err != nil {
		return err
	}
	return m.w.PutIfAbsent(ctx, name, data)
}

// Replace is Writer's, for names in the folder.
func (m MetaWriter) Replace(ctx context.Context, name string, data []byte, ifMatch string) (string, error) {
	if err := m.check(name); err != nil {
		return "", err
	}
	return m.w.Replace(ctx, name, data, ifMatch)
}

// Remove is Writer's, for names in the folder.
func (m MetaWriter) Remove(ctx context.Context, name string, ifMatch string) error {
	if err := m.check(name); err != nil {
		return err
	}
	return m.w.Remove(ctx, name, ifMatch)
}

// check refuses names outside the folder, and spellings that a store might
// resolve to a place outside.
func (m MetaWriter) check(name string) error {
	rest, inside := strings.CutPrefix(name, m.dir)
	ok := inside && m.w != nil && m.dir != "/"
	for c := range strings.SplitSeq(rest, "/") {
		ok = ok && c != "" && c != "." && c != ".." && !strings.ContainsAny(c, "\\\x00")
	}
	if ok {
		return nil
	}
	return &lake.Error{Op: "write metadata", Key: lake.Key(name), Kind: lake.Internal,
		Err: fmt.Errorf("outside the folder %q: %w", m.dir, fs.ErrPermission)}
}
