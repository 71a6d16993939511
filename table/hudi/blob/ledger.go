package blob

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"github.com/zeebo/xxh3"

	"github.com/lakesweep/lakesweep/lake"
)

// Ledger remembers, in a local file, what immutable files refer to, as
// fingerprints of forms: a later round reads only files that are new. A nil
// Ledger remembers nothing. What it says is bound to the table, to each file's
// partition, name, size and ETag or time, and to how spellings are compared.
//
// Losing it costs time only. A record whose checksum is wrong is read anew.
//
//	8   magic, with the version
//	8   seed of the fingerprints
//	16  hash of the rules by which spellings are compared
//	then for each file:
//	16  hash of the file's identity
//	4   number n of references' forms
//	4   number m of authorities passed over
//	4   number k of bytes that tell which bounds were passed over, which counts under Options.Exact alone
//	11n fingerprint of each form, and mark of how it is spelled
//	8m  fingerprints of authorities
//	k   least and greatest value of each, as text with its length before it as a varint
//	8   checksum of the record so far, keyed by the seed
//
// All integers are little-endian.
type Ledger struct{ path string }

const (
	ledgerMagic  = "lsblobs3"
	ledgerHead   = 8 + 8 + 16
	recordHead   = 16 + 4 + 4 + 4
	voteSize     = 8 + len(mark{})
	recordSum    = 8
	ledgerSuffix = ".ledger"
)

// OpenLedger returns the ledger of a table in the state directory. The table
// is named by its id and its place. Nothing is read before a Judge needs it.
func OpenLedger(stateDir, tableID string, root lake.Root) *Ledger {
	sum := xxh3.HashString128(tableID + "\x00" + root.String()).Bytes()
	return &Ledger{filepath.Join(stateDir, "blobs", hex.EncodeToString(sum[:])+ledgerSuffix)}
}

// book is a ledger opened for one round, read from the old file and written
// to a new one. A nil book remembers nothing. One goroutine may use it at once.
type book struct {
	seed  uint64
	rules [16]byte
	path  string
	old   *os.File
	at    map[[16]byte]int64 // records of the old file
	kept  map[[16]byte]bool
	fresh *os.File // what was read in this round; nil until there is any
	out   *bufio.Writer
}

// entry is what a ledger knows of a file.
type entry struct {
	votes  []vote
	passed []uint64
	ruled  []bounds
}

func (l *Ledger) open(names *lake.BlobNames) (*book, error) {
	if l == nil {
		return nil, nil
	}
	b := &book{seed: rand.Uint64(), rules: xxh3.HashString128(names.Rules()).Bytes(), path: l.path, at: make(map[[16]byte]int64), kept: make(map[[16]byte]bool)}
	old, err := os.Open(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return b, nil
	}
	if err != nil {
		return nil, ledgerError(err)
	}
	if err := b.index(old); err != nil {
		return nil, ledgerError(errors.Join(err, old.Close()))
	}
	return b, nil
}

func ledgerError(err error) error {
	if err == nil {
		return nil
	}
	return &lake.Error{Op: "use the ledger of references", Err: err, Hint: "Remove the file, or name another state directory; references are read anew then."}
}

// index notes where each file's record lies. A file of another version, or
// made under other rules, is left unused, as is what follows a torn record.
func (b *book) index(old *os.File) error {
	in := bufio.NewReaderSize(old, 1<<20)
	var head [ledgerHead]byte
	if _, err := io.ReadFull(in, head[:]); err != nil || string(head[:8]) != ledgerMagic || [16]byte(head[16:]) != b.rules {
		return old.Close()
	}
	b.old, b.seed = old, binary.LittleEndian.Uint64(head[8:])
	for off := int64(ledgerHead); ; {
		var r [recordHead]byte
		if _, err := io.ReadFull(in, r[:]); err != nil {
			return nil // the end, torn or not
		}
		size := recordSize(r[:])
		if _, err := in.Discard(int(size - recordHead)); err != nil {
			return nil
		}
		b.at[[16]byte(r[:16])] = off
		off += size
	}
}

// recordSize is the size of a record by its head.
func recordSize(r []byte) int64 {
	n, m, k := recordCounts(r)
	return recordHead + n*int64(voteSize) + m*8 + k + recordSum
}

// recordCounts are the numbers of forms, authorities and bytes of bounds.
func recordCounts(r []byte) (n, m, k int64) {
	return int64(binary.LittleEndian.Uint32(r[16:])), int64(binary.LittleEndian.Uint32(r[20:])), int64(binary.LittleEndian.Uint32(r[24:]))
}

// identity hashes what makes a file this very file.
func identity(f File) [16]byte {
	version := f.ETag
	if version == "" {
		version = strconv.FormatInt(f.Modified.UnixNano(), 10)
	}
	return xxh3.HashString128(f.Partition + "\x00" + f.Name + "\x00" + strconv.FormatInt(f.Size, 10) + "\x00" + version).Bytes()
}

// lookup returns what is known of a file.
func (b *book) lookup(f File) (entry, bool, error) {
	if b == nil || b.old == nil {
		return entry{}, false, nil
	}
	off, ok := b.at[identity(f)]
	if !ok {
		return entry{}, false, nil
	}
	record, err := b.record(off)
	if err != nil || record == nil {
		return entry{}, false, ledgerError(err)
	}
	return decodeEntry(record), true, nil
}

// decodeEntry reads a record whose checksum is right.
func decodeEntry(record []byte) (e entry) {
	n, m, _ := recordCounts(record)
	in := record[recordHead : len(record)-recordSum]
	for ; n > 0; n, in = n-1, in[voteSize:] {
		e.votes = append(e.votes, vote{binary.LittleEndian.Uint64(in), mark(in[8:])})
	}
	for ; m > 0; m, in = m-1, in[8:] {
		e.passed = append(e.passed, binary.LittleEndian.Uint64(in))
	}
	text := func() string {
		size, n := binary.Uvarint(in)
		s := string(in[n : n+int(size)])
		in = in[n+int(size):]
		return s
	}
	for len(in) > 0 {
		e.ruled = append(e.ruled, bounds{text(), text()})
	}
	return e
}

// encodeEntry returns the record of a file, without its checksum.
func encodeEntry(id [16]byte, e entry) []byte {
	var ruled []byte
	for _, b := range e.ruled {
		for _, text := range [...]string{b.least, b.greatest} {
			ruled = append(binary.AppendUvarint(ruled, uint64(len(text))), text...)
		}
	}
	record := append(make([]byte, 0, recordHead+voteSize*len(e.votes)+8*len(e.passed)+len(ruled)+recordSum), id[:]...)
	for _, n := range [...]int{len(e.votes), len(e.passed), len(ruled)} {
		record = binary.LittleEndian.AppendUint32(record, uint32(n))
	}
	for _, v := range e.votes {
		record = append(binary.LittleEndian.AppendUint64(record, v.print), v.spelled[:]...)
	}
	for _, p := range e.passed {
		record = binary.LittleEndian.AppendUint64(record, p)
	}
	return append(record, ruled...)
}

// record reads a record, nil if it is torn.
func (b *book) record(off int64) ([]byte, error) {
	record := make([]byte, recordHead, 512)
	if _, err := b.old.ReadAt(record, off); err != nil {
		return nil, err
	}
	record = append(record, make([]byte, recordSize(record)-recordHead)...)
	if _, err := b.old.ReadAt(record[recordHead:], off+recordHead); err != nil {
		return nil, err
	}
	body := record[:len(record)-recordSum]
	if xxh3.HashSeed(body, b.seed) != binary.LittleEndian.Uint64(record[len(body):]) {
		return nil, nil
	}
	return record, nil
}

// keep notes that a file is still there.
func (b *book) keep(f File) { b.kept[identity(f)] = true }

// add remembers a file that was read whole, but for what its entry says was passed over.
func (b *book) add(f File, e entry) error {
	if b == nil || f.ETag == "" && f.Modified.IsZero() {
		return nil
	}
	if b.fresh == nil {
		if err := b.create(); err != nil {
			return ledgerError(err)
		}
	}
	id := identity(f)
	record := encodeEntry(id, e)
	record = binary.LittleEndian.AppendUint64(record, xxh3.HashSeed(record, b.seed))
	b.kept[id] = false // the old record, if there is one, no longer counts
	_, err := b.out.Write(record)
	return ledgerError(err)
}

func (b *book) create() error {
	if err := os.MkdirAll(filepath.Dir(b.path), 0o755); err != nil {
		return err
	}
	var err error
	if b.fresh, err = os.CreateTemp(filepath.Dir(b.path), ".ledger-*"); err != nil {
		return err
	}
	b.out = bufio.NewWriterSize(b.fresh, 1<<20)
	head := binary.LittleEndian.AppendUint64([]byte(ledgerMagic), b.seed)
	_, err = b.out.Write(append(head, b.rules[:]...))
	return err
}

// finish writes the new ledger, if there is anything new, and closes the old
// one. Where all files were seen, those that are gone are left out.
func (b *book) finish(all bool) error {
	if b == nil {
		return nil
	}
	gone := 0
	for id := range b.at {
		if !b.kept[id] {
			gone++
		}
	}
	var err error
	if b.fresh == nil && all && gone > len(b.at)/2 {
		err = b.create()
	}
	if b.fresh == nil {
		return ledgerError(errors.Join(err, b.close()))
	}
	for id, off := range b.at {
		kept, seen := b.kept[id]
		if err != nil || seen && !kept || !seen && all {
			continue
		}
		var record []byte
		if record, err = b.record(off); err == nil && record != nil {
			_, err = b.out.Write(record)
		}
	}
	if err == nil {
		err = b.out.Flush()
	}
	err = errors.Join(err, b.fresh.Close(), b.close())
	if err == nil {
		err = os.Rename(b.fresh.Name(), b.path)
	}
	if err != nil {
		err = fmt.Errorf("%w", errors.Join(err, os.Remove(b.fresh.Name())))
	}
	return ledgerError(err)
}

// close closes the old ledger.
func (b *book) close() error {
	if b == nil || b.old == nil {
		return nil
	}
	return b.old.Close()
}
