package hfile

import (
	"encoding/binary"
	"errors"
	"io"
	"iter"
	"strings"
	"sync"
)

// Entry is a key with its value.
type Entry struct {
	Key   string
	Value []byte
}

// Reader reads one HFile. Safe for concurrent use if its source is.
//
// Memory: the root index, two data blocks, and one for each call that runs.
type Reader struct {
	src   io.ReaderAt
	size  int64
	t     trailer
	codec Codec
	root  []ref
	meta  []ref
	info  map[string][]byte
	mvcc  bool

	mu     sync.Mutex
	recent [2]cached // data blocks, so that look-ups in key order read each once
}

type cached struct {
	off int64
	b   block
}

// data returns the data block at off.
func (r *Reader) data(off int64) (block, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.recent {
		if c.b.magic != "" && c.off == off {
			return c.b, nil
		}
	}
	b, err := r.block(off, int64(r.t.loadOnOpen))
	if err == nil {
		r.recent[1], r.recent[0] = r.recent[0], cached{off, b}
	}
	return b, err
}

// Open reads the trailer, the indexes and the file info of an HFile of size bytes.
//
// Errors: Damaged; Unsupported for another version, codec, encryption, tags,
// block encodings or entries with memstore timestamps.
func Open(src io.ReaderAt, size int64) (*Reader, error) {
	if size < trailerSize {
		return nil, damaged("%d bytes are no HFile", size)
	}
	var end [trailerSize]byte
	if err := readFull(src, end[:], size-trailerSize); err != nil {
		return nil, err
	}
	t, err := parseTrailer(end[:])
	if err != nil {
		return nil, err
	}
	r := &Reader{src: src, size: size, t: t, codec: Codec(t.codec)}
	switch {
	case t.codec != uint64(Gzip) && t.codec != uint64(None):
		return nil, unsupported("compression codec %d", t.codec)
	case len(t.encryptionKey) > 0:
		return nil, unsupported("encryption")
	case t.levels < 1 || t.levels > 8:
		return nil, damaged("%d index levels", t.levels)
	case t.loadOnOpen > uint64(size-trailerSize):
		return nil, damaged("indexes at %d of %d", t.loadOnOpen, size)
	}
	return r, r.load()
}

func (r *Reader) load() error {
	limit := r.size - trailerSize
	root, err := r.block(int64(r.t.loadOnOpen), limit)
	if err != nil {
		return err
	}
	meta, err := r.block(root.end, limit)
	if err != nil {
		return err
	}
	info, err := r.block(meta.end, limit)
	if err != nil {
		return err
	}
	if root.magic != rootMagic || meta.magic != rootMagic || info.magic != infoMagic {
		return damaged("blocks %q, %q, %q where indexes and file info should be", root.magic, meta.magic, info.magic)
	}
	if r.root, err = parseRoot(root.payload, r.t.dataIndex, indexKey); err != nil {
		return err
	}
	if r.meta, err = parseRoot(meta.payload, r.t.metaIndex, func(b []byte) (string, error) { return string(b), nil }); err != nil {
		return err
	}
	if r.info, err = parseInfo(info.payload); err != nil {
		return err
	}
	if _, ok := r.info["hfile.MAX_TAGS_LEN"]; ok {
		return unsupported("tags")
	}
	if e := string(r.info["DATA_BLOCK_ENCODING"]); e != "" && e != "NONE" {
		return unsupported("block encoding %q", e)
	}
	if ts := r.info["MAX_MEMSTORE_TS_KEY"]; len(ts) == 8 && binary.BigEndian.Uint64(ts) > 0 {
		return unsupported("memstore timestamps")
	}
	version := r.info["KEY_VALUE_VERSION"]
	r.mvcc = len(version) == 4 && binary.BigEndian.Uint32(version) == 1
	return nil
}

// Len returns the number of entries.
func (r *Reader) Len() int64 { return int64(r.t.entries) }

// Info returns a value of the file info map: "schema", "hfile.LASTKEY", ….
func (r *Reader) Info(key string) ([]byte, bool) {
	v, ok := r.info[key]
	return v, ok
}

// Meta returns the named meta block, such as "bloomFilter".
func (r *Reader) Meta(name string) ([]byte, bool, error) {
	for _, m := range r.meta {
		if m.key == name {
			b, err := r.block(m.off, int64(r.t.loadOnOpen))
			if err == nil && b.magic != metaMagic {
				err = damaged("block at %d: %q where a meta block should be", m.off, b.magic)
			}
			return b.payload, err == nil, err
		}
	}
	return nil, false, nil
}

var errStop = errors.New("stop")

// All yields every entry in the file's order. After an error it stops.
//
// Errors: Damaged, also where the number of entries isn't the trailer's or
// keys don't ascend; those of the source.
func (r *Reader) All() iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		var n uint64
		last := ""
		err := r.blocks("", byBytes, func(at ref) (bool, error) {
			return true, r.scan(at, func(e Entry) error {
				if n > 0 && byBytes(last, e.Key) > 0 && byUnits(last, e.Key) > 0 {
					return damaged("key %q after %q", e.Key, last)
				}
				n, last = n+1, e.Key
				if !yield(e, nil) {
					return errStop
				}
				return nil
			})
		})
		if err == nil && n != r.t.entries {
			err = damaged("%d entries, the trailer says %d", n, r.t.entries)
		}
		if err != nil && err != errStop {
			yield(Entry{}, err)
		}
	}
}

// Lookup returns the value of key, of the first entry if several have it.
func (r *Reader) Lookup(key string) ([]byte, bool, error) {
	for e, err := range r.from(key, func(k string) bool { return k == key }) {
		return e.Value, err == nil, err
	}
	return nil, false, nil
}

// Prefix yields the entries whose keys begin with prefix, in the file's order.
func (r *Reader) Prefix(prefix string) iter.Seq2[Entry, error] {
	return r.from(prefix, func(k string) bool { return strings.HasPrefix(k, prefix) })
}

// from yields the entries that match, which follow each other and are the
// first ones not below lower. Where the two orders of keys differ relative to
// lower, both are tried.
func (r *Reader) from(lower string, match func(string) bool) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		orders := []compare{byBytes}
		if ordersDiffer(lower) {
			orders = append(orders, byUnits)
		}
		for _, cmp := range orders {
			found := false
			err := r.blocks(lower, cmp, func(at ref) (bool, error) {
				err := r.scan(at, func(e Entry) error {
					switch {
					case match(e.Key):
						found = true
						if !yield(e, nil) {
							return errStop
						}
					case found, cmp(e.Key, lower) > 0:
						return io.EOF
					}
					return nil
				})
				return err == nil, err
			})
			if err != nil && !errors.Is(err, io.EOF) {
				if err != errStop {
					yield(Entry{}, err)
				}
				return
			}
			if found {
				return
			}
		}
	}
}
