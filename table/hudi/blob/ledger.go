package blob

import "github.com/lakesweep/lakesweep/lake"

// Ledger remembers, in a local file, what immutable files refer to, as
// fingerprints of forms. A nil Ledger remembers nothing.
type Ledger struct {
	path string
}

// OpenLedger returns the ledger of a table in a folder of the state directory.
// Nothing is read before it is needed. names must be those of the Judge: a
// ledger made under other maps is begun anew.
func OpenLedger(dir, tableID string, root lake.Root, names *lake.BlobNames) *Ledger {
	return &Ledger{path: dir}
}
