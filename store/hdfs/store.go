// Package hdfs is the store of HDFS, over colinmarc/hdfs: the library speaks
// the protocol; connections and repeated calls are ours.
//
//  1. Nothing is ever removed recursively, and a directory never as a file.
//  2. A name node does one call of a connection at a time, so there are several.
//  3. There are no conditions: an ETag is compared by us, just before the call.
//  4. Paths are taken as they are: "." and ".." and empty components name nothing.
package hdfs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	native "github.com/colinmarc/hdfs/v2"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
)

const (
	pageSize   = 1000 // what a name node gives at a time
	batch      = 64   // deletes in flight at a time
	maxStreams = 64   // listings between two pages
)

// Store is a directory. Safe for concurrent use.
type Store struct {
	*pool
	place lake.Root
	base  string // "/" or without a slash at its end

	mu      sync.Mutex
	streams map[string]*stream
	tokens  int64

	writing sync.Mutex // between a look at an ETag and the write
}

var (
	_ store.Store   = (*Store)(nil)
	_ store.Trasher = (*Store)(nil)
)

// Traits describes HDFS. PutIfAbsent is exclusive, but a reader may see the
// empty file that claims the name before its bytes are there; so commits of
// table formats that rely on more aren't made.
func (s *Store) Traits() store.Traits {
	return store.Traits{Name: "hdfs", Directories: true, DeleteBatch: batch, PageSize: pageSize, ClockGrain: time.Millisecond}
}

func (s *Store) fail(op, name string, err error) error {
	return store.Fail(op, s.place, name, classify(err))
}

// path returns the absolute path of a name. No path has a component that the
// name node would resolve, nor one with a colon (DFSUtilClient.isValidName).
func (s *Store) path(name string) (string, bool) {
	if name == "" || !utf8.ValidString(name) || strings.ContainsAny(name, ":\x00") {
		return "", false
	}
	for c := range strings.SplitSeq(name, "/") {
		if c == "" || c == "." || c == ".." {
			return "", false
		}
	}
	return path.Join(s.base, name), true
}

// existing is path for calls that need something there.
func (s *Store) existing(name string) (string, error) {
	p, ok := s.path(name)
	switch {
	case name == "":
		return "", fs.ErrInvalid
	case !ok:
		return "", fs.ErrNotExist
	}
	return p, nil
}

// Stat describes a file or directory.
func (s *Store) Stat(ctx context.Context, name string) (store.Info, error) {
	info, err := s.stat(ctx, name)
	return info, s.fail("stat", name, err)
}

func (s *Store) stat(ctx context.Context, name string) (info store.Info, err error) {
	p, err := s.existing(name)
	if err != nil {
		return store.Info{}, err
	}
	err = s.do(ctx, func(c *native.Client) error {
		info, err = look(c, p, name)
		return err
	})
	return info, err
}

func look(c *native.Client, p, name string) (store.Info, error) {
	fi, err := c.Stat(p)
	if err != nil {
		return store.Info{}, below(c, p, err)
	}
	return infoOf(fi, name), nil
}

// below turns the refusal to look below a file, which a name node answers as
// one of permissions, into what it is.
func below(c *native.Client, p string, err error) error {
	for errors.Is(err, fs.ErrPermission) && p != "/" {
		p = path.Dir(p)
		fi, parentErr := c.Stat(p)
		switch {
		case parentErr == nil && !fi.IsDir():
			return fmt.Errorf("%s is a file: %w", p, fs.ErrNotExist)
		case parentErr == nil:
			return err
		}
	}
	return err
}

// infoOf describes an entry. The ETag is the file's number, time and length:
// what is written anew has another number.
func infoOf(fi fs.FileInfo, name string) store.Info {
	i := store.Info{Name: name, Size: fi.Size(), Modified: fi.ModTime().UTC()}
	kind, number := "", uint64(0)
	if status, ok := fi.Sys().(*native.FileStatus); ok {
		kind, number = status.GetFileType().String(), status.GetFileId()
	}
	switch {
	case fi.IsDir():
		i.Kind, i.Size = store.Dir, -1
		return i
	case kind == "IS_SYMLINK":
		i.Kind = store.Symlink
	case kind != "IS_FILE":
		i.Kind = store.Other
	}
	i.ETag = fmt.Sprintf("%x-%x-%x", number, fi.ModTime().UnixMilli(), fi.Size())
	return i
}

// Open reads a part of a file, over a connection of its own.
func (s *Store) Open(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	r, err := s.open(ctx, name, offset, length)
	if err != nil {
		return nil, s.fail("read", name, err)
	}
	return r, nil
}

func (s *Store) open(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	p, err := s.existing(name)
	if err != nil {
		return nil, err
	}
	if offset < 0 {
		return nil, fs.ErrInvalid
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c, err := s.take()
	if err != nil {
		return nil, err
	}
	b := &body{ctx: ctx, pool: s.pool, c: c}
	err = c.run(ctx, func(c *native.Client) (err error) {
		if b.file, err = c.Open(p); err != nil {
			return below(c, p, err)
		}
		return nil
	})
	if err == nil && b.file.Stat().IsDir() {
		err = fmt.Errorf("%q is a directory: %w", name, fs.ErrNotExist)
	}
	if err != nil {
		s.give(c)
		return nil, err
	}
	b.info = infoOf(b.file.Stat(), name)
	b.left = max(b.info.Size-offset, 0)
	if length >= 0 {
		b.left = min(b.left, length)
	}
	if b.left == 0 {
		return body0{http.NoBody, b.info.ETag}, b.Close()
	}
	if _, err := b.file.Seek(offset, io.SeekStart); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// body0 is the body of no bytes.
type body0 struct {
	io.ReadCloser
	etag string
}

func (b body0) ETag() string { return b.etag }

// body reads a file up to the length that it had when it was opened.
type body struct {
	ctx  context.Context
	pool *pool
	c    *connection
	file *native.FileReader
	info store.Info
	left int64
}

func (b *body) ETag() string { return b.info.ETag }

func (b *body) Read(p []byte) (n int, err error) {
	if b.left == 0 {
		return 0, io.EOF
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	err = b.c.run(b.ctx, func(*native.Client) error {
		if err := b.file.SetDeadline(time.Now().Add(patience)); err != nil {
			return err
		}
		stop := context.AfterFunc(b.ctx, func() { _ = b.file.SetDeadline(time.Unix(1, 0)) }) // a reader between blocks has nothing to interrupt
		defer stop()
		n, err = b.file.Read(p)
		return err
	})
	b.left -= int64(n)
	switch {
	case err == io.EOF && b.left > 0:
		err = io.ErrUnexpectedEOF
	case err == io.EOF:
		err = nil
	}
	return n, classify(err)
}

func (b *body) Close() error {
	if b.c == nil {
		return nil
	}
	err := b.file.Close()
	b.pool.give(b.c)
	b.c = nil
	return classify(err)
}

// Status tells nothing: a name node has no call for its clock, and what is
// deleted is gone, but for snapshots, of which a client isn't told.
func (s *Store) Status(ctx context.Context) (store.Status, error) { return store.Status{}, ctx.Err() }
