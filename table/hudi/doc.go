// Package hudi answers for Apache Hudi tables of versions 6, 8 and 9: what they
// are, and what their own table service "clean" would delete.
//
// The plan is that of Hudi 1.2.0's CleanPlanner, policy by policy, with these
// careful differences, each of which only keeps more:
//
//  1. Files named by a pending compaction, log compaction or clustering stay,
//     whatever the policy and even if their group was replaced.
//  2. With a metadata table, a file dies only if it is expired by the metadata
//     table's listing and by the folder's.
//  3. A slice whose instant lies before the timeline's start counts as
//     committed only if the archived timeline, where there is one, knows it;
//     one of a pending instant never does.
//  4. In version 6 a log belongs to the slice that its name says, not to the
//     one that file times suggest.
//  5. A dead partition's folder goes only if nothing else is in it.
//  6. The earliest commit to retain that a clean claims never passes a replace
//     commit whose groups it leaves behind.
//  7. By hours, a commit counts by when it was completed, and the earliest
//     commit to retain never passes a pending one; by commits Hudi has the
//     latter too.
//
// Words: a file group is all files of one file id in one partition; a slice is
// a base file with the logs on top of it, or logs alone.
//
// The package must not know how a plan is stored, guarded or carried out.
//
// Source: Apache Hudi 1.2.0; spec/hudi-clean.md.
package hudi
