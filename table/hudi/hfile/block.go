package hfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"sync"

	"github.com/klauspost/compress/gzip"

	"github.com/lakesweep/lakesweep/lake"
)

// Codec is a compression of block payloads, by its number in the trailer.
type Codec uint8

// The codecs that Hudi knows.
const (
	Gzip Codec = 1
	None Codec = 2
)

const (
	headerSize  = 33
	trailerSize = 4096
	checksumRun = 16384 // bytes that one checksum of 4 bytes covers
	maxBlock    = 1 << 30
)

const (
	dataMagic         = "DATABLK*"
	metaMagic         = "METABLKc"
	rootMagic         = "IDXROOT2"
	leafMagic         = "IDXLEAF2"
	intermediateMagic = "IDXINTE2"
	infoMagic         = "FILEINF2"
	trailerMagic      = "TRABLK\"$"
)

func damaged(format string, args ...any) error {
	return &lake.Error{Op: "read HFile", Kind: lake.Damaged, Err: fmt.Errorf(format, args...)}
}

func unsupported(format string, args ...any) error {
	return &lake.Error{Op: "read HFile", Kind: lake.Unsupported, Err: fmt.Errorf(format, args...)}
}

type block struct {
	magic   string
	payload []byte
	end     int64 // offset of what follows
}

// block reads the block at off. All of it must lie below limit.
func (r *Reader) block(off, limit int64) (block, error) {
	if off < 0 || off+headerSize > limit {
		return block{}, damaged("block at %d outside the file", off)
	}
	var h [headerSize]byte
	if err := readFull(r.src, h[:], off); err != nil {
		return block{}, err
	}
	onDisk := int64(int32(binary.BigEndian.Uint32(h[8:])))
	size := int64(int32(binary.BigEndian.Uint32(h[12:])))
	stored := int64(int32(binary.BigEndian.Uint32(h[29:]))) - headerSize
	switch {
	case onDisk < 0 || onDisk > limit-off-headerSize:
		return block{}, damaged("block at %d: %d bytes run past the end", off, onDisk)
	case stored < 0 || stored > onDisk:
		return block{}, damaged("block at %d: payload of %d bytes in %d", off, stored, onDisk)
	case size < 0 || size > maxBlock || onDisk > maxBlock:
		return block{}, damaged("block at %d: uncompressed size %d", off, size)
	}
	raw := make([]byte, headerSize+onDisk)
	copy(raw, h[:])
	if err := readFull(r.src, raw[headerSize:], off+headerSize); err != nil {
		return block{}, err
	}
	if err := verify(raw, headerSize+stored, h[24], int64(int32(binary.BigEndian.Uint32(h[25:])))); err != nil {
		return block{}, damaged("block at %d: %w", off, err)
	}
	payload, err := r.inflate(raw[headerSize:headerSize+stored], size)
	if err != nil {
		return block{}, damaged("block at %d: %w", off, err)
	}
	return block{string(h[:8]), payload, off + headerSize + onDisk}, nil
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

// verify checks the checksums behind raw[:data], if their type is known.
func verify(raw []byte, data int64, kind byte, run int64) error {
	var table *crc32.Table
	switch kind {
	case 0:
		return nil
	case 1:
		table = crc32.IEEETable
	case 2:
		table = crc32.MakeTable(crc32.Castagnoli)
	default:
		return fmt.Errorf("unknown checksum type %d", kind)
	}
	if run <= 0 {
		return fmt.Errorf("%d bytes per checksum", run)
	}
	sums := raw[data:]
	for start := int64(0); start < data; start += run {
		if len(sums) < 4 {
			return errors.New("checksums missing")
		}
		if crc32.Checksum(raw[start:min(start+run, data)], table) != binary.BigEndian.Uint32(sums) {
			return errors.New("checksum does not match")
		}
		sums = sums[4:]
	}
	return nil
}

// inflaters holds gzip readers that nobody uses: each has a window of 32 KiB.
var inflaters = sync.Pool{}

func (r *Reader) inflate(stored []byte, size int64) ([]byte, error) {
	if r.codec == None {
		if int64(len(stored)) != size {
			return nil, fmt.Errorf("%d bytes stored, %d expected", len(stored), size)
		}
		return stored, nil
	}
	z, ok := inflaters.Get().(*gzip.Reader)
	if !ok {
		z = new(gzip.Reader)
	}
	defer inflaters.Put(z)
	if err := z.Reset(bytes.NewReader(stored)); err != nil {
		return nil, err
	}
	// Room for what names shrink by; more grows with what is really there, so that a damaged size doesn't allocate.
	out := bytes.NewBuffer(make([]byte, 0, min(size, 32*int64(len(stored)))+bytes.MinRead))
	n, err := io.Copy(out, io.LimitReader(z, size+1))
	if err != nil {
		return nil, err
	}
	if n != size {
		return nil, fmt.Errorf("%d bytes or more inflated, %d expected", n, size)
	}
	return out.Bytes(), nil
}

// appendBlock appends a block as Hudi's own writer makes it: checksum type 0
// with the right number of zero bytes.
func appendBlock(dst []byte, magic string, payload []byte, prev int64, codec Codec) ([]byte, error) {
	start := len(dst)
	dst = append(dst, magic...)
	dst = append(dst, make([]byte, headerSize-8)...)
	if codec == Gzip {
		out := bytes.NewBuffer(dst)
		z := gzip.NewWriter(out)
		if _, err := z.Write(payload); err != nil {
			return nil, err
		}
		if err := z.Close(); err != nil {
			return nil, err
		}
		dst = out.Bytes()
	} else {
		dst = append(dst, payload...)
	}
	size := len(dst) - start
	sums := 4 * ((size + checksumRun - 1) / checksumRun)
	dst = append(dst, make([]byte, sums)...)
	if len(dst)-start > math.MaxInt32 {
		return nil, fmt.Errorf("block of %d bytes", size)
	}
	h := dst[start:]
	binary.BigEndian.PutUint32(h[8:], uint32(size-headerSize+sums))
	binary.BigEndian.PutUint32(h[12:], uint32(len(payload)))
	binary.BigEndian.PutUint64(h[16:], uint64(prev))
	h[24] = 0
	binary.BigEndian.PutUint32(h[25:], checksumRun)
	binary.BigEndian.PutUint32(h[29:], uint32(size))
	return dst, nil
}
