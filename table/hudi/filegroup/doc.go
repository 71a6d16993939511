// Package filegroup makes file groups of a partition's files, and tells what
// was committed and which files are spoken for.
//
// Words: a file group is all files of one file id in one partition; a slice is
// a base file with the logs on top of it, or logs alone.
//
// Invariants:
//
//  1. A slice is a group's only if its instant was completed, or the group was
//     replaced and no writer is at it. Others are hidden, and push no true one
//     out.
//  2. An instant before the timeline's start counts as completed only if the
//     archived timeline, where there is one, knows it; one of a pending instant
//     never does.
//  3. In version 6 a log belongs to the slice that its name says, not to the
//     one that file times suggest.
//  4. A savepoint, pending plan or replace commit that can't be read is an
//     error: it might protect anything.
//
// The package must not know policies, nor how files are listed.
//
// Source: Hudi 1.2.0, AbstractTableFileSystemView and HoodieFileGroup;
// spec/hudi-clean.md section 4.2.
package filegroup
