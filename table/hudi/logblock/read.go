package logblock

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"iter"
	"strings"
)

// Blocks yields the blocks of a log file of size bytes, in order, torn ones as
// Corrupt. After an error it stops.
//
// Memory: the headers of one block.
// Errors: Damaged for a whole block that contradicts itself; Unsupported for
// another format version or block type; those of the source.
func Blocks(src io.ReaderAt, size int64) iter.Seq2[Block, error] {
	return func(yield func(Block, error) bool) {
		for off := int64(0); off < size; {
			b, err := blockAt(src, off, size)
			if !yield(b, err) || err != nil {
				return
			}
			off += b.Length
		}
	}
}

func blockAt(src io.ReaderAt, off, size int64) (Block, error) {
	length, whole, err := frame(src, off, size)
	if err != nil {
		return Block{}, err
	}
	if !whole {
		next, err := nextMagic(src, off+1, size)
		return Block{Type: Corrupt, Offset: off, Length: next - off, content: io.NewSectionReader(src, off, next-off)}, err
	}
	return parse(src, off, frameSize+length)
}

// frame reads the length of the block at off and reports whether the block is
// whole: within the file, with the same length at its end, and followed by the
// end or another magic. Up to five torn bytes may lie between: Hudi
// gives up the whole block then, if another append follows.
func frame(src io.ReaderAt, off, size int64) (length int64, whole bool, err error) {
	var head [frameSize]byte
	if size-off < frameSize {
		return 0, false, nil
	}
	if err := readFull(src, head[:], off); err != nil {
		return 0, false, err
	}
	length = int64(binary.BigEndian.Uint64(head[6:]))
	if string(head[:6]) != magic || length < 4+4+4+8+4+8 || length > size-off-frameSize {
		return 0, false, nil
	}
	end := off + frameSize + length
	var tail [8 + 5 + 6]byte
	n := min(int64(len(tail)), 8+size-end)
	if err := readFull(src, tail[:n], end-8); err != nil {
		return 0, false, err
	}
	back := int64(binary.BigEndian.Uint64(tail[:]))
	return length, back == length+6 && endsOrGoesOn(string(tail[8:n])), nil
}

// endsOrGoesOn takes the eleven bytes after a block, or what there is of them.
func endsOrGoesOn(next string) bool { return len(next) < len(magic) || strings.Contains(next, magic) }

// nextMagic returns the offset of the first magic from off on, or size.
func nextMagic(src io.ReaderAt, off, size int64) (int64, error) {
	buf := make([]byte, 64<<10)
	for off < size {
		n := min(int64(len(buf)), size-off)
		if err := readFull(src, buf[:n], off); err != nil {
			return 0, err
		}
		if i := bytes.Index(buf[:n], []byte(magic)); i >= 0 {
			return off + int64(i), nil
		}
		if off+n == size {
			break
		}
		off += n - int64(len(magic)) + 1
	}
	return size, nil
}

func parse(src io.ReaderAt, off, length int64) (Block, error) {
	b := Block{Offset: off, Length: length}
	c := cursor{src: src, off: off + frameSize, end: off + length - 8}
	version, typ := c.int32(), c.int32()
	if c.err == nil && version != formatVersion {
		return b, unsupported("log format version %d at %d", version, off)
	}
	b.Type = Type(typ)
	if c.err == nil && (typ < 0 || b.Type > CDCData || b.Type == Corrupt) {
		return b, unsupported("block of type %d at %d", typ, off)
	}
	b.Header = c.headers()
	size := c.int64()
	start := c.off
	c.skip(size)
	c.headers() // the footers; Hudi writes none
	if c.err != nil {
		return b, damaged("block at %d: %w", off, c.err)
	}
	if c.off != c.end {
		return b, damaged("block at %d: %d bytes left over", off, c.end-c.off)
	}
	b.content = io.NewSectionReader(src, start, size)
	return b, nil
}

// cursor reads integers and headers and keeps the first error.
type cursor struct {
	src      io.ReaderAt
	off, end int64
	err      error
}

func (c *cursor) take(n int64) []byte {
	if c.err == nil && (n < 0 || n > c.end-c.off) {
		c.err = errors.New("a part runs past the end")
	}
	if c.err != nil {
		return nil
	}
	p := make([]byte, n)
	c.err = readFull(c.src, p, c.off)
	c.off += n
	return p
}

func (c *cursor) skip(n int64) {
	if c.err == nil && (n < 0 || n > c.end-c.off) {
		c.err = errors.New("the content runs past the end")
	}
	c.off += n
}

func (c *cursor) int32() int32 {
	if p := c.take(4); c.err == nil {
		return int32(binary.BigEndian.Uint32(p))
	}
	return 0
}

func (c *cursor) int64() int64 {
	if p := c.take(8); c.err == nil {
		return int64(binary.BigEndian.Uint64(p))
	}
	return 0
}

func (c *cursor) headers() map[Header]string {
	h := make(map[Header]string)
	for n := c.int32(); n > 0 && c.err == nil; n-- {
		key := Header(c.int32())
		h[key] = string(c.take(int64(c.int32())))
	}
	return h
}

func readFull(src io.ReaderAt, p []byte, off int64) error {
	n, err := src.ReadAt(p, off)
	if n == len(p) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return damaged("at %d: %w", off+int64(n), io.ErrUnexpectedEOF)
	}
	return err
}
