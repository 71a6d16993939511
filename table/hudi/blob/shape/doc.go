// Package shape knows a blob by its shape: which columns of an Avro schema
// refer to external blobs, and what a record of it refers to.
//
// A blob is the struct type, data, reference{external_path, offset, length,
// managed}. A schema of Hudi 1.2 or later marks it with the logical type
// "blob"; older ones have the struct alone.
//
// Invariants:
//
//  1. A struct with reference.external_path of text has a blob's shape, in any
//     column, whatever else it holds: what has the shape keeps blobs, what is
//     marked or named besides makes candidates.
//  2. Bytes that don't fit the schema are Damaged, never fewer references.
//
// The package must not know files, tables or what becomes of a reference.
//
// Source: spec/hudi-metadata-table.md section 5; Apache Avro 1.11, binary and
// JSON encoding.
package shape
