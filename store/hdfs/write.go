package hdfs

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"

	native "github.com/colinmarc/hdfs/v2"
	"github.com/lakesweep/lakesweep/store"
)

// PutIfAbsent creates a file, which fails where something stands. Readers may
// see it empty for a moment. Missing parents are made.
func (s *Store) PutIfAbsent(ctx context.Context, name string, data []byte) error {
	if len(data) <= small {
		return s.fail("create", name, s.putSmall(ctx, name, data))
	}
	return s.fail("create", name, s.write(ctx, name, func(c *native.Client, p string) error {
		return create(c, p, bytes.NewReader(data), int64(len(data)))
	}))
}

// small is the most bytes that go to a data node in one packet for sure: a file
// of so many is empty or whole, also where its writer dies.
const small = 32 << 10

// putSmall creates a small file. Once begun, it isn't interrupted: the calls
// take at most patience, and half made the file would be in everybody's way.
// What isn't whole is removed, by a connection that works.
func (s *Store) putSmall(ctx context.Context, name string, data []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	made := ""
	err := s.write(ctx, name, func(c *native.Client, p string) (err error) {
		made, err = createSmall(c, p, data)
		return err
	})
	if err == nil || made == "" {
		return err
	}
	return errors.Join(err, s.write(ctx, name, func(c *native.Client, p string) error {
		now, err := look(c, p, "")
		if errors.Is(err, fs.ErrNotExist) || err == nil && fileNumber(now) != made {
			return nil
		}
		if err != nil {
			return err
		}
		return removeTemp(c, p)
	}))
}

// createSmall creates a file and writes data to it. The name node knows the file
// by a number of its own: where another writer removes it meanwhile, or puts its own
// in its place, as happens to locks, that's an error, and the other's file stays.
// After an error made is the number of what is to be removed: "" if there is
// nothing, or if whose file stands there isn't known.
func createSmall(c *native.Client, p string, data []byte) (made string, err error) {
	w, err := c.Create(p)
	if err != nil {
		return "", err
	}
	info, err := look(c, p, "")
	if err != nil {
		info, err = look(c, p, "")
	}
	if err != nil {
		return "", errors.Join(err, closed(w))
	}
	if len(data) > 0 {
		_, err = w.Write(data)
	}
	if err == nil {
		err = closed(w)
	}
	if err == nil || taken(err) {
		return "", err
	}
	return fileNumber(info), err
}

// taken reports whether the name node answered a writer that its file is gone:
// what stands in its place, and was looked at, is another's.
func taken(err error) bool {
	var remote native.Error
	return errors.Is(classify(err), fs.ErrNotExist) || errors.As(err, &remote) && strings.HasSuffix(remote.Exception(), ".LeaseExpiredException")
}

// fileNumber is the name node's number of a file, which its ETag begins with.
func fileNumber(info store.Info) string {
	number, _, _ := strings.Cut(info.ETag, "-")
	return number
}

// Replace writes a temporary file and renames it over the place. The condition
// holds within this process; others can get in between.
func (s *Store) Replace(ctx context.Context, name string, data []byte, ifMatch string) (etag string, err error) {
	err = s.write(ctx, name, func(c *native.Client, p string) error {
		temp, err := writeTemp(c, p, bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return err
		}
		s.writing.Lock()
		defer s.writing.Unlock()
		info, err := look(c, temp, name)
		if err == nil {
			etag = info.ETag
			err = matches(c, p, ifMatch, true)
		}
		if err == nil {
			err = c.Rename(temp, p)
		}
		if err != nil {
			return errors.Join(err, removeTemp(c, temp))
		}
		return nil
	})
	return etag, s.fail("replace", name, err)
}

// write calls do with the path of a name that is to be written.
func (s *Store) write(ctx context.Context, name string, do func(c *native.Client, p string) error) error {
	p, ok := s.path(name)
	if !ok {
		return fs.ErrInvalid
	}
	return s.do(ctx, func(c *native.Client) error {
		if err := c.MkdirAll(path.Dir(p), 0o755); err != nil {
			return err
		}
		return do(c, p)
	})
}

// matches fails with ErrChanged unless the ETag of what is at p is ifMatch; ""
// matches every file and, where absence is allowed, none.
func matches(c *native.Client, p, ifMatch string, absent bool) error {
	info, err := look(c, p, "")
	switch {
	case errors.Is(err, fs.ErrNotExist) && ifMatch != "":
		return fmt.Errorf("%w: it is gone", store.ErrChanged)
	case errors.Is(err, fs.ErrNotExist) && absent:
		return nil
	case err != nil:
		return err
	case info.Kind == store.Dir:
		return fs.ErrInvalid
	case ifMatch != "" && info.ETag != ifMatch:
		return store.ErrChanged
	}
	return nil
}

// create makes a file of size bytes at p unless something stands there: beside
// it first, then renamed over an empty file that claims the name.
func create(c *native.Client, p string, from io.Reader, size int64) error {
	temp, err := writeTemp(c, p, from, size)
	if err != nil {
		return err
	}
	claim, err := c.Create(p)
	if err == nil {
		err = closed(claim)
	}
	if err != nil {
		return errors.Join(err, removeTemp(c, temp))
	}
	if err := c.Rename(temp, p); err != nil {
		// The claim is ours: nobody removes or replaces what isn't small, as locks are.
		return errors.Join(err, removeTemp(c, p), removeTemp(c, temp))
	}
	return nil
}

// writeTemp writes size bytes to a new hidden file in the directory of p.
func writeTemp(c *native.Client, p string, from io.Reader, size int64) (string, error) {
	temp := path.Join(path.Dir(p), ".lakesweep-"+rand.Text()+".tmp")
	w, err := c.Create(temp)
	if err != nil {
		return "", err
	}
	n, err := io.Copy(w, from)
	if err == nil && n != size {
		err = fmt.Errorf("%d of %d bytes: %w", n, size, store.ErrTruncated)
	}
	if err = errors.Join(err, closed(w)); err != nil {
		return "", errors.Join(err, removeTemp(c, temp))
	}
	return temp, nil
}

// closed closes a file. The name node may take a while to know its last block.
func closed(w *native.FileWriter) error {
	for pause := 50 * time.Millisecond; ; pause *= 2 {
		err := w.Close()
		if !native.IsErrReplicating(err) || pause > 10*time.Second {
			return err
		}
		time.Sleep(pause)
	}
}

func removeTemp(c *native.Client, p string) error {
	if err := c.Remove(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Copy copies a file to another place of HDFS, put-if-absent. Its bytes go
// through this process: HDFS has no call for it.
func (s *Store) Copy(ctx context.Context, name string, to store.Store, toName string) error {
	dest, ok := store.Unwrap(to).(*Store)
	if !ok {
		return s.fail("copy", name, store.ErrUnsupported)
	}
	return s.fail("copy", name, s.copy(ctx, name, dest, toName))
}

func (s *Store) copy(ctx context.Context, name string, dest *Store, toName string) error {
	from, err := s.open(ctx, name, 0, -1)
	if err != nil {
		return err
	}
	size := int64(0)
	if b, ok := from.(*body); ok {
		size = b.info.Size
	}
	err = dest.write(ctx, toName, func(c *native.Client, p string) error {
		if _, err := look(c, p, ""); err == nil {
			return fs.ErrExist // before its bytes are read
		}
		return create(c, p, from, size)
	})
	return errors.Join(err, from.Close())
}
