package hfile

import (
	"encoding/binary"
	"sort"
)

// ref is an index entry: a block and a key no greater than its first one.
type ref struct {
	off  int64
	size int64 // on disk, header included
	key  string
}

// indexKey cuts the row out of an index key: an int16 length, the row, and
// with HBase ten more bytes.
func indexKey(b []byte) (string, error) {
	if len(b) < 2 || len(b) < 2+int(binary.BigEndian.Uint16(b)) {
		return "", damaged("index key of %d bytes", len(b))
	}
	return string(b[2 : 2+int(binary.BigEndian.Uint16(b))]), nil
}

// parseRoot reads n entries {int64 offset, int32 size, vint length, key}.
func parseRoot(b []byte, n uint64, key func([]byte) (string, error)) ([]ref, error) {
	if n > uint64(len(b))/13+1 {
		return nil, damaged("index of %d entries in %d bytes", n, len(b))
	}
	refs := make([]ref, 0, n)
	for range n {
		if len(b) < 13 {
			return nil, damaged("index ends early")
		}
		r := ref{off: int64(binary.BigEndian.Uint64(b)), size: int64(binary.BigEndian.Uint32(b[8:]))}
		length, used, ok := vlong(b[12:])
		if !ok || length < 0 || length > int64(len(b)-12-used) {
			return nil, damaged("index key runs past the end")
		}
		b = b[12+used:]
		k, err := key(b[:length])
		if err != nil {
			return nil, err
		}
		r.key = k
		refs = append(refs, r)
		b = b[length:]
	}
	return refs, nil
}

// parseLeaf reads a leaf or intermediate index: int32 n, n+1 relative offsets,
// then entries {int64 offset, int32 size, key}.
func parseLeaf(b []byte) ([]ref, error) {
	if len(b) < 4 {
		return nil, damaged("index ends early")
	}
	n := int(binary.BigEndian.Uint32(b))
	if n < 0 || n > len(b)/16 {
		return nil, damaged("index of %d entries in %d bytes", n, len(b))
	}
	head := 4 + 4*(n+1)
	if head > len(b) {
		return nil, damaged("index ends early")
	}
	offset := func(i int) int { return head + int(int32(binary.BigEndian.Uint32(b[4+4*i:]))) }
	refs := make([]ref, n)
	for i := range refs {
		lo, hi := offset(i), offset(i+1)
		if lo < head || hi > len(b) || hi-lo < 14 {
			return nil, damaged("index entry from %d to %d", lo, hi)
		}
		k, err := indexKey(b[lo+12 : hi])
		if err != nil {
			return nil, err
		}
		refs[i] = ref{int64(binary.BigEndian.Uint64(b[lo:])), int64(binary.BigEndian.Uint32(b[lo+8:])), k}
	}
	return refs, nil
}

// blocks yields the data blocks, in order, that may hold keys from lower on.
// It starts one early where a block's first key equals lower: equal keys may
// also end the block before.
func (r *Reader) blocks(lower string, cmp compare, yield func(ref) (bool, error)) error {
	_, err := r.descend(r.root, int(r.t.levels), lower, cmp, yield)
	return err
}

func (r *Reader) descend(refs []ref, level int, lower string, cmp compare, yield func(ref) (bool, error)) (more bool, err error) {
	start := sort.Search(len(refs), func(i int) bool { return cmp(refs[i].key, lower) >= 0 })
	for i := max(start-1, 0); i < len(refs); i++ {
		if level == 1 {
			more, err = yield(refs[i])
		} else {
			var children []ref
			if children, err = r.index(refs[i]); err == nil {
				more, err = r.descend(children, level-1, lower, cmp, yield)
			}
		}
		if err != nil || !more {
			return false, err
		}
	}
	return true, nil
}

func (r *Reader) index(at ref) ([]ref, error) {
	b, err := r.block(at.off, int64(r.t.loadOnOpen))
	if err != nil {
		return nil, err
	}
	if b.magic != leafMagic && b.magic != intermediateMagic {
		return nil, damaged("block at %d: %q where an index should be", at.off, b.magic)
	}
	return parseLeaf(b.payload)
}

// vlong reads Hadoop's variable length integer and returns the bytes it took.
func vlong(b []byte) (v int64, n int, ok bool) {
	if len(b) == 0 {
		return 0, 0, false
	}
	first := int8(b[0])
	if first >= -112 {
		return int64(first), 1, true
	}
	length, negative := int(-112-int(first)), false
	if first < -120 {
		length, negative = int(-120-int(first)), true
	}
	if len(b) < 1+length {
		return 0, 0, false
	}
	for _, c := range b[1 : 1+length] {
		v = v<<8 | int64(c)
	}
	if negative {
		v = ^v
	}
	return v, 1 + length, true
}

func appendVlong(dst []byte, v int64) []byte {
	if v >= -112 && v <= 127 {
		return append(dst, byte(v))
	}
	base := -112
	if v < 0 {
		v, base = ^v, -120
	}
	length := 0
	for x := v; x != 0; x >>= 8 {
		length++
	}
	dst = append(dst, byte(base-length))
	for i := length - 1; i >= 0; i-- {
		dst = append(dst, byte(v>>(8*i)))
	}
	return dst
}
