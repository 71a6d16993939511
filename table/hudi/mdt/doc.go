// Package mdt reads and writes a Hudi table's metadata table: itself a
// merge-on-read table in .hoodie/metadata, with HFiles for base files. Of its
// partitions it reads "files", which says what files each data partition has,
// and the record index and secondary indexes, which find a value's records.
//
// Invariants:
//
//  1. A block counts only if its instant is part of the data table (blocks of a
//     commit in flight are invisible).
//  2. Every record is decoded by the schema of its own block or file.
//  3. The listing is believed only after Trust; a doubt is an error by name.
//
// Source: Hudi 1.2.0, HoodieBackedTableMetadata and HoodieTableMetadataUtil;
// spec/hudi-metadata-table.md sections 1, 3 and 4.
package mdt
