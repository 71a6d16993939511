package part

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
)

// Stream is an open part.
type Stream struct {
	part   *Part
	body   io.ReadCloser
	sum    hash.Hash
	n      int64
	packed *bufio.Reader
	unpack func() // ends the decompressor
}

// source reads the bytes of a stream, counts and sums them.
type source struct{ s *Stream }

func (r source) Read(p []byte) (int, error) {
	n, err := r.s.body.Read(p)
	r.s.n += int64(n)
	if r.s.sum != nil {
		r.s.sum.Write(p[:n])
	}
	return n, err
}

// Text returns the stream unpacked (gzip, Zstandard), without a byte order mark.
func (s *Stream) Text() (*bufio.Reader, error) {
	head, err := s.packed.Peek(4)
	if err != nil && err != io.EOF {
		return nil, s.part.Opening(err)
	}
	out := s.packed
	switch {
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		z, err := gzip.NewReader(s.packed)
		if err != nil {
			return nil, s.part.Damaged(err)
		}
		out = bufio.NewReaderSize(z, 64<<10)
	case bytes.HasPrefix(head, []byte("\x28\xb5\x2f\xfd")):
		z, err := zstd.NewReader(s.packed, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
		if err != nil {
			return nil, s.part.Damaged(err)
		}
		s.unpack = z.Close
		out = bufio.NewReaderSize(z, 64<<10)
	}
	mark, err := out.Peek(3)
	if err != nil && err != io.EOF {
		return nil, s.part.Damaged(err)
	}
	switch {
	case string(mark) == "\xef\xbb\xbf":
		_, err = out.Discard(3)
	case bytes.HasPrefix(mark, []byte("\xff\xfe")), bytes.HasPrefix(mark, []byte("\xfe\xff")):
		return nil, s.part.Failed(lake.Unsupported, errors.New("a text in UTF-16"), "Convert it to UTF-8, for instance with iconv.")
	default:
		err = nil
	}
	return out, err
}

// Finish checks that what was read is all there is, byte by byte.
func (s *Stream) Finish() error {
	if _, err := io.Copy(io.Discard, s.packed); err != nil {
		return s.part.Damaged(err)
	}
	switch p := s.part; {
	case p.Size >= 0 && s.n != p.Size:
		return p.Damaged(fmt.Errorf("%d bytes, expected %d: %w", s.n, p.Size, store.ErrTruncated))
	case s.sum != nil && !strings.EqualFold(hex.EncodeToString(s.sum.Sum(nil)), p.MD5):
		return p.Damaged(fmt.Errorf("its MD5 sum isn't %s, as the manifest says", p.MD5))
	}
	return nil
}

// Close ends the stream.
func (s *Stream) Close() error {
	if s.unpack != nil {
		s.unpack()
	}
	return s.body.Close()
}
