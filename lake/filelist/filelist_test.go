package filelist

import (
	"bytes"
	"errors"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"

	"github.com/lakesweep/lakesweep/lake"
)

var reasons = []lake.Reason{lake.Tombstone, lake.Orphan, lake.DeletionVector, lake.ExpiredBlob, ""}

// anyVerdict draws verdicts with hostile names, unknown values and odd instants.
func anyVerdict() *rapid.Generator[lake.Verdict] {
	instants := rapid.Custom(func(t *rapid.T) time.Time {
		if rapid.Bool().Draw(t, "unknown") {
			return time.Time{}
		}
		return time.Unix(0, rapid.Int64().Draw(t, "ns")).UTC()
	})
	return rapid.Custom(func(t *rapid.T) lake.Verdict {
		v := lake.Verdict{
			Size: rapid.Int64Min(-1).Draw(t, "size"), Modified: instants.Draw(t, "modified"), Tombstone: instants.Draw(t, "tombstone"), DueAt: instants.Draw(t, "due"),
			Reason: rapid.SampledFrom(reasons).Draw(t, "reason"), Directory: rapid.Bool().Draw(t, "directory"), ETag: rapid.String().Draw(t, "etag"),
		}
		if name := string(rapid.SliceOfN(rapid.Byte(), 1, 60).Draw(t, "name")); rapid.Bool().Draw(t, "blob") {
			v.URI = "s3://b/" + name
		} else {
			v.Key = lake.Key(name)
		}
		if rapid.Bool().Draw(t, "partitioned") {
			v.Partition = lake.Partition{}
			for range rapid.IntRange(0, 3).Draw(t, "columns") {
				p := lake.PartitionValue{Column: rapid.String().Draw(t, "column"), Null: rapid.Bool().Draw(t, "null")}
				if !p.Null {
					p.Value = rapid.String().Draw(t, "value")
				}
				v.Partition = append(v.Partition, p)
			}
		}
		return v
	})
}

func write(t interface{ Fatal(...any) }, meta map[string]string, o Options, vs ...lake.Verdict) []byte {
	var out bytes.Buffer
	w := NewWriter(&out, o)
	for _, v := range vs {
		if err := w.Append(v); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Close(meta); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func open(data []byte) (*Reader, error) { return Open(bytes.NewReader(data), int64(len(data))) }

func collect(seq iter.Seq2[lake.Verdict, error]) (out []lake.Verdict, err error) {
	for v, err := range seq {
		if err != nil {
			return out, err
		}
		out = append(out, v)
	}
	return out, nil
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		vs := rapid.SliceOfN(anyVerdict(), 0, 20).Draw(t, "verdicts")
		r, err := open(write(t, map[string]string{HeadKey: `{"schema":1,"plan_id":"p"}`}, Options{RowGroup: 7}, vs...))
		if err != nil {
			t.Fatal(err)
		}
		got, err := collect(r.Rows())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(vs, got); diff != "" && len(vs)+len(got) > 0 {
			t.Fatal(diff)
		}
		h, err := r.Head()
		if err != nil || h.PlanID != "p" || h.Digest != r.Digest() || len(h.Digest) != 64 || r.NumRows() != int64(len(vs)) {
			t.Fatal(h, err)
		}
	})
}

func TestManyRowsAndRowGroups(t *testing.T) {
	var vs []lake.Verdict
	for i := range 5000 {
		vs = append(vs, lake.Verdict{Key: lake.Key(strings.Repeat("p=1/", i%9) + "x"), Size: int64(i) - 1})
	}
	r, err := open(write(t, nil, Options{RowGroup: 1000}, vs...))
	if err != nil {
		t.Fatal(err)
	}
	got, err := collect(r.Rows())
	if err != nil || !cmp.Equal(vs, got) {
		t.Fatal(len(got), err)
	}
}

func TestOutOfRangeValuesBecomeUnknown(t *testing.T) {
	in := lake.Verdict{Key: "k", Size: -7, Modified: time.Date(1601, 1, 1, 0, 0, 0, 0, time.UTC), DueAt: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC),
		Partition: lake.Partition{{Column: "a", Value: "x\xff"}, {Column: "b", Value: "left", Null: true}}}
	r, err := open(write(t, nil, Options{}, in))
	if err != nil {
		t.Fatal(err)
	}
	got, err := collect(r.Rows())
	want := []lake.Verdict{{Key: "k", Size: -1, Partition: lake.Partition{{Column: "a", Value: "x\uFFFD"}, {Column: "b", Null: true}}}}
	if err != nil || !cmp.Equal(got, want) {
		t.Fatal(got, err)
	}
	if in.Partition[1].Value != "left" {
		t.Error("the caller's partition was changed")
	}
}

func TestAppendRefuses(t *testing.T) {
	for name, v := range map[string]lake.Verdict{"no path": {}, "two paths": {Key: "a", URI: "s3://b/a"}} {
		w := NewWriter(&bytes.Buffer{}, Options{})
		if err := w.Append(v); err == nil {
			t.Errorf("%s: accepted", name)
		}
		if _, err := w.Close(nil); err == nil {
			t.Errorf("%s: closed all the same", name)
		}
	}
}

func TestWriteErrorsSurface(t *testing.T) {
	for limit := range 40 {
		w := NewWriter(&brokenWriter{left: limit * 20}, Options{})
		err := w.Append(lake.Verdict{Key: "some/longer/name", ETag: strings.Repeat("e", 50)})
		if _, closeErr := w.Close(nil); err == nil && closeErr == nil {
			full := len(write(t, nil, Options{}, lake.Verdict{Key: "some/longer/name", ETag: strings.Repeat("e", 50)}))
			if full > limit*20 {
				t.Fatalf("a writer that broke after %d of %d bytes gave no error", limit*20, full)
			}
		}
	}
}

type brokenWriter struct{ left int }

func (w *brokenWriter) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return 0, errors.New("disk full")
	}
	return len(p), nil
}

func sample(t *testing.T) []byte {
	return write(t, map[string]string{HeadKey: `{"schema":1}`}, Options{RowGroup: 3},
		lake.Verdict{Key: "p=1/a.parquet", Size: 10, Modified: time.Unix(1577836800, 5), Reason: lake.Orphan, Partition: lake.Partition{{Column: "p", Value: "1"}}},
		lake.Verdict{Key: "b\xff", Size: -1, Reason: lake.Tombstone, Tombstone: time.Unix(1577836800, 0)},
		lake.Verdict{URI: "s3://b/x y", Size: 0, Reason: lake.ExpiredBlob, DueAt: time.Unix(1577836800, 0), ETag: "e"},
		lake.Verdict{Key: "dir", Directory: true, Reason: lake.EmptyDirectory})
}

func TestCutFilesAreDamaged(t *testing.T) {
	data := sample(t)
	for n := range data {
		if _, err := open(data[:n]); lake.KindOf(err) != lake.Damaged {
			t.Fatalf("cut to %d of %d bytes: %v", n, len(data), err)
		}
	}
}

// Every change of a byte that changes what is read must be seen.
func TestFlippedBitsAreDamaged(t *testing.T) {
	data := sample(t)
	good, err := open(data)
	if err != nil {
		t.Fatal(err)
	}
	want, err := collect(good.Rows())
	if err != nil {
		t.Fatal(err)
	}
	for i := range data {
		bad := bytes.Clone(data)
		bad[i] ^= 1 << (i % 8)
		r, err := open(bad)
		if err != nil {
			continue
		}
		got, err := collect(r.Rows())
		if err == nil && (!cmp.Equal(got, want) || r.Metadata(HeadKey) != good.Metadata(HeadKey)) {
			t.Fatalf("byte %d flipped: other rows and no error", i)
		}
		if err != nil && lake.KindOf(err) != lake.Damaged {
			t.Fatalf("byte %d flipped: %v", i, err)
		}
	}
}

func TestForeignParquetIsDamaged(t *testing.T) {
	var out bytes.Buffer
	w := parquet.NewGenericWriter[struct {
		Path string `parquet:"path"`
	}](&out)
	w.SetKeyValueMetadata(DigestKey, "00")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := open(out.Bytes()); lake.KindOf(err) != lake.Damaged {
		t.Fatal(err)
	}
}

func TestStoppingEarlyYieldsNoError(t *testing.T) {
	r, err := open(sample(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range r.Rows() {
		if err != nil {
			t.Fatal(err)
		}
		break
	}
}

func FuzzOpen(f *testing.F) {
	var out bytes.Buffer
	w := NewWriter(&out, Options{RowGroup: 2})
	for _, k := range []lake.Key{"a", "b/c", "\xff"} {
		if err := w.Append(lake.Verdict{Key: k, Size: 1, Partition: lake.Partition{{Column: "p", Value: "1"}}}); err != nil {
			f.Fatal(err)
		}
	}
	if _, err := w.Close(map[string]string{HeadKey: `{}`}); err != nil {
		f.Fatal(err)
	}
	f.Add(out.Bytes())
	f.Add([]byte("PAR1PAR1"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := open(data)
		if err != nil {
			return
		}
		if err := r.Verify(); err == nil && !bytes.Equal(data, out.Bytes()) {
			t.Log("another file with a right digest") // only metadata that no reader uses may differ
		}
	})
}

func benchVerdicts(n int) (out []lake.Verdict) {
	at := time.Unix(1577836800, 0)
	for i := range n {
		day := string(rune('0' + i*10/n))
		out = append(out, lake.Verdict{Key: lake.Key(strings.Repeat("year=2023/month=07/", 2) + "day=" + day + "/part-" + strings.Repeat(day, 30) + ".parquet"), Size: int64(i),
			Modified: at, Reason: lake.Orphan, Partition: lake.Partition{{Column: "day", Value: day}}})
	}
	return out
}

func BenchmarkWriter(b *testing.B) {
	vs := benchVerdicts(100_000)
	for b.Loop() {
		write(b, nil, Options{}, vs...)
	}
	b.ReportMetric(float64(len(vs)*b.N)/b.Elapsed().Seconds(), "rows/s")
}

func BenchmarkReader(b *testing.B) {
	vs := benchVerdicts(100_000)
	data := write(b, nil, Options{}, vs...)
	for b.Loop() {
		r, err := open(data)
		if err != nil {
			b.Fatal(err)
		}
		if err := r.Verify(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(vs)*b.N)/b.Elapsed().Seconds(), "rows/s")
}
