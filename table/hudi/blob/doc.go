// Package blob says which external blobs the records of a Hudi table refer to,
// and which of some candidates nothing refers to any more.
//
// The rule: a managed, out-of-line blob may die only if no retained file
// refers to it, whatever the file is: the slices that a clean leaves in the
// groups it cleans, every slice of every other group, replaced groups,
// savepointed files, the inputs and outputs of pending services, files of
// writes in flight; base and log files.
//
// Invariants:
//
//  1. Only managed references in a blob column make a candidate; every struct
//     of a blob's shape, in any column, managed or not, keeps one.
//  2. What keeps is compared by lake.BlobNames.Forms, so that a spelling in
//     doubt keeps. Fingerprints of forms may collide, which keeps too.
//  3. A file that can't be read whole decides nothing, and then no candidate
//     is Unreferenced in that round.
//  4. Only Options.Exact lets narrow bounds and Bloom filters rule a file out,
//     and one reference that disproves it leaves every candidate Undecided. A
//     filter that is in any way doubtful rules nothing out.
//  5. An index may keep a blob; it never lets one die.
//
// Words: a candidate is a blob that may have lost its last reference; a file
// votes for the blobs that it refers to.
//
// The package must not know how candidates are queued or deleted.
//
// Source: design/blob-safety.md; spec/hudi-metadata-table.md sections 5 and 6;
// spec/hudi-clean.md section 9.4.
package blob
