// Package checkpoint reads checkpoints of all kinds (one Parquet file, several,
// V2 in Parquet or JSON with sidecars) into actions. Of Parquet files only the
// columns that matter are read, and their rows are worked on by all processors,
// however few row groups there are.
//
// Invariant: a checkpoint is read to its end or there is an error. One that is
// damaged, or lacks a part, is corrupt (logfault.IsCorrupt).
//
// Sources: Delta PROTOCOL.md "Checkpoints"; spec/delta-vacuum.md 1.3.
package checkpoint
