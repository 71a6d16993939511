package mdt

import (
	"crypto/md5"
	"encoding/base64"
	"encoding/binary"
	"unicode/utf16"

	"github.com/cespare/xxhash/v2"
)

// hashSeed is Hudi's 0xdabadaba, sign-extended.
const hashSeed = 0xFFFFFFFFDABADABA

func hash64(s string) string {
	d := xxhash.NewWithSeed(hashSeed)
	_, _ = d.WriteString(s) // never fails
	return base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint64(nil, d.Sum64()))
}

func fileHash(name string) string {
	sum := md5.Sum([]byte(name))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// columnStatsKey is the key of a file's statistics of one column.
//
// Source: spec/hudi-metadata-table.md section 3.4.
func columnStatsKey(column, partition, file string) string {
	return hash64(column) + hash64(recordKey(partition)) + fileHash(file)
}

// bloomKey is the key of a base file's bloom filter.
func bloomKey(partition, file string) string { return hash64(recordKey(partition)) + fileHash(file) }

// shard returns which of n file groups holds a key: Java's string hash, with
// its overflows.
//
// Source: spec/hudi-metadata-table.md section 3.5.
func shard(key string, n int) int {
	if n <= 1 {
		return 0
	}
	var h int32
	for _, unit := range utf16.Encode([]rune(key)) {
		h = 31*h + int32(unit)
	}
	return int(abs(abs(h) % int32(n)))
}

// abs is Java's: the least int32 stays as it is.
func abs(v int32) int32 {
	if v < 0 {
		return -v
	}
	return v
}
