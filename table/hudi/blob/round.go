package blob

import (
	"cmp"
	"errors"
	"fmt"
	"iter"

	"github.com/lakesweep/lakesweep/lake"
)

// Round is what a Judge found out.
type Round struct {
	Files       int64    // retained files seen
	Stages      []int64  // of those, in each stage that was begun
	Remembered  int64    // of those, taken from the ledger
	Ruled       int64    // opened, and ruled out by statistics or Bloom filters
	Read        int64    // opened and read for their references
	Bytes       int64    // sizes of the files opened
	Skipped     int64    // not opened: every candidate was settled, or a limit was reached
	Limit       string   // the limit that ended the round early, "" for none
	Unread      []Unread // the first hundred files that couldn't be read
	UnreadFiles int64
	// Misspelled tells what disproves Options.Exact, and what to do: then no candidate is Unreferenced. nil if nothing does.
	Misspelled error

	ballot     *ballot
	candidates iter.Seq2[lake.BlobID, error]
}

// Unread is a file that couldn't be read, and why.
type Unread struct {
	Key lake.Key
	Err error
}

// mostUnread bounds Round.Unread.
const mostUnread = 100

// Of returns the fate of a candidate of this round. Another blob is Undecided.
func (r *Round) Of(id lake.BlobID) Finding {
	f, known := r.ballot.of(id)
	if f.Fate == Undecided && known && r.Decided() {
		f.Fate = Unreferenced
	}
	return f
}

// Decided reports whether every file was read whole that had to be, and
// nothing disproves what was vouched for.
func (r *Round) Decided() bool { return r.UnreadFiles == 0 && r.Limit == "" && r.Misspelled == nil }

// Compare looks at a reference of a file that the round didn't look in: it may
// disprove Options.Exact. It may do so until candidates end to be there.
//
// Errors: those of the candidates.
func (r *Round) Compare(by lake.Key, id lake.BlobID) error {
	for _, v := range r.ballot.votes(string(id)) {
		if s := r.ballot.find(v.print); s.fp != 0 {
			r.ballot.compare(s, v, by)
		}
	}
	return r.compared()
}

// compared tells of a reference that spells a candidate otherwise.
func (r *Round) compared() error {
	stray := r.ballot.stray
	if stray == nil || r.Misspelled != nil {
		return nil
	}
	for id, err := range r.candidates {
		if err != nil {
			return err
		}
		for _, form := range r.ballot.names.Forms(id) {
			if r.ballot.print(form) == stray.print {
				r.Misspelled = &lake.Error{Op: "judge blobs", Kind: lake.Partial, Err: fmt.Errorf("%s spells %q otherwise, against --blob-spelling exact", cmp.Or(string(stray.by), "another candidate"), id),
					Hint: "Run with --blob-spelling any: then files are read whatever their statistics and Bloom filters say. `lakesweep explain TABLE BLOB` lists how a blob is spelled."}
				return nil
			}
		}
	}
	return &lake.Error{Op: "judge blobs", Kind: lake.Internal, Err: errors.New("the candidates changed while they were judged")}
}
