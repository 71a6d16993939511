package timeline

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/mem"
)

// The look at a commit's schema says what reading all of it does, of whole
// files and of files cut anywhere; what the store can't read is no damage.
func TestTheSchemaOfACommit(t *testing.T) {
	at := Instant{Time: "20260301000000000", Action: Commit, State: Completed}
	at.Files[Completed] = "c.commit"
	for _, layout := range []Layout{Layout1, Layout2} {
		for _, extra := range []map[string]string{{"schema": `{"type":"record"}`, "a": "b"}, {"a": "b"}, nil} {
			c := LogCommit{Stats: map[string][]LogStat{"p": {{FileID: "f", Path: "p/f"}, {FileID: "g"}}}, Extra: extra}
			data, err := c.Encode(layout)
			if err != nil {
				t.Fatal(err)
			}
			for cut := range len(data) + 1 {
				s := mem.New(mem.Options{})
				s.Put("d/c.commit", data[:cut], time.Time{})
				got, err := (&Timeline{Dir: "d", reader: s}).Schema(t.Context(), at)
				m, want := DecodeCommit(data[:cut])
				if (err == nil) != (want == nil) || err == nil && got != m.Schema() || err != nil && (got != "" || lake.KindOf(err) != lake.Damaged) {
					t.Fatalf("layout %d, %d of %d bytes: %q, %v; read whole: %q, %v", layout, cut, len(data), got, err, m.Schema(), want)
				}
			}
			s := mem.New(mem.Options{})
			s.Put("d/c.commit", data, time.Time{})
			for _, when := range []store.Moment{store.Before, store.Half} {
				fault := errors.New("a fault")
				faulty := store.NewFaults(store.FailNth(1, store.Injection{Err: fault, When: when})).Wrap(s)
				if _, err := (&Timeline{Dir: "d", reader: faulty}).Schema(t.Context(), at); !errors.Is(err, fault) || lake.KindOf(err) == lake.Damaged {
					t.Errorf("%s: %v", fmt.Sprint("a fault at ", when), err)
				}
			}
		}
	}
	if _, err := (&Timeline{Dir: "d", reader: mem.New(mem.Options{})}).Schema(t.Context(), Instant{}); lake.KindOf(err) != lake.Damaged {
		t.Errorf("an instant without a file: %v", err)
	}
}
