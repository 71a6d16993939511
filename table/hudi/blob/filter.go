package blob

import (
	"bytes"
	"encoding/binary"
	"math"
)

// filter is the bit set of a split block Bloom filter: blocks of eight words,
// little-endian, of which each value has a bit in every word of one block.
//
// Source: Apache Parquet, BloomFilter.md.
type filter []byte

const blockSize = 32

var salts = [8]uint32{0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31}

// filterTail is what follows the size in a header of the only algorithm, hash
// and compression that are defined and not superseded: split blocks, XXH64 with
// the seed 0, none. Each is an empty struct in a union in a field.
var filterTail = []byte{0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0}

// parseFilter returns the filter that data begins with, or, if it is said to be
// whole, consists of. It is none unless the header is spelled as every writer
// spells it, and the bits are such as values leave behind. A filter has no
// checksum: who believes one asks it first for values that it must know.
//
// Source: Apache Parquet, BloomFilter.md; Apache Thrift,
// thrift-compact-protocol.md.
func parseFilter(data []byte, whole bool) (filter, bool) {
	if len(data) == 0 || data[0] != 0x15 { // field 1, an i32
		return nil, false
	}
	zigzag, n := binary.Uvarint(data[1:])
	if n <= 0 || zigzag == 0 || zigzag&1 != 0 || zigzag > math.MaxInt32 || zigzag/2%blockSize != 0 {
		return nil, false
	}
	bits, ok := bytes.CutPrefix(data[1+n:], filterTail)
	size := int(zigzag / 2)
	if !ok || len(bits) < size || whole && len(bits) != size {
		return nil, false
	}
	f := filter(bits[:size:size])
	return f, f.sound()
}

// sound reports whether the bits are such as values leave behind: at least one
// block has any, and one that has any has some in each word.
func (f filter) sound() bool {
	used := false
	for at := 0; at < len(f); at += blockSize {
		words := 0
		for i := range salts {
			if binary.LittleEndian.Uint32(f[at+4*i:]) != 0 {
				words++
			}
		}
		if words != 0 && words != len(salts) {
			return false
		}
		used = used || words != 0
	}
	return used
}

// has reports whether a value of this hash may be among those of the filter.
func (f filter) has(hash uint64) bool {
	block := f[(hash>>32)*uint64(len(f)/blockSize)>>32*blockSize:]
	for i, salt := range salts {
		if binary.LittleEndian.Uint32(block[4*i:])>>(uint32(hash)*salt>>27)&1 == 0 {
			return false
		}
	}
	return true
}

// odds is how likely a filter of size bytes over so many values knows none of n
// others.
func odds(size, values int64, n int) float64 {
	set := -math.Expm1(-float64(values) / float64(size)) // of the bits: eight a value, eight a byte
	return math.Exp(-float64(n) * math.Pow(set, float64(len(salts))))
}
