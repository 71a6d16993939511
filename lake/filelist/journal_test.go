package filelist_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
)

var at = time.Date(2026, 1, 10, 12, 0, 0, 5, time.UTC)

func journalHead() filelist.JournalHead {
	return filelist.JournalHead{PlanID: "p1", Table: "s3://b/t", Format: "delta", Tool: "lakesweep v0", Created: at}
}

func records() []filelist.Record {
	return []filelist.Record{
		{Type: filelist.RecordIntent, At: at, Key: "a/b", Size: 5, Reason: lake.Orphan},
		{Type: filelist.RecordIntent, At: at, Key: "c\xff\n\"", Size: -1, Reason: lake.Tombstone},
		{Type: filelist.RecordOutcome, At: at, Key: "a/b", Size: 5, Reason: lake.Orphan, Outcome: filelist.Deleted},
		{Type: filelist.RecordOutcome, At: at, Key: "c\xff\n\"", Size: -1, Reason: lake.Tombstone, Outcome: filelist.Failed, Error: "access denied"},
		{Type: filelist.RecordOutcome, At: at, Key: "d", Directory: true, Size: -1, Reason: lake.EmptyDirectory, Outcome: filelist.Gone},
		{Type: filelist.RecordOutcome, At: at, URI: "s3://b/blob", Size: 0, Reason: lake.ExpiredBlob, Outcome: filelist.Spared},
		{Type: filelist.RecordOutcome, At: at, Key: ".b.crc", Checksum: true, Size: 8, Reason: lake.Orphan, Outcome: filelist.Quarantined},
	}
}

func readAll(t testing.TB, log filelist.Log) ([]filelist.Record, error) {
	t.Helper()
	j, err := filelist.ReadJournal(context.Background(), log)
	if err != nil {
		return nil, err
	}
	var all []filelist.Record
	for r, err := range j.Records(context.Background()) {
		if err != nil {
			return all, err
		}
		all = append(all, r)
	}
	return all, nil
}

func fileLog(t testing.TB) (*filelist.FileLog, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.jsonl")
	log := filelist.NewFileLog(path)
	t.Cleanup(func() {
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	})
	return log, path
}

func TestAJournalComesBackAsItWasWritten(t *testing.T) {
	log, path := fileLog(t)
	j, err := filelist.OpenJournal(t.Context(), log, journalHead())
	if err != nil || j.Resumed() {
		t.Fatal(j, err)
	}
	for _, r := range records() {
		if err := j.Append(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	got, err := readAll(t, log)
	if diff := cmp.Diff(records(), got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	again, err := filelist.OpenJournal(t.Context(), filelist.NewFileLog(path), journalHead())
	if err != nil || !again.Resumed() || again.Head() != j.Head() {
		t.Errorf("%+v, %v", again, err)
	}
	for _, other := range []func(*filelist.JournalHead){
		func(h *filelist.JournalHead) { h.PlanID = "p2" }, func(h *filelist.JournalHead) { h.Table = "s3://b/u" }, func(h *filelist.JournalHead) { h.Quarantine = "s3://b/q" },
	} {
		h := journalHead()
		other(&h)
		if _, err := filelist.OpenJournal(t.Context(), filelist.NewFileLog(path), h); lake.KindOf(err) != lake.Invalid || err == nil {
			t.Errorf("%+v: %v", h, err)
		}
	}
}

// A run may be killed at any byte of what it writes.
func TestATornJournalGoesOnFromItsLastWholeLine(t *testing.T) {
	log, path := fileLog(t)
	j, err := filelist.OpenJournal(t.Context(), log, journalHead())
	if err == nil {
		err = j.Append(t.Context(), records()...)
	}
	if err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for n := range len(whole) + 1 {
		if n%17 != 0 && !bytes.Contains(whole[max(n-2, 0):min(n+1, len(whole))], []byte("\n")) {
			continue // the cuts that matter lie around the ends of lines
		}
		path := filepath.Join(dir, "torn.jsonl")
		if err := os.WriteFile(path, whole[:n], 0o644); err != nil {
			t.Fatal(err)
		}
		lines := bytes.Count(whole[:n], []byte("\n"))
		log := filelist.NewFileLog(path)
		got, err := readAll(t, log)
		if lines == 0 {
			if !errors.Is(err, fs.ErrNotExist) {
				t.Fatalf("cut at %d: %v", n, err)
			}
		} else if err != nil || !slices.Equal(got, records()[:lines-1]) {
			t.Fatalf("cut at %d: %v, %d records", n, err, len(got))
		}
		j, err := filelist.OpenJournal(t.Context(), log, journalHead())
		if err != nil || j.Resumed() != (lines > 0) {
			t.Fatalf("cut at %d: %v", n, err)
		}
		more := records()[0]
		if err := j.Append(t.Context(), more); err != nil {
			t.Fatal(err)
		}
		if got, err = readAll(t, log); err != nil || len(got) != max(lines, 1) || got[len(got)-1] != more {
			t.Fatalf("cut at %d and gone on: %v, %d records", n, err, len(got))
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWhatIsNoJournal(t *testing.T) {
	head := `{"type":"head","schema":1,"plan_id":"p1","table":"s3://b/t","created":"2026-01-10T12:00:00Z"}` + "\n"
	for rule, text := range map[string]string{
		"no JSON":              "hello\n",
		"JSON of another kind": `{"type":"intent"}` + "\n",
		"a head without plan":  `{"type":"head","schema":1}` + "\n",
		"a broken line":        head + "{\n" + `{"type":"intent","at":"2026-01-10T12:00:00Z","path":"a"}` + "\n",
		"an unknown record":    head + `{"type":"other","at":"2026-01-10T12:00:00Z","path":"a"}` + "\n",
		"a record of nothing":  head + `{"type":"intent","at":"2026-01-10T12:00:00Z"}` + "\n",
		"a record of two":      head + `{"type":"intent","at":"2026-01-10T12:00:00Z","path":"a","uri":"s3://b/a"}` + "\n",
		"an outcome of none":   head + `{"type":"outcome","at":"2026-01-10T12:00:00Z","path":"a"}` + "\n",
		"a record of year -1":  head + `{"type":"intent","at":"0000-01-01T00:00:00+01:00","path":"a"}` + "\n",
		"one of year 10000":    head + `{"type":"intent","at":"9999-12-31T23:59:59-01:00","path":"a"}` + "\n",
		"an endless line":      head + strings.Repeat("a", 3<<20),
	} {
		_, path := fileLog(t)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := readAll(t, filelist.NewFileLog(path)); lake.KindOf(err) != lake.Damaged || err == nil {
			t.Errorf("%s: %v", rule, err)
		}
		if _, err := filelist.OpenJournal(t.Context(), filelist.NewFileLog(path), journalHead()); rule == "no JSON" && lake.KindOf(err) != lake.Damaged {
			t.Errorf("%s: opened: %v", rule, err)
		}
	}
	_, path := fileLog(t)
	if err := os.WriteFile(path, []byte(strings.Replace(head, `"schema":1`, `"schema":2`, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := readAll(t, filelist.NewFileLog(path)); lake.KindOf(err) != lake.Unsupported {
		t.Errorf("schema 2: %v", err)
	}
}

func TestNothingFollowsAFailedAppend(t *testing.T) {
	log := &failingLog{}
	j, err := filelist.OpenJournal(t.Context(), log, journalHead())
	if err != nil {
		t.Fatal(err)
	}
	log.err = errors.New("disk full")
	for range 2 {
		if err := j.Append(t.Context(), records()[0]); !errors.Is(err, log.err) {
			t.Error(err)
		}
	}
	if log.appends != 2 { // the head, and the one that failed
		t.Errorf("%d appends", log.appends)
	}
}

type failingLog struct {
	err     error
	appends int
}

func (l *failingLog) Append(context.Context, []byte) error { l.appends++; return l.err }
func (l *failingLog) Read(_ context.Context, yield func([]byte, error) bool) {
	yield(nil, fs.ErrNotExist)
}
func (l *failingLog) Place() string { return "nowhere" }

func TestAppendsOfManyWorkersDontMix(t *testing.T) {
	log, _ := fileLog(t)
	j, err := filelist.OpenJournal(t.Context(), log, journalHead())
	if err != nil {
		t.Fatal(err)
	}
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for range 20 {
				if err := j.Append(t.Context(), records()...); err != nil {
					t.Error(err)
				}
			}
		})
	}
	workers.Wait()
	if got, err := readAll(t, log); err != nil || len(got) != 4*20*len(records()) {
		t.Errorf("%d records, %v", len(got), err)
	}
}

func TestVanishedIsWhatLeftSinceAndDidNotComeBack(t *testing.T) {
	log, _ := fileLog(t)
	j, err := filelist.OpenJournal(t.Context(), log, journalHead())
	if err != nil {
		t.Fatal(err)
	}
	outcome := func(k lake.Key, what string, after time.Duration) {
		if err := j.Append(t.Context(), filelist.Record{Type: filelist.RecordOutcome, At: at.Add(after), Key: k, Size: -1, Outcome: what}); err != nil {
			t.Fatal(err)
		}
	}
	outcome("before", filelist.Deleted, -1)
	outcome("deleted", filelist.Deleted, 0)
	outcome("gone", filelist.Gone, 1)
	outcome("moved", filelist.Quarantined, 1)
	outcome("back", filelist.Quarantined, 1)
	outcome("spared", filelist.Spared, 1)
	outcome("failed", filelist.Failed, 1)
	outcome("back", filelist.Restored, 2)
	r, err := j.Records(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	set, err := r.Vanished(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range map[lake.Key]bool{"before": false, "deleted": true, "gone": true, "moved": true, "back": false, "spared": false, "failed": false} {
		if set.Has(k) != want {
			t.Errorf("%s vanished: %v", k, !want)
		}
	}
}

// bytesLog is a log in memory, read in pieces of step bytes.
type bytesLog struct {
	data []byte
	step int
}

func (l *bytesLog) Append(_ context.Context, lines []byte) error {
	l.data = append(l.data, lines...)
	return nil
}

func (l *bytesLog) Place() string { return "memory" }

func (l *bytesLog) Read(_ context.Context, yield func([]byte, error) bool) {
	if len(l.data) == 0 {
		yield(nil, fs.ErrNotExist)
	}
	for data := l.data; len(data) > 0; {
		n := min(l.step, len(data))
		if !yield(data[:n], nil) {
			return
		}
		data = data[n:]
	}
}

func FuzzJournal(f *testing.F) {
	log := &bytesLog{step: 1}
	j, err := filelist.OpenJournal(f.Context(), log, journalHead())
	if err == nil {
		err = j.Append(f.Context(), records()...)
	}
	if err != nil {
		f.Fatal(err)
	}
	whole := log.data
	f.Add(whole, 7)
	f.Add(whole[:len(whole)-9], 1000)
	f.Add([]byte("{}\n\n"), 1)
	f.Fuzz(func(t *testing.T, data []byte, step int) {
		all, err := readAll(t, &bytesLog{data, min(max(step, 1), 1<<16)})
		whole, wholeErr := readAll(t, &bytesLog{data, max(len(data), 1)})
		if (err == nil) != (wholeErr == nil) || cmp.Diff(all, whole) != "" {
			t.Fatalf("pieces change the journal: %v, %v", err, wholeErr)
		}
		if err != nil {
			if k := lake.KindOf(err); k != lake.Damaged && k != lake.Unsupported && k != lake.Invalid {
				t.Fatalf("%v of kind %v", err, k)
			}
			return
		}
		// What was read is written and read back the same.
		log := &bytesLog{step: 4096}
		j, err := filelist.OpenJournal(t.Context(), log, journalHead())
		if err == nil {
			err = j.Append(t.Context(), all...)
		}
		if err != nil {
			t.Fatal(err)
		}
		if again, err := readAll(t, log); err != nil || cmp.Diff(all, again) != "" {
			t.Fatalf("%v: %s", err, cmp.Diff(all, again))
		}
	})
}
