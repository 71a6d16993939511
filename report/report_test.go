package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
)

// Any paths come out complete and in byte order, however little memory there is.
func TestSorterEqualsSortedList(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	rapid.Check(t, func(t *rapid.T) {
		alphabet := rapid.SampledFrom([]string{"a", "b", "/", "-", "é", "\xff", "\n"})
		paths := rapid.SliceOfN(rapid.StringOfN(rapid.RuneFrom([]rune("ab/-é0")), 0, 8, -1), 0, 200).Draw(t, "paths")
		for i := range paths {
			paths[i] += alphabet.Draw(t, "tail")
		}
		s := sorter{end: 0, memory: rapid.IntRange(1, 2000).Draw(t, "memory")}
		defer s.close()
		for _, p := range paths {
			if err := s.add(p); err != nil {
				t.Fatal(err)
			}
		}
		var got bytes.Buffer
		if err := s.writeTo(&got); err != nil {
			t.Fatal(err)
		}
		slices.Sort(paths)
		want := ""
		for _, p := range paths {
			want += p + "\x00"
		}
		if diff := cmp.Diff(want, got.String()); diff != "" {
			t.Fatal(diff)
		}
	})
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("temporary files stay: %v %v", left, err)
	}
}

func rowsOf(verdicts ...lake.Verdict) iter.Seq2[lake.Verdict, error] {
	return func(yield func(lake.Verdict, error) bool) {
		for _, v := range verdicts {
			if !yield(v, nil) {
				return
			}
		}
	}
}

// broken yields n verdicts and then an error.
func broken(n int) iter.Seq2[lake.Verdict, error] {
	return func(yield func(lake.Verdict, error) bool) {
		for i := range n {
			if !yield(lake.Verdict{Key: lake.Key(fmt.Sprint("f", i)), Reason: lake.Orphan}, nil) {
				return
			}
		}
		yield(lake.Verdict{}, errors.New("the stream broke"))
	}
}

// A stream that ends early never looks like a shorter stream.
func TestBrokenRowsAreSaid(t *testing.T) {
	for format, check := range map[Format]func(string) bool{
		Paths: func(s string) bool { return s == "" },
		Text:  func(s string) bool { return !strings.Contains(s, "candidates") },
		JSONL: func(s string) bool { return !strings.Contains(s, `"summary"`) },
		JSON:  func(s string) bool { return json.Valid([]byte(s)) && strings.Contains(s, `"incomplete":true`) },
	} {
		var out bytes.Buffer
		err := New(&out, Options{Format: format}).Plan(Plan{Head: filelist.Head{Table: "/t"}, Rows: broken(3)})
		if err == nil || err.Error() != "the stream broke" {
			t.Errorf("%s: the error is %v", format, err)
		}
		if !check(out.String()) {
			t.Errorf("%s looks whole:\n%s", format, out.String())
		}
	}
}

// A list of lines can't hold a path with a line break; nothing is printed then.
func TestPathWithALineBreak(t *testing.T) {
	rows := rowsOf(lake.Verdict{Key: "a"}, lake.Verdict{Key: "b\nc"})
	var out bytes.Buffer
	err := New(&out, Options{Format: Paths}).Plan(Plan{Rows: rows})
	if lake.KindOf(err) != lake.Invalid || out.Len() > 0 {
		t.Errorf("error %v, output %q", err, out.String())
	}
	out.Reset()
	if err := New(&out, Options{Format: Paths, NUL: true}).Plan(Plan{Rows: rows}); err != nil || out.String() != "a\x00b\nc\x00" {
		t.Errorf("with NUL: error %v, output %q", err, out.String())
	}
}

// Every JSON line is an object with a message_type and the schema, and a path
// comes back byte by byte.
func TestJSONLinesHoldAnyPath(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := string(rapid.SliceOfN(rapid.Byte(), 1, 20).Draw(t, "key"))
		var out bytes.Buffer
		if err := New(&out, Options{Format: JSONL}).Plan(Plan{Rows: rowsOf(lake.Verdict{Key: lake.Key(key), Size: 1})}); err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n") {
			var row struct {
				MessageType string `json:"message_type"`
				Schema      int
				Path        *string
				PathBase64  []byte `json:"path_base64"`
			}
			if err := json.Unmarshal([]byte(line), &row); err != nil || row.MessageType == "" || row.Schema != 1 {
				t.Fatalf("%q: %v, %+v", line, err, row)
			}
			if i > 0 {
				continue
			}
			got := string(row.PathBase64)
			if row.Path != nil {
				got = *row.Path
			}
			if got != key {
				t.Fatalf("%q came back as %q", key, got)
			}
		}
	})
}

// Nothing a stored name contains can move a terminal's cursor.
func TestTextQuotesControls(t *testing.T) {
	for _, name := range []string{"a\x1b[2Jb", "a\rb", "a\x00b", "a\u202eb", "a\xffb", "a\u009bb"} {
		var out bytes.Buffer
		if err := New(&out, Options{}).Plan(Plan{Head: filelist.Head{Table: name}, Rows: rowsOf(lake.Verdict{Key: lake.Key(name)})}); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out.String(), name) {
			t.Errorf("%q is printed as it is", name)
		}
	}
	for _, name := range []string{"a b", "день=1/ü", "🙂", `a"b`} {
		if Printable(name) != name {
			t.Errorf("%q is quoted", name)
		}
	}
}

func TestLongTextIsCutAndSaysSo(t *testing.T) {
	var verdicts []lake.Verdict
	for i := range 30 {
		verdicts = append(verdicts, lake.Verdict{Key: lake.Key(fmt.Sprintf("f%02d", i)), Reason: lake.Orphan})
	}
	many := filelist.Head{Totals: filelist.Totals{Dead: 30}}
	var out bytes.Buffer
	if err := New(&out, Options{}).Plan(Plan{Head: many, Rows: rowsOf(verdicts...)}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "… and 10 more") || strings.Contains(out.String(), "f20") || !strings.Contains(out.String(), "f19") {
		t.Error(out.String())
	}
	out.Reset()
	if err := New(&out, Options{Verbose: true}).Plan(Plan{Head: many, Rows: rowsOf(verdicts...)}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "f29") || strings.Contains(out.String(), "more") {
		t.Error(out.String())
	}
}

// Partition values keep their order, NULL is null, and what isn't UTF-8 is replaced.
func TestPartitionJSON(t *testing.T) {
	p := partition{{Column: "b", Value: "x\"<"}, {Column: "a", Null: true}, {Column: "c", Value: "\xff"}}
	got, err := json.Marshal(p)
	if want := `{"b":"x\"\u003c","a":null,"c":"` + "\ufffd" + `"}`; err != nil || string(got) != want {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
}

func TestUnits(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 1536: "1.5 KiB", 1<<20 - 1: "1.0 MiB", 5 << 30: "5.0 GiB",
		1 << 62: "4096.0 PiB", -1: "?"} {
		if got := Bytes(n); got != want {
			t.Errorf("Bytes(%d) = %q, want %q", n, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 123456: "123,456", 1234567: "1,234,567", -1234: "-1,234", -999: "-999"} {
		if got := Count(n); got != want {
			t.Errorf("Count(%d) = %q, want %q", n, got, want)
		}
	}
}

// Prices: 1,000,000 objects are 1,000 list requests; 1 TiB is 1,024 GiB.
func TestCost(t *testing.T) {
	totals := filelist.Totals{ListRequests: 1000, DeleteRequests: 1000, DeadBytes: 1 << 40}
	cost, ok := PricesOf("s3").Requests(totals)
	saving, ok2 := PricesOf("s3").Saving(totals)
	if !ok || !ok2 || cost != 0.005 || saving != 0.023*1024 {
		t.Errorf("cost %v, saving %v", cost, saving)
	}
	if _, ok := PricesOf("file").Requests(totals); ok {
		t.Error("a request to a disk has a price")
	}
}

// The writer's error comes back from a run's End, and the run goes on till then.
func TestRunKeepsTheWritersError(t *testing.T) {
	r := New(failingWriter{}, Options{Format: JSONL}).Run("/t", "DELETED")
	for range 10000 {
		r.Outcome(Outcome{Key: "a", Outcome: "deleted"})
	}
	if err := r.End(RunSummary{}); !errors.Is(err, os.ErrClosed) {
		t.Errorf("the error is %v", err)
	}
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, os.ErrClosed }
