package keyset

import (
	"encoding/binary"
	"io"
	"math/bits"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/lakesweep/lakesweep/lake"
)

// disk is where the fingerprints of a spilled Set lie: sorted, shard by shard.
type disk struct {
	file   *os.File
	shards [shardCount]section
	pinned [shardCount]atomic.Pointer[[]uint64]

	mu  sync.Mutex
	err error
}

// window is the number of fingerprints that one look at the disk reads. They
// are spread evenly, so that the place of one is known to within about the
// square root of their number.
const window = 1024

// Spilled reports whether the fingerprints lie on disk, where each question
// costs a read or two. Whoever has many asks shard by shard: see Pin.
func (s *Set) Spilled() bool { return s.disk != nil }

// Shards is the number of shards that a Set has.
const Shards = shardCount

// Shard returns the shard that k belongs to.
func (s *Set) Shard(k lake.Key) int { return int(fingerprint(k, s.seed) >> 56) }

// Pin brings a shard of a spilled set into memory, 8 bytes a key, until Unpin.
//
// Errors: Internal if it can't be read.
func (s *Set) Pin(shard int) error {
	if s.disk == nil {
		return nil
	}
	at := s.disk.shards[shard]
	fps, err := s.disk.read(at.offset, at.n)
	if err != nil {
		return &lake.Error{Op: "read protected keys", Kind: lake.Internal, Err: err}
	}
	s.disk.pinned[shard].Store(&fps)
	return nil
}

// Unpin lets go of a shard.
func (s *Set) Unpin(shard int) {
	if s.disk != nil {
		s.disk.pinned[shard].Store(nil)
	}
}

// Err returns the first error of reading a spilled set. Keys that it couldn't
// look up were taken for protected ones.
func (s *Set) Err() error {
	if s.disk == nil {
		return nil
	}
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	return s.disk.err
}

// Close gives up the temporary file of a spilled set.
func (s *Set) Close() error {
	if s.disk == nil {
		return nil
	}
	return s.disk.file.Close()
}

func (d *disk) read(offset, n int64) ([]uint64, error) {
	data := make([]byte, n*8)
	if err := readFull(d.file, data, offset); err != nil {
		return nil, err
	}
	fps := make([]uint64, n)
	for i := range fps {
		fps[i] = binary.BigEndian.Uint64(data[i*8:])
	}
	return fps, nil
}

// find returns the index of fp in its shard.
func (d *disk) find(fp uint64) (int, bool, error) {
	shard := fp >> 56
	if fps := d.pinned[shard].Load(); fps != nil {
		i, ok := slices.BinarySearch(*fps, fp)
		return i, ok, nil
	}
	at := d.shards[shard]
	guess, _ := bits.Mul64(fp<<8, uint64(at.n))
	for lo, hi := int64(0), at.n; lo < hi; {
		from := min(max(int64(guess)-window/2, lo), max(hi-window, lo))
		fps, err := d.read(at.offset+from*8, min(window, hi-from))
		if err != nil {
			return 0, false, err
		}
		switch {
		case fp < fps[0]:
			hi = from
			guess = uint64(max(from-window/2, 0))
		case fp > fps[len(fps)-1]:
			lo = from + int64(len(fps))
			guess = uint64(lo + window/2)
		default:
			i, ok := slices.BinarySearch(fps, fp)
			return int(from) + i, ok, nil
		}
	}
	return 0, false, nil
}

// look is find for those who can't return an error: it is kept for Err, and ok is then orElse.
func (d *disk) look(fp uint64, orElse bool) (int, bool, bool) {
	i, ok, err := d.find(fp)
	if err != nil {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.err == nil {
			d.err = &lake.Error{Op: "read protected keys", Kind: lake.Internal, Err: err}
		}
		return 0, false, orElse
	}
	return i, true, ok
}

// readFull fills data from offset on.
func readFull(f *os.File, data []byte, offset int64) error {
	n, err := f.ReadAt(data, offset)
	switch {
	case n == len(data):
		return nil
	case err == io.EOF:
		return io.ErrUnexpectedEOF
	}
	return err
}
