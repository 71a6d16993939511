package hdfs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"

	native "github.com/colinmarc/hdfs/v2"
	"github.com/lakesweep/lakesweep/store"
)

// stream is a directory that is being read, with the connection for it.
type stream struct {
	c      *connection
	dir    *native.FileReader
	prefix string
	born   int64 // the token's number, to find the oldest
}

// List returns entries of one directory, in byte order. The listing goes on
// where it was even if entries before are removed. Of the listings that weren't
// read to their end, the oldest are forgotten beyond maxStreams.
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
	d, err := s.stream(ctx, req)
	if d == nil || err != nil {
		return store.Page{}, err
	}
	limit := pageSize
	if req.Limit > 0 {
		limit = min(limit, req.Limit)
	}
	var found []fs.FileInfo
	err = d.c.run(ctx, func(*native.Client) (err error) {
		if found, err = d.dir.Readdir(limit); err == io.EOF {
			err = nil
		}
		return err
	})
	if err != nil || len(found) < limit {
		s.give(d.c)
	}
	if errors.Is(err, fs.ErrNotExist) { // removed since
		return store.Page{}, nil
	} else if err != nil {
		return store.Page{}, err
	}
	page := store.Page{Entries: make([]store.Info, len(found))}
	for i, fi := range found {
		page.Entries[i] = infoOf(fi, req.Prefix+fi.Name())
	}
	if len(found) == limit {
		page.Next = s.keep(d)
	}
	return page, nil
}

// stream opens a directory, or finds the one that the token stands for. Nil
// without an error: there is no such directory.
func (s *Store) stream(ctx context.Context, req store.PageRequest) (*stream, error) {
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
	p := s.base
	if req.Prefix != "" {
		name, ok := strings.CutSuffix(req.Prefix, "/")
		if !ok {
			return nil, fmt.Errorf("prefix is no directory: %w", fs.ErrInvalid)
		}
		if p, ok = s.path(name); !ok {
			return nil, nil
		}
	}
	c, err := s.take()
	if err != nil {
		return nil, err
	}
	d := &stream{c: c, prefix: req.Prefix}
	err = c.run(ctx, func(c *native.Client) (err error) {
		if d.dir, err = c.Open(p); err != nil {
			return below(c, p, err)
		}
		return nil
	})
	if err == nil && d.dir.Stat().IsDir() {
		return d, nil
	}
	s.give(c)
	if err == nil || errors.Is(classify(err), fs.ErrNotExist) {
		return nil, nil
	}
	return nil, err
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
		s.give(s.streams[oldest].c)
		delete(s.streams, oldest)
	}
	s.tokens++
	d.born = s.tokens
	token := strconv.FormatInt(s.tokens, 36)
	s.streams[token] = d
	return token
}
