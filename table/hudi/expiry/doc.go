// Package expiry says what dies under a policy: which commit is the earliest
// that is retained, and what becomes of each slice of a file group.
//
// The rules are those of Hudi 1.2.0's CleanPlanner, policy by policy, with
// these careful differences, each of which only keeps more:
//
//  1. Files named by a pending compaction, log compaction or clustering stay,
//     whatever the policy and even if their group was replaced.
//  2. A slice that lacks a file never counts as one that is kept, so the one
//     before it stays.
//  3. By hours, a commit counts by when it was completed, and the earliest
//     commit to retain never passes a pending one; by commits Hudi has the
//     latter too.
//
// The package reads nothing: it must not know stores, listings, nor what a
// clean's plan is.
//
// Source: Apache Hudi 1.2.0, CleanPlanner and CleanerUtils; spec/hudi-clean.md
// sections 5.3 and 5.5.
package expiry
