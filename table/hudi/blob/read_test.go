package blob_test

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/mem"
	"github.com/lakesweep/lakesweep/table/hudi/blob"
	"github.com/lakesweep/lakesweep/table/hudi/blob/shape"
	. "github.com/lakesweep/lakesweep/table/hudi/blobtest"
	"github.com/lakesweep/lakesweep/table/hudi/datafile"
	"github.com/lakesweep/lakesweep/table/hudi/logblock"
)

// world is a few data files in memory.
type world struct {
	t     testing.TB
	store *mem.Store
	meter store.Meter
	files []blob.File
	o     blob.Options
	n     int
}

func newWorld(t testing.TB, maps ...lake.BlobMap) *world {
	names, err := lake.NewBlobNames(lake.BlobOptions{Table: lake.Root{Scheme: "s3", Authority: "lake", Path: "t"}, Roots: []lake.Root{{Scheme: "s3", Authority: "media"}}, Maps: maps})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, store: mem.New(mem.Options{})}
	w.o = blob.Options{Reader: w.meter.Wrap(w.store), Names: names, Committed: func(_ context.Context, instant string) (bool, error) { return !strings.HasSuffix(instant, "9"), nil }}
	return w
}

// add puts a file of a new group: a base file, or a log with the suffix.
func (w *world) add(data []byte, suffix string) *blob.File {
	w.n++
	name := fmt.Sprintf("f%d-0_0-1-2_20260101000000000.parquet", w.n)
	if suffix != "" {
		name = fmt.Sprintf(".f%d-0_20260101000000000%s", w.n, suffix)
	}
	f, ok := datafile.Parse(name)
	if !ok {
		w.t.Fatal(name)
	}
	at := time.Date(2026, 1, 1, 0, 0, w.n, 0, time.UTC)
	w.store.Put("p=1/"+name, data, at)
	w.files = append(w.files, blob.File{File: f, Partition: "p=1", Key: lake.Key("p=1/" + name), Size: int64(len(data)), Modified: at, Slice: f.Instant})
	return &w.files[len(w.files)-1]
}

func seq[T any](list ...T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, v := range list {
			if !yield(v, nil) {
				return
			}
		}
	}
}

// references reads all files, as "path column managed out-of-line key".
func (w *world) references(columns shape.Columns) (all, candidates []string, unread map[lake.Key]error) {
	w.t.Helper()
	unread = map[lake.Key]error{}
	w.o.Keys = true
	err := blob.References(w.t.Context(), w.o, columns, seq(w.files...), func(_ blob.File, r shape.Reference, column bool) error {
		text := fmt.Sprintf("%s %s %t %t %s", r.Path, r.Column, r.Managed, r.OutOfLine, r.RecordKey)
		if r.Pending {
			text += " pending"
		}
		all = append(all, text)
		if column && r.Managed && r.OutOfLine {
			candidates = append(candidates, r.Path)
		}
		return nil
	}, func(f blob.File, err error) error { unread[f.Key] = err; return nil })
	if err != nil {
		w.t.Fatal(err)
	}
	slices.Sort(all)
	slices.Sort(candidates)
	return all, candidates, unread
}

func refs() []Ref {
	return []Ref{
		{Key: "1", Path: "s3://media/a", Managed: true},
		{Key: "2", Path: "s3://media/b"},
		{Key: "3", Inline: true},
		{Key: "4"},
		{Key: "5", Path: "s3://media/c", Managed: true, Column: "other"},
		{Key: "6", Path: "s3://media/d", Managed: true, Column: "st.b"},
		{Key: "7", Path: "s3://media/e", Managed: true, Column: "pics"},
	}
}

func wantRefs(pic string) []string {
	return []string{
		"s3://media/a img true true 1",
		"s3://media/b img false true 2",
		"s3://media/c other true true 5",
		"s3://media/d st.b true true 6",
		"s3://media/e pics true true" + pic,
	}
}

// Every struct of a blob's shape is found, in both physical forms of base
// files and in every kind of data block.
func TestReferencesOfEveryForm(t *testing.T) {
	for name, c := range map[string]struct {
		file   func() ([]byte, string)
		pic    string
		marked bool
	}{
		"Avro writer":   {func() ([]byte, string) { return Base(t, true, refs()...), "" }, " ", true},
		"row writer":    {func() ([]byte, string) { return Base(t, false, refs()...), "" }, " ", false},
		"Avro block":    {func() ([]byte, string) { return Log(t, nil, "1", refs()...), ".log.1_0-1-2" }, " 7", true},
		"Parquet block": {func() ([]byte, string) { return ParquetLog(t, nil, "1", refs()...), ".log.1_0-1-2" }, " ", true},
		"change block":  {func() ([]byte, string) { return CDC(t, nil, "1", refs()...), ".log.1_0-1-2.cdc" }, " ", false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.add(c.file())
			got, candidates, unread := w.references(shape.Columns{"img", "pics"})
			if name == "change block" {
				if len(unread) > 0 || len(got) != 5 {
					t.Fatal(got, unread)
				}
				for i := range got {
					got[i] = strings.Replace(got[i], " before.", " ", 1)
				}
				for i, want := range wantRefs(" ") {
					if !strings.HasPrefix(got[i], want[:len(want)-2]) {
						t.Errorf("%q, want %q", got[i], want)
					}
				}
				return
			}
			if want := wantRefs(c.pic); !slices.Equal(got, want) || len(unread) > 0 {
				t.Errorf("got %q\nwant %q\n%v", got, want, unread)
			}
			want := []string{"s3://media/a", "s3://media/e"}
			if c.marked { // the file's own schema calls more columns blobs
				want = []string{"s3://media/a", "s3://media/c", "s3://media/d", "s3://media/e"}
			}
			if !slices.Equal(candidates, want) {
				t.Errorf("candidates %q, want %q", candidates, want)
			}
		})
	}
}

func TestPartialUpdatesAndDeletes(t *testing.T) {
	w := newWorld(t)
	data := Deletes(t, Partial(t, nil, "1", M("s3://media/p")), "2", "k-s3://media/q")
	w.add(Log(t, data, "9", M("s3://media/r")), ".log.1_0-1-2")
	got, _, unread := w.references(nil)
	if want := []string{"s3://media/p img true true k-s3://media/p", "s3://media/r img true true k-s3://media/r pending"}; !slices.Equal(got, want) || len(unread) > 0 {
		t.Errorf("got %q\nwant %q, %v", got, want, unread)
	}
}

// Images of changes as JSON text keep what they refer to.
func TestImagesAsText(t *testing.T) {
	w := newWorld(t)
	w.add(TextCDC(t, nil, "1", `{"reference":{"external_path":"s3://media/0"}}`, `{"id":"1","img":{"type":"OUT_OF_LINE","reference":{"external_path":"s3://media/a","managed":true}},"pics":[{"reference":{"external_path":"s3://media/b"}}]}`), ".log.1_0-1-2.cdc")
	got, candidates, unread := w.references(shape.Columns{"img"})
	if want := []string{"s3://media/0  false false ", "s3://media/a  false false ", "s3://media/b  false false "}; !slices.Equal(got, want) || len(candidates)+len(unread) > 0 {
		t.Errorf("%q %q %v", got, candidates, unread)
	}
	f := w.add(TextCDC(t, nil, "1", "", `{"id":`), ".log.1_0-1-2.cdc")
	if _, _, unread := w.references(nil); lake.KindOf(unread[f.Key]) != lake.Damaged {
		t.Errorf("%v", unread)
	}
}

// plainBlock is a log of one record with a struct of a blob's shape, which its
// schema doesn't call a blob; rest follows the record.
func plainBlock(path string, rest ...byte) []byte {
	schema := `{"type":"record","name":"r","fields":[{"name":"reference","type":{"type":"record","name":"f","fields":[{"name":"external_path","type":"string"}]}}]}`
	record := slices.Concat([]byte{byte(2 * len(path))}, []byte(path), rest)
	content := slices.Concat([]byte{0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, byte(len(record))}, record)
	return logblock.Append(nil, logblock.AvroData, map[logblock.Header]string{logblock.InstantTime: "1", logblock.Schema: schema}, content)
}

// A log whose schema calls nothing a blob keeps by shape all the same.
func TestShapesKeepWithoutAName(t *testing.T) {
	w := newWorld(t)
	w.add(plainBlock("s3://media/a"), ".log.1_0-1-2")
	if r := w.judge("s3://media/a"); r.Of("s3://media/a").Fate != blob.Referenced {
		t.Errorf("%+v, %+v", r.Of("s3://media/a"), r)
	}
}

// A union of several types is a group of members in a base file: the references
// in each keep, as they do in a log.
func TestReferencesInUnionsKeep(t *testing.T) {
	type text struct {
		Text  *string `parquet:"member0,optional"`
		Bytes []byte  `parquet:"member1,optional"`
	}
	type short struct {
		Path string `parquet:"external_path"`
	}
	type long struct {
		Path    *text `parquet:"external_path,optional"`
		Managed bool  `parquet:"managed"`
	}
	type either struct {
		Short *short `parquet:"member0,optional"`
		Long  *long  `parquet:"member1,optional"`
	}
	type column struct {
		Type      string  `parquet:"type"`
		Reference *either `parquet:"reference,optional"`
	}
	type row struct {
		Img *column `parquet:"img,optional"`
	}
	b := "s3://media/b"
	var base bytes.Buffer
	if err := parquet.Write(&base, []row{
		{&column{"OUT_OF_LINE", &either{Short: &short{"s3://media/a"}}}},
		{&column{"OUT_OF_LINE", &either{Long: &long{Path: &text{Text: &b}, Managed: true}}}},
		{&column{"OUT_OF_LINE", &either{Long: &long{Path: &text{Bytes: []byte("s3://media/c")}, Managed: true}}}},
	}); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	w.add(base.Bytes(), "")
	all, candidates, _ := w.references(shape.Columns{"img"})
	if want := []string{"s3://media/a img false true ", "s3://media/b img true true ", "s3://media/c img true true "}; !slices.Equal(all, want) {
		t.Errorf("references %q, want %q", all, want)
	}
	if want := []string{"s3://media/b", "s3://media/c"}; !slices.Equal(candidates, want) {
		t.Errorf("candidates %q, want %q", candidates, want)
	}
	for _, path := range []lake.BlobID{"s3://media/a", "s3://media/b", "s3://media/c"} {
		if got := w.judge(path).Of(path); got.Fate != blob.Referenced {
			t.Errorf("%s is %s", path, got.Fate)
		}
	}
}

// What isn't known in whole is named, never taken for empty.
func TestFilesThatCannotBeRead(t *testing.T) {
	base := Base(t, true, refs()...)
	for name, c := range map[string]struct {
		data   []byte
		suffix string
		kind   lake.Kind
	}{
		"cut Parquet":       {base[:len(base)-20], "", lake.Damaged},
		"empty Parquet":     {nil, "", lake.Damaged},
		"HFile block":       {logblock.Append(nil, logblock.HFileData, map[logblock.Header]string{logblock.InstantTime: "1"}, []byte("x")), ".log.1_0-1-2", lake.Unsupported},
		"unknown block":     {logblock.Append(nil, 77, map[logblock.Header]string{logblock.InstantTime: "1"}, nil), ".log.1_0-1-2", lake.Unsupported},
		"bad schema":        {logblock.Append(nil, logblock.AvroData, map[logblock.Header]string{logblock.InstantTime: "1", logblock.Schema: "{"}, make([]byte, 8)), ".log.1_0-1-2", lake.Damaged},
		"bytes left over":   {plainBlock("x", 0), ".log.1_0-1-2", lake.Damaged},
		"records cut short": {logblock.Append(nil, logblock.AvroData, map[logblock.Header]string{logblock.InstantTime: "1", logblock.Schema: Schema}, []byte{0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 1, 2}), ".log.1_0-1-2", lake.Damaged},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			f := w.add(c.data, c.suffix)
			_, _, unread := w.references(nil)
			if err := unread[f.Key]; lake.KindOf(err) != c.kind || !strings.Contains(err.Error(), string(f.Key)) {
				t.Errorf("%v, want kind %v", err, c.kind)
			}
		})
	}
	for _, ext := range []string{"orc", "hfile", "lance"} {
		w := newWorld(t)
		f := w.add(base, "")
		f.Ext = ext
		if _, _, unread := w.references(nil); lake.KindOf(unread[f.Key]) != lake.Unsupported || !strings.Contains(unread[f.Key].Error(), ext) {
			t.Errorf("%s: %v", ext, unread)
		}
	}
}

// Damage anywhere in a file is an error or leaves the references as they are:
// it never crashes the run. What a column's bytes say can't be checked.
func TestDamageNeverPanics(t *testing.T) {
	base, log := Base(t, true, refs()...), Log(t, nil, "1", refs()...)
	for i := 0; i < len(base); i += 23 {
		w := newWorld(t)
		data := slices.Clone(base)
		data[i] ^= 0x55
		w.add(data, "")
		w.references(nil)
	}
	for i := 0; i < len(log); i += 23 {
		w := newWorld(t)
		data := slices.Clone(log)
		data[i] ^= 0x55
		w.add(data, ".log.1_0-1-2")
		w.references(nil)
	}
}
