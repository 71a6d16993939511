package blob

import (
	"context"
	"iter"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
)

// Options of a Judge. Reader, Names and Committed are required.
type Options struct {
	Reader store.Reader    // of the table's root
	Names  *lake.BlobNames // compares spellings
	// Committed reports whether what an instant wrote in a log block is part of the table.
	Committed func(ctx context.Context, instant string) (bool, error)
	// Writing: some write is pending on the timeline, so that a torn block may be one that is being appended.
	Writing  bool
	Workers  int   // files read at once; 0: 10
	MaxFiles int64 // files read in one round, those known from the ledger not counted; 0: no limit
	MaxBytes int64 // of those files; 0: no limit
	// Ledger remembers what files refer to; nil reads every file.
	Ledger *Ledger
	// Index may prove candidates alive before any file is read; nil if there is none that can be used.
	Index   Index
	Observe lake.Observer
}

// Index looks candidates up in the table's own indexes.
type Index interface {
	// Alive returns which of the paths the index finds in a record, with the file group of one. A path that it doesn't return may be alive all the same.
	Alive(ctx context.Context, paths []string) (map[string]Group, error)
}

// Fate is what a round found out about a candidate.
type Fate uint8

// The fates. Only an Unreferenced blob may die.
const (
	Undecided    Fate = iota // a file couldn't be read, or a limit was reached before all were
	Unreferenced             // no retained file refers to it
	Pending                  // only files of writes in flight, or blocks of theirs, refer to it
	Referenced               // a committed file refers to it
)

// Finding is the fate of one candidate, with what keeps it.
type Finding struct {
	Fate Fate
	By   lake.Key // a file that refers to it; "" for Undecided, Unreferenced, and what an index alone knew
	// Instant is the instant of that file, or the group that an index named.
	Instant string
}

// Judge finds out which candidates nothing refers to. Safe for concurrent use
// as far as its Ledger and Index are.
type Judge struct{ o Options }

// NewJudge returns a Judge.
func NewJudge(o Options) *Judge {
	if o.Workers == 0 {
		o.Workers = 10
	}
	return &Judge{o}
}

// Judge looks for the candidates in files, which must be all files that are
// retained. candidates is ranged over twice, in any order; a path may come
// several times.
//
// It stops reading as soon as every candidate is Referenced.
//
// Memory: 32 bytes a candidate, 40 bytes a file, and 16 MiB a worker. Larger
// logs are spooled to temporary files.
// Errors: those of the iterators and of the store, but for a file that can't
// be read: that is told in Round.Unread, and leaves all candidates Undecided
// that aren't Referenced.
func (j *Judge) Judge(ctx context.Context, candidates iter.Seq2[lake.BlobID, error], files iter.Seq2[File, error]) (*Round, error) {
	return nil, &lake.Error{Op: "judge blobs", Kind: lake.Unsupported}
}

// Round is what a Judge found out.
type Round struct {
	Files       int64    // retained files
	Remembered  int64    // of those, taken from the ledger
	Ruled       int64    // ruled out by statistics, once opened
	Read        int64    // read for their references
	Bytes       int64    // of the files opened
	Skipped     int64    // not opened: every candidate was settled, or a limit was reached
	Limit       string   // which limit ended the round early, "" for none
	Unread      []Unread // the first hundred files that couldn't be read
	UnreadFiles int64
}

// Unread is a file that couldn't be read, and why.
type Unread struct {
	Key lake.Key
	Err error
}

// Of returns the fate of a candidate of this round.
func (r *Round) Of(id lake.BlobID) Finding { return Finding{} }
