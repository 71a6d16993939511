package column

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
)

// OpenFile is the library's, of a file whose footer was checked: files that
// others wrote are opened by it alone.
//
// Errors: those of CheckFooter and of the library.
func OpenFile(r io.ReaderAt, size int64, options ...parquet.FileOption) (*parquet.File, error) {
	if err := CheckFooter(r, size); err != nil {
		return nil, err
	}
	return parquet.OpenFile(r, size, options...)
}

// CheckFooter reads the footer of a Parquet file of size bytes and checks that
// every list in it is there to its end. The library makes room for as many
// elements as a list claims before it reads the first: a damaged number would
// end the process, which no recover can stop.
//
// Memory: the footer.
// Errors: those of r; a malformed footer.
// Source: Apache Thrift, thrift-compact-protocol.md.
func CheckFooter(r io.ReaderAt, size int64) error {
	tail := make([]byte, min(size, tailSize))
	if err := readAt(r, tail, size-int64(len(tail))); err != nil {
		return err
	}
	n, err := FooterSize(tail, size)
	if err != nil {
		return err
	}
	footer := make([]byte, n-tailSize)
	if err := readAt(r, footer, size-n); err != nil {
		return err
	}
	if s := (skipper{b: footer}); !s.structure(0) {
		return errFooter
	}
	return nil
}

// tailSize is how many bytes a Parquet file ends in that tell of its footer: the
// length and the magic word.
const tailSize = 8

// FooterSize returns how many bytes the footer takes at the end of a Parquet
// file of size bytes, those that tell of it included. tail is the file's end, or
// all of it.
//
// Errors: a file that can't hold the footer.
func FooterSize(tail []byte, size int64) (int64, error) {
	if len(tail) < tailSize || size < tailSize {
		return 0, fmt.Errorf("malformed Parquet: a file of %d bytes", size)
	}
	n := int64(binary.LittleEndian.Uint32(tail[len(tail)-tailSize:])) + tailSize
	if n > size {
		return 0, fmt.Errorf("malformed Parquet: a footer of %d bytes in a file of %d", n, size)
	}
	return n, nil
}

var errFooter = errors.New("malformed Parquet: the footer ends early or nests too deep")

func readAt(r io.ReaderAt, p []byte, off int64) error {
	if n, err := r.ReadAt(p, off); n < len(p) {
		return err
	}
	return nil
}

// maxDepth bounds how deep structs and lists of a footer lie in each other.
const maxDepth = 64

// The types of Thrift's compact protocol.
const (
	typeTrue, typeFalse, typeByte          = 1, 2, 3
	typeI16, typeI32, typeI64              = 4, 5, 6
	typeDouble, typeBinary                 = 7, 8
	typeList, typeSet, typeMap, typeStruct = 9, 10, 11, 12
)

// skipper passes over values of Thrift's compact protocol. Its methods report
// whether the value is all there.
type skipper struct{ b []byte }

func (s *skipper) take(n uint64) bool {
	if n > uint64(len(s.b)) {
		return false
	}
	s.b = s.b[n:]
	return true
}

func (s *skipper) varint() (uint64, bool) {
	v, n := binary.Uvarint(s.b)
	return v, n > 0 && s.take(uint64(n))
}

func (s *skipper) structure(depth int) bool {
	for depth < maxDepth && len(s.b) > 0 {
		head := s.b[0]
		s.b = s.b[1:]
		if head == 0 {
			return true
		}
		if head>>4 == 0 { // the field's number follows
			if _, ok := s.varint(); !ok {
				return false
			}
		}
		// A boolean field's value is its type.
		if typ := head & 15; typ != typeTrue && typ != typeFalse && !s.value(typ, depth+1) {
			return false
		}
	}
	return false
}

func (s *skipper) value(typ byte, depth int) bool {
	switch typ {
	case typeTrue, typeFalse, typeByte:
		return s.take(1)
	case typeI16, typeI32, typeI64:
		_, ok := s.varint()
		return ok
	case typeDouble:
		return s.take(8)
	case typeBinary:
		n, ok := s.varint()
		return ok && s.take(n)
	case typeList, typeSet:
		return s.list(depth)
	case typeMap:
		return s.entries(depth)
	case typeStruct:
		return s.structure(depth)
	}
	return false
}

func (s *skipper) list(depth int) bool {
	if depth >= maxDepth || len(s.b) == 0 {
		return false
	}
	n, typ := uint64(s.b[0]>>4), s.b[0]&15
	s.b = s.b[1:]
	if n == 15 {
		var ok bool
		if n, ok = s.varint(); !ok {
			return false
		}
	}
	for ; n > 0; n-- { // each element takes a byte at least
		if !s.value(typ, depth+1) {
			return false
		}
	}
	return true
}

func (s *skipper) entries(depth int) bool {
	n, ok := s.varint()
	if !ok || n == 0 {
		return ok
	}
	if depth >= maxDepth || len(s.b) == 0 {
		return false
	}
	key, val := s.b[0]>>4, s.b[0]&15
	s.b = s.b[1:]
	for ; n > 0; n-- {
		if !s.value(key, depth+1) || !s.value(val, depth+1) {
			return false
		}
	}
	return true
}
