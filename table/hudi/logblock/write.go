package logblock

import (
	"encoding/binary"
	"maps"
	"slices"
)

// Append appends a block to dst. With a Command block, headers say what it
// commands and content is empty.
func Append(dst []byte, typ Type, headers map[Header]string, content []byte) []byte {
	start := len(dst)
	dst = append(dst, magic...)
	dst = binary.BigEndian.AppendUint64(dst, 0) // set below
	dst = binary.BigEndian.AppendUint32(dst, formatVersion)
	dst = binary.BigEndian.AppendUint32(dst, uint32(typ))
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(headers)))
	for _, k := range slices.Sorted(maps.Keys(headers)) {
		dst = binary.BigEndian.AppendUint32(dst, uint32(k))
		dst = binary.BigEndian.AppendUint32(dst, uint32(len(headers[k])))
		dst = append(dst, headers[k]...)
	}
	dst = binary.BigEndian.AppendUint64(dst, uint64(len(content)))
	dst = append(dst, content...)
	dst = binary.BigEndian.AppendUint32(dst, 0) // no footers
	length := len(dst) + 8 - start - frameSize
	binary.BigEndian.PutUint64(dst[start+6:], uint64(length))
	return binary.BigEndian.AppendUint64(dst, uint64(length+6))
}
