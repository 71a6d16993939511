package store_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/mem"
)

func TestReaderAtReadsAnyPart(t *testing.T) {
	data := make([]byte, 5<<20+123)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range data {
		data[i] = byte(rng.Uint32())
	}
	s := mem.New(mem.Options{})
	if err := s.PutIfAbsent(t.Context(), "f", data); err != nil {
		t.Fatal(err)
	}
	r := store.NewReaderAt(t.Context(), s, "f", int64(len(data)))
	for range 200 {
		off := rng.IntN(len(data) + 10)
		p := make([]byte, rng.IntN(3<<20))
		n, err := r.ReadAt(p, int64(off))
		want := data[min(off, len(data)):min(off+len(p), len(data))]
		if !bytes.Equal(p[:n], want) || (n < len(p)) != errors.Is(err, io.EOF) {
			t.Fatalf("%d bytes at %d: %d, %v", len(p), off, n, err)
		}
	}
	if _, err := r.ReadAt(nil, -1); err == nil {
		t.Error("a negative offset is read")
	}
	long := store.NewReaderAt(t.Context(), s, "f", int64(len(data))+1)
	if _, err := long.ReadAt(make([]byte, 10), int64(len(data))-5); !errors.Is(err, store.ErrTruncated) {
		t.Errorf("an object shorter than it was said to be: %v", err)
	}
}
