// Package antijoin subtracts the protected set from the candidates: it decides
// for each listed object whether it is dead, and why, or what keeps it.
//
// Invariants:
//
//  1. A doubt keeps: an object of unknown time, unknown partition or unknown
//     kind is never dead.
//  2. A result exists only after a Finish without error; dead objects below a
//     foreign table are not in it, whenever the foreign table was found.
//  3. Memory is bounded: dead rows are spilled and sorted on disk; what stays
//     in memory are the foreign roots and, on stores with directories, the
//     directories that hold no file directly. Where the protected set is too
//     large for memory (keyset.Set.Spilled), the candidates are spilled too, by
//     the shard of the set that decides about them, and judged shard by shard.
//
// It knows nothing of formats: what is hidden, which partition an object
// belongs to and why it is dead are functions that the caller passes in.
package antijoin
