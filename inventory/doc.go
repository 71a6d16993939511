// Package inventory reads lists of objects that were made elsewhere, one
// reader a format, and says which of their rows lie below a table's root. It
// also writes such lists.
//
// A list is a hint: it proposes candidates, the log and a fresh look at each
// object decide (spec/delta-vacuum.md 5 and trap 19).
//
// Invariants:
//
//  1. A list is read whole or not at all: a part that is missing, cut or
//     differs from what its manifest says ends the scan with an error.
//  2. Names are decoded only where the format says that it encodes them.
//  3. A row in doubt (no canonical name, a version that isn't the latest, a
//     name that can't be decoded) is left out and counted.
//  4. A time before 2001 or after now is no time.
//
// Its rooms point one way: the front opens and scans lists by what catalog (which
// files hold the rows) and decode (their forms) say; both hand rows to rowset, and
// know files by part. columns, value and csv read texts; resolve places the rows
// below tables; output writes lists.
//
// It doesn't know which rows are protected or hidden, nor how old is old enough.
package inventory
