package reap

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
)

// SegmentStore is what a journal in an object store needs.
type SegmentStore interface {
	store.Reader
	PutIfAbsent(ctx context.Context, name string, data []byte) error
}

// SegmentLog is a journal's log in an object store, where nothing can be
// appended to: each append is an object of its own, NAME.00000001 and so on,
// created only if there is none. It implements filelist.Log.
type SegmentLog struct {
	s     SegmentStore
	name  string
	place string
	next  int // number of the next segment, 0 before they were counted
}

// NewSegmentLog returns the log in the segments of name, below the place that s
// was opened at. place is the URI of name.
func NewSegmentLog(s SegmentStore, name, place string) *SegmentLog {
	return &SegmentLog{s: s, name: name, place: place}
}

// Place returns the URI.
func (l *SegmentLog) Place() string { return l.place }

func (l *SegmentLog) segment(n int) string { return fmt.Sprintf("%s.%08d", l.name, n) }

// Append writes one segment.
//
// Errors: Locked if another process writes to the same journal.
func (l *SegmentLog) Append(ctx context.Context, lines []byte) error {
	if l.next == 0 {
		n, err := l.count(ctx)
		if err != nil {
			return err
		}
		l.next = n + 1
	}
	name := l.segment(l.next)
	err := l.s.PutIfAbsent(ctx, name, lines)
	if errors.Is(err, fs.ErrExist) {
		// A request that was repeated may meet its own first try.
		have, readErr := l.read(ctx, name)
		switch {
		case readErr != nil:
			return readErr
		case !bytes.Equal(have, lines):
			return &lake.Error{Op: "write segment " + name, Kind: lake.Locked, Err: err,
				Hint: "Another process writes to the same journal; let it end, or name another journal."}
		}
		err = nil
	}
	if err == nil {
		l.next++
	}
	return err
}

// count counts the segments that there are.
//
// Errors: Damaged if one is missing.
func (l *SegmentLog) count(ctx context.Context) (int, error) {
	n, token := 0, ""
	for {
		page, err := l.s.List(ctx, store.PageRequest{Prefix: l.dir(), Token: token, Dirs: true})
		if errors.Is(err, fs.ErrNotExist) {
			return n, nil
		}
		if err != nil {
			return 0, err
		}
		for _, e := range page.Entries {
			var number int
			if !l.isSegment(e, &number) {
				continue
			}
			if number != n+1 {
				return 0, &lake.Error{Op: "read journal", Kind: lake.Damaged, Err: fmt.Errorf("segment %s without the one before it", e.Name),
					Hint: "Restore the missing segment, or name another journal."}
			}
			n = number
		}
		if token = page.Next; token == "" {
			return n, nil
		}
	}
}

func (l *SegmentLog) dir() string {
	if dir := lake.Key(l.name).Dir(); dir != "" {
		return string(dir) + "/"
	}
	return ""
}

func (l *SegmentLog) isSegment(e store.Info, n *int) bool {
	if e.Kind != store.File || len(e.Name) != len(l.name)+len(".00000001") {
		return false
	}
	_, err := fmt.Sscanf(e.Name[len(l.name):], ".%08d", n)
	return err == nil && l.segment(*n) == e.Name
}

func (l *SegmentLog) read(ctx context.Context, name string) ([]byte, error) {
	in, err := l.s.Open(ctx, name, 0, -1)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(in)
	return data, errors.Join(err, in.Close())
}

// Read reads the segments in order.
func (l *SegmentLog) Read(ctx context.Context, yield func([]byte, error) bool) {
	n, err := l.count(ctx)
	if err == nil && n == 0 {
		err = fs.ErrNotExist
	}
	if err != nil {
		yield(nil, err)
		return
	}
	for i := range n {
		data, err := l.read(ctx, l.segment(i+1))
		if !yield(data, err) || err != nil {
			return
		}
	}
}
