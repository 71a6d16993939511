// Package hudi answers for Apache Hudi tables of versions 6, 8 and 9: what they
// are, what their own table service "clean" would delete, and where their
// records refer to external blobs. It is the front of what stands below it:
//
//	retain      what a clean is to retain
//	snapshot    a table as it was when opened, made of
//	  folder    the files of each partition, as listed, and
//	  filegroup their groups and slices, what was committed, what is spoken for
//	expiry      which slices die under a policy
//	cleanplan   what a clean would delete and claim
//	cleandoc    what stands written of a clean
//	cleanrun    a planned clean on the timeline
//
// Plans are those of Hudi 1.2.0's CleanPlanner but for careful differences, each
// of which only keeps more. docs/hudi.md lists them, and the packages that make
// them do: filegroup, expiry and cleanplan.
//
// The package must not know how a plan is stored or guarded.
//
// Source: Apache Hudi 1.2.0; spec/hudi-clean.md.
package hudi
