package hfile

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lakesweep/lakesweep/lake"
)

const vectors = "../../../../shared/fixtures/hudi/hfile"

func openFile(t *testing.T, name string) *Reader {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(vectors, name))
	if err != nil {
		t.Skip("no HFile vectors beside the project: " + err.Error())
	}
	r, err := Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestReadsHBaseVectors(t *testing.T) {
	for name, want := range map[string]struct {
		n     int
		large bool
		twins int
	}{
		"hudi_1_0_hbase_2_4_13_16KB_GZ_20000_fake_first_key.hfile":       {n: 20000},
		"hudi_1_0_hbase_2_4_13_1KB_GZ_10000_large_keys_deep_index.hfile": {n: 10000, large: true},
		"hudi_1_0_hbase_2_4_13_1KB_GZ_20000_large_keys.hfile":            {n: 20000, large: true},
		"hudi_1_0_hbase_2_4_9_16KB_GZ_20000.hfile":                       {n: 20000},
		"hudi_1_0_hbase_2_4_9_16KB_GZ_200_20_non_unique.hfile":           {n: 200, twins: 20},
		"hudi_1_0_hbase_2_4_9_16KB_NONE_5000.hfile":                      {n: 5000},
		"hudi_1_0_hbase_2_4_9_512KB_GZ_20000.hfile":                      {n: 20000},
		"hudi_1_0_hbase_2_4_9_64KB_NONE_5000.hfile":                      {n: 5000},
		"hudi_1_0_hbase_2_4_9_no_entry.hfile":                            {},
	} {
		t.Run(name, func(t *testing.T) {
			r := openFile(t, name)
			i, seen := 0, 0
			key, first := "", ""
			for e, err := range r.All() {
				if err != nil {
					t.Fatal(err)
				}
				if seen == 0 {
					key = e.Key
					if !strings.HasPrefix(key, "hudi-key-") || !strings.Contains(key, fmt.Sprintf("%09d", i)) || (len(key) > 100) != want.large {
						t.Fatalf("key %d is %q", i, key)
					}
				}
				value := fmt.Sprintf("hudi-value-%09d", i)
				if seen > 0 {
					value += fmt.Sprintf("_%d", seen-1)
				}
				if e.Key != key || string(e.Value) != value {
					t.Fatalf("entry %d/%d: %q = %q, want %q", i, seen, e.Key, e.Value, value)
				}
				if i%371 == 0 && seen == 0 {
					first = e.Key
					if v, ok, err := r.Lookup(first); !ok || err != nil || string(v) != value {
						t.Fatalf("look-up of %q: %q, %v, %v", first, v, ok, err)
					}
					if _, ok, err := r.Lookup(first + "0"); ok || err != nil {
						t.Fatalf("look-up of a stranger: %v, %v", ok, err)
					}
					twins := 0
					for _, err := range r.Prefix(first) {
						if twins++; err != nil {
							t.Fatal(err)
						}
					}
					if twins != want.twins+1 {
						t.Fatalf("%d entries with the prefix %q", twins, first)
					}
				}
				if seen++; seen > want.twins {
					i, seen = i+1, 0
				}
			}
			if i != want.n || r.Len() != int64(want.n*(want.twins+1)) {
				t.Errorf("%d keys, length %d; want %d", i, r.Len(), want.n)
			}
		})
	}
}

// Hudi's own reader yields one entry less (spec 2.6).
func TestReadsWhatHudiLoses(t *testing.T) {
	r := openFile(t, "hudi_1_2_0_native_1MB_GZ_13000_reader_loses_1.hfile")
	n := 0
	for e, err := range r.All() {
		if err != nil || len(e.Value) != 30 {
			t.Fatal(e.Key, err)
		}
		n++
	}
	if n != 13000 {
		t.Errorf("%d entries", n)
	}
}

func write(t testing.TB, entries map[string]string, codec Codec) []byte {
	var out bytes.Buffer
	w := NewWriter(&out, Options{Codec: codec, Info: map[string][]byte{"schema": []byte("s")}, Meta: map[string][]byte{"bloomFilter": []byte("bits")}, Created: time.UnixMilli(1)})
	for _, k := range slices.Sorted(maps.Keys(entries)) {
		if err := w.Append(k, []byte(entries[k])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestWrittenIsRead(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		entries := rapid.MapOf(rapid.String(), rapid.StringN(0, -1, 9000)).Draw(rt, "entries")
		probe := rapid.String().Draw(rt, "probe")
		codec := rapid.SampledFrom([]Codec{Gzip, None}).Draw(rt, "codec")
		data := write(t, entries, codec)
		r, err := Open(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			rt.Fatal(err)
		}
		got := map[string]string{}
		for e, err := range r.All() {
			if err != nil {
				rt.Fatal(err)
			}
			got[e.Key] = string(e.Value)
		}
		if !maps.Equal(got, entries) {
			rt.Fatalf("wrote %d, read %d", len(entries), len(got))
		}
		for _, k := range append(slices.Collect(maps.Keys(entries)), probe) {
			want, in := entries[k]
			if v, ok, err := r.Lookup(k); err != nil || ok != in || string(v) != want {
				rt.Fatalf("look-up of %q: %v, %v", k, ok, err)
			}
		}
		want := 0
		for k := range entries {
			if strings.HasPrefix(k, probe) {
				want++
			}
		}
		for _, err := range r.Prefix(probe) {
			if want--; err != nil {
				rt.Fatal(err)
			}
		}
		if want != 0 {
			rt.Fatalf("prefix %q: off by %d", probe, want)
		}
		if s, ok := r.Info("schema"); !ok || string(s) != "s" {
			rt.Fatal("file info lost")
		}
		if b, ok, err := r.Meta("bloomFilter"); !ok || err != nil || string(b) != "bits" {
			rt.Fatal("meta block lost", err)
		}
	})
}

// The rule that makes Hudi's reader see every entry: none starts in the last
// 4 bytes for each 16 KiB of its block.
func TestWriterStaysVisibleToHudi(t *testing.T) {
	for _, size := range []int{0, 1, 20, 1000, 17_000, 70_000, 200_000} {
		entries := map[string]string{}
		for i := range 5000 {
			entries[fmt.Sprintf("%06d", i)] = ""
		}
		for i := range 4 {
			entries[fmt.Sprintf("%06d_", i*1200)] = strings.Repeat("v", size)
		}
		for _, codec := range []Codec{Gzip, None} {
			data := write(t, entries, codec)
			r, err := Open(bytes.NewReader(data), int64(len(data)))
			if err != nil {
				t.Fatal(err)
			}
			for _, at := range r.root {
				b, err := r.block(at.off, int64(r.t.loadOnOpen))
				if err != nil {
					t.Fatal(err)
				}
				last := 0
				if err := r.scan(at, func(e Entry) error { last = entryOverhead + len(e.Key) + len(e.Value); return nil }); err != nil {
					t.Fatal(err)
				}
				if hidden := 4 * int((at.size+checksumRun-1)/checksumRun); last < hidden {
					t.Errorf("size %d: a last entry of %d bytes, %d hidden, block of %d", size, last, hidden, len(b.payload))
				}
			}
		}
	}
}

// Hudi sorts by UTF-16 units: U+1F600 comes before U+E000.
func TestFindsKeysInJavaOrder(t *testing.T) {
	keys := []string{"a", "\U0001F600", "\U0001F601", "\uE000", "\uFFFD"}
	if !slices.IsSortedFunc(keys, byUnits) {
		t.Fatal("byUnits is not Java's order")
	}
	var out bytes.Buffer
	w := NewWriter(&out, Options{Codec: None})
	for _, k := range keys {
		w.last = "" // lets the test write in Java's order
		if err := w.Append(k, []byte("v")); err != nil {
			t.Fatal(err)
		}
		w.flush()
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := Open(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range keys {
		if _, ok, err := r.Lookup(k); !ok || err != nil {
			t.Errorf("%q: %v, %v", k, ok, err)
		}
	}
	n := 0
	for _, err := range r.All() {
		if n++; err != nil {
			t.Fatal(err)
		}
	}
	if n != len(keys) {
		t.Errorf("%d of %d", n, len(keys))
	}
}

func TestKeysThatFallAreDamage(t *testing.T) {
	var out bytes.Buffer
	w := NewWriter(&out, Options{Codec: None})
	for _, k := range []string{"b", "a"} {
		w.last = ""
		if err := w.Append(k, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := Open(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	var last error
	for _, err := range r.All() {
		last = err
	}
	if lake.KindOf(last) != lake.Damaged {
		t.Errorf("got %v", last)
	}
}

func TestEveryCutIsAnError(t *testing.T) {
	data := write(t, map[string]string{"a": "1", "b": "2"}, Gzip)
	for n := range len(data) {
		if n > 600 && n < len(data)-300 {
			continue // zeros of the trailer
		}
		r, err := Open(bytes.NewReader(data[:n]), int64(n))
		if err == nil {
			for _, e := range r.All() {
				err = e
			}
		}
		if lake.KindOf(err) != lake.Damaged {
			t.Fatalf("cut at %d: %v", n, err)
		}
	}
}

func FuzzOpen(f *testing.F) {
	f.Add(write(f, map[string]string{"a": "1", "bb": "22"}, None))
	f.Add(write(f, map[string]string{"k": strings.Repeat("v", 100)}, Gzip))
	f.Add(write(f, nil, None))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Open(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		for e, err := range r.All() {
			if err != nil {
				break
			}
			if v, ok, err := r.Lookup(e.Key); err == nil && ok && v == nil {
				t.Fatalf("an entry %q without a value", e.Key)
			}
		}
	})
}
