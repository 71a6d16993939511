// Package folder lists the partitions of a Hudi table: the files in each as
// its folder shows them, and as the metadata table lists them.
//
// Invariants:
//
//  1. With a metadata table a file is part of the table only if both list it:
//     what the folder has alone is unlisted, what the table has alone missing.
//  2. What is no base or log file by its name is foreign, and another table's
//     root makes its whole folder foreign.
//  3. A path that could lead out of the table is an error, wherever it comes
//     from.
//
// The package must not know which files are needed: it reads neither the
// timeline nor any plan.
//
// Source: Hudi 1.2.0, FileSystemBackedTableMetadata; spec/hudi-clean.md
// section 4.1.
package folder
