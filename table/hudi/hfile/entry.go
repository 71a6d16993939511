package hfile

import (
	"encoding/binary"
	"strings"
	"unicode/utf8"
)

const (
	entryOverhead = 21 // bytes of an entry beside row and value
	putType       = 4
	latest        = 0x7FFFFFFFFFFFFFFF // the timestamp of every entry
)

// scan calls f for each entry of the data block at. The values are slices of
// the block.
func (r *Reader) scan(at ref, f func(Entry) error) error {
	b, err := r.data(at.off)
	if err != nil {
		return err
	}
	if b.magic != dataMagic {
		return damaged("block at %d: %q where data should be", at.off, b.magic)
	}
	for p := b.payload; len(p) > 0; {
		if len(p) < 10 {
			return damaged("block at %d: entry cut", at.off)
		}
		keyLen, valueLen := int64(int32(binary.BigEndian.Uint32(p))), int64(int32(binary.BigEndian.Uint32(p[4:])))
		row := int64(binary.BigEndian.Uint16(p[8:]))
		if keyLen < row+12 || valueLen < 0 || 8+keyLen+valueLen > int64(len(p)) {
			return damaged("block at %d: entry of %d and %d bytes", at.off, keyLen, valueLen)
		}
		if typ := p[8+keyLen-1]; typ != putType {
			return unsupported("entry of type %d", typ)
		}
		e := Entry{string(p[10 : 10+row]), p[8+keyLen : 8+keyLen+valueLen : 8+keyLen+valueLen]}
		p = p[8+keyLen+valueLen:]
		if r.mvcc {
			_, n, ok := vlong(p)
			if !ok {
				return damaged("block at %d: entry cut", at.off)
			}
			p = p[n:]
		}
		if err := f(e); err != nil {
			return err
		}
	}
	return nil
}

func appendEntry(dst []byte, key string, value []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(key)+12))
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(value)))
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(key)))
	dst = append(dst, key...)
	dst = append(dst, 0)
	dst = binary.BigEndian.AppendUint64(dst, latest)
	dst = append(dst, putType)
	dst = append(dst, value...)
	return append(dst, 0)
}

type compare func(a, b string) int

func byBytes(a, b string) int { return strings.Compare(a, b) }

// byUnits orders strings as Java does, by UTF-16 units: it differs from the
// order of bytes only in placing U+10000 and above before U+E000.
func byUnits(a, b string) int {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	if i == len(a) || i == len(b) {
		return len(a) - len(b)
	}
	for i > 0 && !utf8.RuneStart(a[i]) {
		i--
	}
	if fourBytes, private := a[i] >= 0xf0, b[i] >= 0xee && b[i] < 0xf0; fourBytes && private {
		return -1
	}
	if private, fourBytes := a[i] >= 0xee && a[i] < 0xf0, b[i] >= 0xf0; private && fourBytes {
		return 1
	}
	return strings.Compare(a[i:], b[i:])
}

// ordersDiffer reports whether some key could be less than s in one order and
// greater in the other.
func ordersDiffer(s string) bool {
	for i := range len(s) {
		if s[i] >= 0xee {
			return true
		}
	}
	return false
}
