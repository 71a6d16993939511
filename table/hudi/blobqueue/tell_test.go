package blobqueue

import (
	"context"
	"fmt"
	"iter"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lakesweep/lakesweep/store/mem"
)

// Figures are handed to one clean, again if it asks again, and to another only
// if it is known that the first never told them. What waits in the queue stays.
func TestFiguresAreHandedToOneClean(t *testing.T) {
	s := mem.New(mem.Options{})
	q := New(s, s, ids(), Tuning{PartRows: 3})
	var want []Entry
	for i := range 8 {
		want = append(want, entry(fmt.Sprintf("s3://b/%d", i), i))
	}
	drained := func(entries ...Entry) {
		t.Helper()
		if _, err := q.Update(t.Context(), epoch(), func(old *Snapshot) (iter.Seq2[Entry, error], Stats, error) {
			return Merge(old.Entries(context.Background()), sequence(entries...)), Stats{Deleted: 1, Bytes: 10, Failed: []string{"f"}}, nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	tell := func(clean string, untold bool, deleted int64) {
		t.Helper()
		got, err := q.Tell(t.Context(), epoch(), clean, func(string) (bool, error) { return untold, nil })
		if err != nil || got.Deleted != deleted || got.Bytes != 10*deleted || int64(len(got.Failed)) != deleted {
			t.Errorf("clean %s tells %+v, %v; want %d deleted", clean, got, err, deleted)
		}
		snap, err := New(s, nil, nil, Tuning{}).Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, collect(t, snap.Entries(t.Context()))); diff != "" {
			t.Error(diff)
		}
	}
	if got, err := q.Tell(t.Context(), epoch(), "c0", nil); err != nil || !got.IsZero() || len(s.Names()) > 0 {
		t.Errorf("an empty queue tells %+v, %v", got, err)
	}
	drained(want...)
	tell("c1", false, 1)
	tell("c1", false, 1) // of the run that goes on with it
	tell("c2", false, 0) // it may have told them
	drained()
	tell("c2", false, 1)
	drained()
	tell("c2", false, 2) // it was pending all the while
	drained()
	tell("c3", true, 3)
	before := len(s.Names())
	tell("c4", false, 0)
	if len(s.Names()) != before {
		t.Error("nothing to tell, and yet a snapshot was written")
	}
}
