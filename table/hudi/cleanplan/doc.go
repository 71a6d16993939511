// Package cleanplan works out what a clean of a Hudi table would delete, which
// commit it would claim as the earliest that is retained, and what a plan
// document has to remember of it. It writes nothing.
//
// The plan is that of Hudi 1.2.0's CleanPlanner, with these careful
// differences, each of which only keeps more; filegroup and expiry have others:
//
//  1. With a metadata table, a file dies only if it is expired by the metadata
//     table's listing and by the folder's.
//  2. A dead partition's folder goes only if nothing else is in it.
//  3. The earliest commit to retain that a clean claims never passes a replace
//     commit whose groups it leaves behind.
//  4. While a restore, or the rollback of a complete write, is pending, nothing
//     is planned.
//  5. A clean that is pending is finished before a new one is planned, and only
//     if nothing came to need its files.
//
// The package must not know how a plan is stored, guarded or carried out.
//
// Source: Apache Hudi 1.2.0, CleanPlanner; spec/hudi-clean.md sections 5, 6.3
// and 10.
package cleanplan
