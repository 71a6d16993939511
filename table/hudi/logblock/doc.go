// Package logblock reads and writes Hudi's log files: a sequence of blocks,
// each with typed headers, a content and a length at both ends.
//
//	6  magic "#HUDI#"
//	8  length of all that follows this field
//	4  log format version, 1
//	4  block type
//	n  headers: int32 count, then {int32 key, int32 length, UTF-8} each
//	8  length of the content
//	n  content
//	n  footers, in the form of headers
//	8  distance back to the magic: the length + 6
//
// All integers are big-endian.
//
// Invariants:
//
//  1. A block whose frame is torn (a crash in an append) is yielded as Corrupt,
//     up to the next magic; the check is made on every store.
//  2. A block that is whole but unknown is an error, never skipped.
//
// Source: Hudi 1.2.0, HoodieLogFormat and the log block classes;
// spec/hudi-metadata-table.md sections 1.1 and 1.2.
package logblock
