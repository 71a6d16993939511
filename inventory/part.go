package inventory

import (
	"bufio"
	"bytes"
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
)

// part is one file of a list.
type part struct {
	r        store.Reader
	name     string // in r
	place    string // as messages name it
	size     int64  // bytes; -1 where nobody says
	modified time.Time
	md5      string // hex; "" where no manifest says
}

func (p *part) damaged(err error) error {
	return p.failed(lake.Damaged, err, "Fetch the inventory again, or take an older one; nothing was deleted.")
}

func (p *part) failed(kind lake.Kind, err error, hint string) error {
	return &lake.Error{Op: "read inventory", Table: p.place, Kind: kind, Err: err, Hint: hint}
}

// open begins to read the part as it is stored. The stream must be closed, and
// what was read counts only after finish.
func (p *part) open(ctx context.Context) (*stream, error) {
	body, err := p.r.Open(ctx, p.name, 0, -1)
	if err != nil {
		return nil, p.opening(err)
	}
	s := &stream{part: p, body: body}
	if p.md5 != "" {
		s.sum = md5.New()
	}
	s.packed = bufio.NewReaderSize(source{s}, 256<<10)
	return s, nil
}

func (p *part) opening(err error) error {
	if isMissing(err) {
		return p.damaged(err)
	}
	if lake.HintOf(err) != "" {
		return err
	}
	return p.failed(lake.KindOf(err), err, "See that the file is there and readable, then try again.")
}

// stream is an open part.
type stream struct {
	part   *part
	body   io.ReadCloser
	sum    hash.Hash
	n      int64
	packed *bufio.Reader
	unpack func() // ends the decompressor
}

// source reads the bytes of a stream, counts and sums them.
type source struct{ s *stream }

func (r source) Read(p []byte) (int, error) {
	n, err := r.s.body.Read(p)
	r.s.n += int64(n)
	if r.s.sum != nil {
		r.s.sum.Write(p[:n])
	}
	return n, err
}

// text returns the stream unpacked (gzip, Zstandard), without a byte order mark.
func (s *stream) text() (*bufio.Reader, error) {
	head, err := s.packed.Peek(4)
	if err != nil && err != io.EOF {
		return nil, s.part.opening(err)
	}
	out := s.packed
	switch {
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		z, err := gzip.NewReader(s.packed)
		if err != nil {
			return nil, s.part.damaged(err)
		}
		out = bufio.NewReaderSize(z, 64<<10)
	case bytes.HasPrefix(head, []byte("\x28\xb5\x2f\xfd")):
		z, err := zstd.NewReader(s.packed, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
		if err != nil {
			return nil, s.part.damaged(err)
		}
		s.unpack = z.Close
		out = bufio.NewReaderSize(z, 64<<10)
	}
	mark, err := out.Peek(3)
	if err != nil && err != io.EOF {
		return nil, s.part.damaged(err)
	}
	switch {
	case string(mark) == "\xef\xbb\xbf":
		_, err = out.Discard(3)
	case bytes.HasPrefix(mark, []byte("\xff\xfe")), bytes.HasPrefix(mark, []byte("\xfe\xff")):
		return nil, s.part.failed(lake.Unsupported, errors.New("a text in UTF-16"), "Convert it to UTF-8, for instance with iconv.")
	default:
		err = nil
	}
	return out, err
}

// finish checks that what was read is all there is, byte by byte.
func (s *stream) finish() error {
	if _, err := io.Copy(io.Discard, s.packed); err != nil {
		return s.part.damaged(err)
	}
	switch p := s.part; {
	case p.size >= 0 && s.n != p.size:
		return p.damaged(fmt.Errorf("%d bytes, expected %d: %w", s.n, p.size, store.ErrTruncated))
	case s.sum != nil && !strings.EqualFold(hex.EncodeToString(s.sum.Sum(nil)), p.md5):
		return p.damaged(fmt.Errorf("its MD5 sum isn't %s, as the manifest says", p.md5))
	}
	return nil
}

func (s *stream) close() error {
	if s.unpack != nil {
		s.unpack()
	}
	return s.body.Close()
}

// all reads a small part whole, at most limit bytes of it unpacked.
func (p *part) all(ctx context.Context, limit int64) (data []byte, err error) {
	s, err := p.open(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	text, err := s.text()
	if err != nil {
		return nil, err
	}
	data, err = io.ReadAll(io.LimitReader(text, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("more than %d bytes", limit)
	}
	if err != nil {
		return nil, p.damaged(err)
	}
	return data, s.finish()
}

// spool copies the part to a temporary file without a name, and checks it on the way.
func (p *part) spool(ctx context.Context) (f *os.File, err error) {
	s, err := p.open(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	f, err = os.CreateTemp("", "lakesweep-inventory-")
	if err != nil {
		return nil, p.failed(lake.Internal, err, "See to free space in the temporary directory (TMPDIR).")
	}
	if err = os.Remove(f.Name()); err == nil {
		_, err = io.Copy(f, s.packed)
	}
	if err = errors.Join(err, s.finish()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// verify reads the part to its end and checks its size and sum.
func (p *part) verify(ctx context.Context) (err error) {
	s, err := p.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	return s.finish()
}
