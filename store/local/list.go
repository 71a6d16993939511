package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/lakesweep/lakesweep/store"
)

// A stream is a directory that is being read.
type stream struct {
	dir    *os.File
	prefix string
	detail bool   // with sizes and times
	buf    []byte // of the system call, where there is one
	rest   []byte // what of buf wasn't handed out yet
	born   int64  // the token's number, to find the oldest
}

// List returns entries of one directory, as the system orders them. The
// directory stays open between the pages of a listing; of the listings that
// weren't read to their end, the oldest are forgotten beyond maxStreams.
//
// Errors: ErrUnsupported for a flat listing, ErrTruncated for a forgotten token.
func (s *Store) List(ctx context.Context, req store.PageRequest) (store.Page, error) {
	page, err := s.list(ctx, req)
	if err != nil {
		return store.Page{}, s.fail("list", req.Prefix, err)
	}
	return page, nil
}

func (s *Store) list(ctx context.Context, req store.PageRequest) (store.Page, error) {
	if err := ctx.Err(); err != nil {
		return store.Page{}, err
	}
	if !req.Dirs || req.After != "" {
		return store.Page{}, store.ErrUnsupported
	}
	d, err := s.stream(req)
	if d == nil || err != nil {
		return store.Page{}, err
	}
	limit := pageSize
	if req.Limit > 0 {
		limit = min(limit, req.Limit)
	}
	entries, err := d.read(limit)
	if err == io.EOF {
		return store.Page{Entries: entries}, s.end(d)
	}
	if err != nil {
		return store.Page{}, errors.Join(err, s.end(d))
	}
	return store.Page{Entries: entries, Next: s.keep(d)}, nil
}

// stream opens a directory, or finds the one that the token stands for. Nil
// without an error: there is no such directory.
func (s *Store) stream(req store.PageRequest) (*stream, error) {
	if req.Token != "" {
		s.mu.Lock()
		defer s.mu.Unlock()
		d := s.streams[req.Token]
		if d == nil || d.prefix != req.Prefix {
			return nil, fmt.Errorf("unknown token: %w", store.ErrTruncated)
		}
		delete(s.streams, req.Token)
		return d, nil
	}
	path := "."
	if req.Prefix != "" {
		name, ok := strings.CutSuffix(req.Prefix, "/")
		if !ok {
			return nil, fmt.Errorf("prefix is no directory: %w", fs.ErrInvalid)
		}
		if path, ok = localize(name); !ok {
			return nil, nil
		}
	}
	f, err := openDir(s.root, path)
	if errors.Is(err, fs.ErrNotExist) || notDir(err) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	return &stream{dir: f, prefix: req.Prefix, detail: req.Details, buf: s.buffer()}, nil
}

// end closes a listing and gives its buffer to the next one.
func (s *Store) end(d *stream) error {
	if d.buf != nil {
		s.buffers.Put(&d.buf)
	}
	return d.dir.Close()
}

// buffer returns the buffer of a listing that has ended, nil if there is none.
func (s *Store) buffer() []byte {
	if b, ok := s.buffers.Get().(*[]byte); ok {
		return *b
	}
	return nil
}

// keep stores d under a new token.
func (s *Store) keep(d *stream) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.streams) >= maxStreams {
		oldest := ""
		for token, o := range s.streams {
			if oldest == "" || o.born < s.streams[oldest].born {
				oldest = token
			}
		}
		s.streams[oldest].dir.Close() // read-only: nothing can be lost
		delete(s.streams, oldest)
	}
	s.tokens++
	d.born = s.tokens
	token := strconv.FormatInt(s.tokens, 36)
	s.streams[token] = d
	return token
}
