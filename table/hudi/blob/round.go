package blob

import "github.com/lakesweep/lakesweep/lake"

// Round is what a Judge found out.
type Round struct {
	Files       int64    // retained files seen
	Stages      []int64  // of those, in each stage that was begun
	Remembered  int64    // of those, taken from the ledger
	Ruled       int64    // opened, and ruled out by statistics
	Read        int64    // opened and read for their references
	Bytes       int64    // sizes of the files opened
	Skipped     int64    // not opened: every candidate was settled, or a limit was reached
	Limit       string   // the limit that ended the round early, "" for none
	Unread      []Unread // the first hundred files that couldn't be read
	UnreadFiles int64

	ballot *ballot
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

// Decided reports whether every file was read whole that had to be.
func (r *Round) Decided() bool { return r.UnreadFiles == 0 && r.Limit == "" }
