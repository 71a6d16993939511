package reap_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/reap"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/mem"
)

func content(t *testing.T, l *reap.SegmentLog) (string, error) {
	t.Helper()
	var all bytes.Buffer
	var failure error
	l.Read(t.Context(), func(piece []byte, err error) bool {
		all.Write(piece)
		failure = err
		return true
	})
	return all.String(), failure
}

func TestSegmentsReadBackInOrder(t *testing.T) {
	traits := mem.Default()
	traits.PageSize = 3
	s := mem.New(mem.Options{Traits: traits})
	for _, name := range []string{"run.jsonl", "run.jsonl.00000001.tmp", "run.jsonl.x0000001", "run.jsonl.0000001", "run.jsonl2.00000001"} {
		s.Put(name, []byte("not a segment\n"), now)
	}
	log := reap.NewSegmentLog(s, "run.jsonl", "mem:///run.jsonl")
	if _, err := content(t, log); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an empty log: %v", err)
	}
	want := ""
	for i := range 12 {
		if i == 6 {
			log = reap.NewSegmentLog(s, "run.jsonl", "mem:///run.jsonl") // another process goes on
		}
		line := fmt.Sprintf("line %d\n", i)
		want += line
		if err := log.Append(t.Context(), []byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := content(t, log); got != want || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if err := s.Remove(t.Context(), "run.jsonl.00000005", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := content(t, log); lake.KindOf(err) != lake.Damaged {
		t.Errorf("a missing segment: %v", err)
	}
}

// Where a file is created before it is written, as on HDFS, a writer that dies
// may leave a segment empty, and a reader may find one that is being written so.
func TestAnEmptySegmentHoldsNothing(t *testing.T) {
	s := mem.New(mem.Options{})
	first := reap.NewSegmentLog(s, "run", "mem:///run")
	if err := first.Append(t.Context(), []byte("a\n")); err != nil {
		t.Fatal(err)
	}
	s.Put("run.00000002", nil, now)
	if err := first.Append(t.Context(), []byte("lost\n")); lake.KindOf(err) != lake.Locked {
		t.Errorf("over another's segment: %v", err)
	}
	if got, err := content(t, first); got != "a\n" || err != nil {
		t.Errorf("while it is written: %q, %v", got, err)
	}
	next := reap.NewSegmentLog(s, "run", "mem:///run")
	if err := next.Append(t.Context(), []byte("b\n")); err != nil {
		t.Fatal(err)
	}
	if got, err := content(t, next); got != "a\nb\n" || err != nil {
		t.Errorf("after it: %q, %v", got, err)
	}
}

func TestTwoProcessesCantShareAJournal(t *testing.T) {
	s := mem.New(mem.Options{})
	a, b := reap.NewSegmentLog(s, "j/run", "mem:///j/run"), reap.NewSegmentLog(s, "j/run", "mem:///j/run")
	for _, l := range []*reap.SegmentLog{a, b} {
		if err := l.Append(t.Context(), []byte("head\n")); err != nil && l == a {
			t.Fatal(err)
		}
	}
	if err := a.Append(t.Context(), []byte("a\n")); err != nil && lake.KindOf(err) != lake.Locked {
		t.Fatal(err)
	}
	err := b.Append(t.Context(), []byte("b\n"))
	if errA := a.Append(t.Context(), []byte("a2\n")); lake.KindOf(err) != lake.Locked && lake.KindOf(errA) != lake.Locked {
		t.Errorf("both wrote: %v, %v", err, errA)
	}
}

func TestARepeatedRequestMeetsItsOwnSegment(t *testing.T) {
	s := mem.New(mem.Options{})
	log := reap.NewSegmentLog(lossy{s}, "run", "mem:///run")
	for _, line := range []string{"a\n", "b\n"} {
		if err := log.Append(t.Context(), []byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := content(t, log); got != "a\nb\n" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

// lossy repeats each put whose answer was lost, as a retrying client does.
type lossy struct{ store.Store }

func (l lossy) PutIfAbsent(ctx context.Context, name string, data []byte) error {
	if err := l.Store.PutIfAbsent(ctx, name, data); err != nil {
		return err
	}
	return l.Store.PutIfAbsent(ctx, name, data)
}
