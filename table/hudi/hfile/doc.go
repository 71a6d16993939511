// Package hfile reads and writes the subset of HBase's HFile version 3 that
// Hudi uses for its metadata table: sorted keys with values, in blocks, with a
// block index of one or more levels, named meta blocks and a file info map.
//
// Layout, all integers big-endian:
//
//	data blocks | meta blocks | root index | meta index | file info | trailer (4096 bytes)
//
// With several index levels, leaf and intermediate index blocks lie between the
// data blocks. A block is a header of 33 bytes, its payload, compressed as a
// whole, and checksums:
//
//	8  magic
//	4  size on disk without the header: payload and checksums
//	4  uncompressed size of the payload
//	8  offset of the previous block of the same type, -1 if none
//	1  checksum type: 0 none (the bytes are there, zero), 1 CRC-32, 2 CRC-32C
//	4  bytes per checksum
//	4  size on disk with the header, without checksums
//
// Invariants:
//
//  1. The reader uses a block's true length. Hudi's own reader takes the
//     checksums off the uncompressed length and so loses the last entries of
//     large blocks; the writer makes only blocks that it reads whole.
//  2. Index keys are bounds, not keys: HBase may write one that is no entry.
//  3. Keys ascend by bytes or, as Hudi sorts, by UTF-16 units; look-ups find an
//     entry under either order.
//
// Source: HBase reference guide, appendix "HFile format"; Hudi 1.2.0 hudi-io;
// spec/hudi-metadata-table.md section 2.
package hfile
