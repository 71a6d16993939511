package blob

import (
	"context"

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
	Keys     bool  // References reads the keys of records in base files too
	Workers  int   // files read at once; 0: 10
	MaxFiles int64 // files opened in one round, those known from the ledger not counted; 0: no limit
	MaxBytes int64 // sizes of those files; 0: no limit
	// Exact: the user vouches that every reference to an object is spelled byte for byte as its candidate. A Judge may then pass over
	// column chunks by their bounds and Bloom filters. What it reads counts in any spelling, and a reference that disproves it leaves all Undecided.
	Exact bool
	// Ledger remembers what files refer to; nil reads every file.
	Ledger *Ledger
	// Index may prove candidates alive before any file is read; nil if there is none that can be used.
	Index   Index
	Observe lake.Observer

	schemas *schemas
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

// String names a fate as output does.
func (f Fate) String() string {
	return [...]string{"undecided", "unreferenced", "pending", "referenced"}[f]
}

// Finding is the fate of one candidate, with what keeps it.
type Finding struct {
	Fate    Fate
	By      lake.Key // a file that refers to it; "" for Undecided and Unreferenced; of an index, the partition and file id
	Instant string   // of that file; "" if an index told
}
