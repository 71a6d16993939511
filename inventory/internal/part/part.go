package part

import (
	"bufio"
	"context"
	"crypto/md5"
	"errors"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
)

// Part is one file of a list.
type Part struct {
	Reader   store.Reader
	Name     string // in Reader
	Place    string // as messages name it
	Size     int64  // bytes; -1 where nobody says
	Modified time.Time
	MD5      string // hex; "" where no manifest says
}

// Missing reports whether an error says that something isn't there.
func Missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// Extension returns the end of a file's name from the last dot on, in lower
// case, without that of a compression.
func Extension(name string) string {
	name = strings.ToLower(name)
	for _, suffix := range []string{".gz", ".zst"} {
		name = strings.TrimSuffix(name, suffix)
	}
	return path.Ext(name)
}

// Damaged is the error of a part that isn't what it ought to be.
func (p *Part) Damaged(err error) error {
	return p.Failed(lake.Damaged, err, "Fetch the inventory again, or take an older one; nothing was deleted.")
}

// Failed is the error of a part.
func (p *Part) Failed(kind lake.Kind, err error, hint string) error {
	return &lake.Error{Op: "read inventory", Table: p.Place, Kind: kind, Err: err, Hint: hint}
}

// Open begins to read the part as it is stored. The stream must be closed, and
// what was read counts only after Finish.
func (p *Part) Open(ctx context.Context) (*Stream, error) {
	body, err := p.Reader.Open(ctx, p.Name, 0, -1)
	if err != nil {
		return nil, p.Opening(err)
	}
	s := &Stream{part: p, body: body}
	if p.MD5 != "" {
		s.sum = md5.New()
	}
	s.packed = bufio.NewReaderSize(source{s}, 256<<10)
	return s, nil
}

// Opening is the error of a part that can't be opened.
func (p *Part) Opening(err error) error {
	if Missing(err) {
		return p.Damaged(err)
	}
	if lake.HintOf(err) != "" {
		return err
	}
	return p.Failed(lake.KindOf(err), err, "See that the file is there and readable, then try again.")
}
