package hfile

import (
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// DefaultBlockSize keeps a block on disk within five runs of checksums, below
// which Hudi's reader sees every entry (spec 2.6).
const DefaultBlockSize = 64 << 10

// Options of a Writer. Created is required: the time of the file info.
type Options struct {
	Codec   Codec             // 0: Gzip
	Info    map[string][]byte // beside the keys that every file has: "schema", …
	Meta    map[string][]byte // meta blocks, such as "bloomFilter"
	Created time.Time
}

// Writer writes one HFile with an index of one level. Not safe for concurrent
// use.
//
// Memory: one block and the index: a key and some 20 bytes for each 64 KiB.
type Writer struct {
	w       io.Writer
	o       Options
	off     int64
	cur     []byte
	first   string
	last    string
	index   []byte
	prev    int64
	t       trailer
	keys    uint64 // bytes of all keys
	values  uint64
	started bool
	err     error
}

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer, o Options) *Writer {
	if o.Codec == 0 {
		o.Codec = Gzip
	}
	return &Writer{w: w, o: o, prev: -1,
		t: trailer{levels: 1, comparator: comparator, codec: uint64(o.Codec), firstData: noOffset, lastData: noOffset}}
}

// Append adds an entry. Keys must ascend by bytes, without repeats.
func (w *Writer) Append(key string, value []byte) error {
	switch {
	case w.err != nil:
		return w.err
	case w.started && key <= w.last:
		return fmt.Errorf("write HFile: key %q after %q", key, w.last)
	case len(key) > math.MaxInt16 || len(value) > math.MaxInt32-entryOverhead-len(key):
		return fmt.Errorf("write HFile: key of %d and value of %d bytes", len(key), len(value))
	}
	if len(w.cur) > 0 && len(w.cur)+entryOverhead+len(key)+len(value) > DefaultBlockSize {
		w.flush()
	}
	if len(w.cur) == 0 {
		w.first = key
	}
	w.cur = appendEntry(w.cur, key, value)
	w.last, w.started = key, true
	w.t.entries++
	w.keys, w.values = w.keys+uint64(len(key)), w.values+uint64(len(value))
	return w.err
}

func (w *Writer) flush() {
	if len(w.cur) == 0 {
		return
	}
	off := w.off
	size := w.block(dataMagic, w.cur, w.prev)
	w.index = appendIndex(w.index, off, size, appendRow(nil, w.first))
	if w.t.dataIndex == 0 {
		w.t.firstData = uint64(off)
	}
	w.t.dataIndex, w.t.lastData, w.prev = w.t.dataIndex+1, uint64(off), off
	w.t.totalBytes += uint64(len(w.cur))
	w.cur = w.cur[:0]
}

// block writes a block and returns its size on disk.
func (w *Writer) block(magic string, payload []byte, prev int64) int {
	if w.err != nil {
		return 0
	}
	b, err := appendBlock(nil, magic, payload, prev, w.o.Codec)
	if err == nil {
		_, err = w.w.Write(b)
	}
	w.off, w.err = w.off+int64(len(b)), err
	return len(b)
}

// Close writes the indexes, the file info and the trailer.
func (w *Writer) Close() error {
	w.flush()
	var meta []byte
	for _, name := range slices.Sorted(maps.Keys(w.o.Meta)) {
		off := w.off
		meta = appendIndex(meta, off, w.block(metaMagic, w.o.Meta[name], -1), []byte(name))
		w.t.metaIndex++
	}
	w.t.loadOnOpen = uint64(w.off)
	w.block(rootMagic, w.index, -1)
	w.block(rootMagic, meta, -1)
	w.t.infoOffset = uint64(w.off)
	w.block(infoMagic, w.fileInfo(), -1)
	if w.err != nil {
		return w.err
	}
	_, w.err = w.w.Write(w.t.append(nil))
	return w.err
}

func (w *Writer) fileInfo() []byte {
	average := func(sum uint64) []byte {
		return binary.BigEndian.AppendUint32(nil, uint32(sum/max(w.t.entries, 1)))
	}
	info := map[string][]byte{
		"MAX_MEMSTORE_TS_KEY":  make([]byte, 8),
		"KEY_VALUE_VERSION":    binary.BigEndian.AppendUint32(nil, 1),
		"hfile.LASTKEY":        nil,
		"hfile.AVG_KEY_LEN":    average(w.keys),
		"hfile.AVG_VALUE_LEN":  average(w.values),
		"hfile.CREATE_TIME_TS": binary.BigEndian.AppendUint64(nil, uint64(w.o.Created.UnixMilli())),
	}
	if w.started {
		info["hfile.LASTKEY"] = appendRow(nil, w.last)
	}
	maps.Copy(info, w.o.Info)
	var body []byte
	for _, k := range slices.Sorted(maps.Keys(info)) {
		pair := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), k)
		pair = protowire.AppendBytes(protowire.AppendTag(pair, 2, protowire.BytesType), info[k])
		body = protowire.AppendBytes(protowire.AppendTag(body, 1, protowire.BytesType), pair)
	}
	return protowire.AppendBytes([]byte("PBUF"), body)
}

func appendRow(dst []byte, key string) []byte {
	return append(binary.BigEndian.AppendUint16(dst, uint16(len(key))), key...)
}

func appendIndex(dst []byte, off int64, size int, key []byte) []byte {
	dst = binary.BigEndian.AppendUint64(dst, uint64(off))
	dst = binary.BigEndian.AppendUint32(dst, uint32(size))
	return append(appendVlong(dst, int64(len(key))), key...)
}
