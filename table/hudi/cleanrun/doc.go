// Package cleanrun makes a planned clean an instant on a Hudi table's timeline
// and completes it, around the deletes that package reap does.
//
// Invariants:
//
//  1. The clean is requested and inflight before the first delete, its commit is
//     in the metadata table after the last one, and it is completed at the end:
//     the order of Hudi's own cleaner.
//  2. Plan and completion are written under the table's lock, at times later
//     than all on the timeline.
//  3. What came since the plan and touches a planned file makes the plan stale,
//     before anything is written and between deletes.
//  4. A clean is completed only when none of its files stands any more.
//  5. A partition that may have come to life again keeps its folder.
//
// The package must not know policies, nor delete data.
//
// Source: Apache Hudi 1.2.0, CleanPlanActionExecutor and CleanActionExecutor;
// spec/hudi-clean.md sections 6.1 and 6.7.
package cleanrun
