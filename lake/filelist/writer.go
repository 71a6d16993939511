package filelist

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"github.com/lakesweep/lakesweep/lake"
)

// The keys of this package in a Parquet footer's metadata, beside HeadKey.
const (
	DigestKey = "lakesweep.digest" // hex SHA-256 over all rows in order and all other metadata
	ListKey   = "lakesweep.list"   // the head of a list that is no plan, as JSON (ListHead)
)

// Options tune a Writer. The zero value is good.
type Options struct {
	RowGroup int64 // rows in a row group, 0: 65,536
}

const batchRows = 512

// Writer writes a list as one Parquet file. Not safe for concurrent use.
//
// Memory: one row group, about 10 MiB by default.
type Writer struct {
	out     *parquet.GenericWriter[row]
	batch   []row
	cells   []cells // of the batch
	sum     hash.Hash
	scratch []byte
	n       int64
	err     error

	partition     lake.Partition // of the last row, and how it is spelled
	partitionText string
}

// NewWriter starts a list in w. Nothing is complete before Close.
func NewWriter(w io.Writer, o Options) *Writer {
	if o.RowGroup <= 0 {
		o.RowGroup = 1 << 16
	}
	return &Writer{
		out:   parquet.NewGenericWriter[row](w, parquet.Compression(&zstd.Codec{Level: zstd.SpeedFastest}), parquet.MaxRowsPerRowGroup(o.RowGroup), parquet.CreatedBy("lakesweep", "1", "")),
		batch: make([]row, 0, batchRows),
		cells: make([]cells, batchRows),
		sum:   sha256.New(),
	}
}

// Append adds a row. Instants that 64 bits of nanoseconds can't hold become
// unknown, as do negative sizes. After an error the list can't be finished.
//
// Errors: Internal for a row without a path, otherwise those of the underlying writer.
func (w *Writer) Append(v lake.Verdict) error {
	if w.err != nil {
		return w.err
	}
	v = normal(v)
	if err := w.spell(v.Partition); err != nil {
		return w.fail(err)
	}
	r, err := w.cells[len(w.batch)].toRow(&v, w.partitionText)
	if err != nil {
		return w.fail(err)
	}
	w.scratch = appendVerdict(w.scratch[:0], &v)
	hashRecord(w.sum, w.scratch)
	w.n++
	if w.batch = append(w.batch, r); len(w.batch) == cap(w.batch) {
		return w.flush()
	}
	return nil
}

// spell writes a partition as JSON. Rows of one partition mostly come together.
func (w *Writer) spell(p lake.Partition) (err error) {
	if p == nil || w.partition != nil && slices.Equal(p, w.partition) {
		return nil
	}
	w.partition = slices.Clone(p)
	w.partitionText, err = partitionJSON(p)
	return err
}

// Rows returns the number of rows so far.
func (w *Writer) Rows() int64 { return w.n }

// Close writes what is left and the footer with meta, and returns the digest,
// which stands in the footer under DigestKey. It doesn't close the underlying writer.
func (w *Writer) Close(meta map[string]string) (digest string, err error) {
	if err := w.flush(); err != nil {
		return "", err
	}
	if _, ok := meta[DigestKey]; ok {
		return "", w.fail(fmt.Errorf("%s is the writer's own key", DigestKey))
	}
	digest = finish(w.sum, w.n, meta)
	for _, key := range slices.Sorted(maps.Keys(meta)) {
		w.out.SetKeyValueMetadata(key, meta[key])
	}
	w.out.SetKeyValueMetadata(DigestKey, digest)
	if err := w.out.Close(); err != nil {
		return "", w.fail(err)
	}
	w.err = errors.New("the list is closed")
	return digest, nil
}

func (w *Writer) flush() error {
	if w.err != nil {
		return w.err
	}
	if _, err := w.out.Write(w.batch); err != nil {
		return w.fail(err)
	}
	clear(w.batch)
	w.batch = w.batch[:0]
	return nil
}

func (w *Writer) fail(err error) error {
	w.err = &lake.Error{Op: "write list", Kind: lake.Internal, Err: err}
	return w.err
}

// hashRecord adds a row in its binary form.
func hashRecord(sum hash.Hash, record []byte) {
	var length [8]byte
	binary.LittleEndian.PutUint64(length[:], uint64(len(record)))
	sum.Write(length[:])
	sum.Write(record)
}

// finish adds the number of rows and the metadata and returns the digest.
func finish(sum hash.Hash, rows int64, meta map[string]string) string {
	b := binary.LittleEndian.AppendUint64(nil, uint64(rows))
	for _, key := range slices.Sorted(maps.Keys(meta)) {
		b = appendString(appendString(b, key), meta[key])
	}
	sum.Write(b)
	return hex.EncodeToString(sum.Sum(nil))
}
