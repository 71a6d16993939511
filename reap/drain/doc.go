// Package drain deletes the external blobs of a Hudi table that have waited
// long enough in its queue and that nothing refers to any more.
//
// The order of things, each only after the one before is durable:
//
//  1. Due entries of the queue that the plan lists are looked at in their
//     store: what is gone, was modified since, is young or lies outside the
//     allowed roots is set apart.
//  2. The rest is judged against all files of the table as they are now, without a lock.
//  3. Under the table's lock, for a bounded time, the writes that were completed
//     since are judged too, what another run took off the queue or queued anew
//     is set apart, and the intent is published. A write that began meanwhile
//     sends the drain back to 2.
//  4. With the intent in place the files of the writes in flight are judged too.
//  5. Package reap deletes, on condition of the ETag of step 1 where the store
//     can, and looks between batches whether a write was completed since.
//  6. The queue is left by what the store confirmed, by what is alive and by
//     what was modified. All else stays.
//
// Killed anywhere it leaves a queue that is judged anew.
//
// Invariants:
//
//  1. Only a blob that a round calls Unreferenced is deleted, and only one that
//     the plan lists, the queue holds and an allowed root holds.
//  2. Nothing is deleted while the lock is held.
//
// Source: design/blob-safety.md, "Protocol" and holes H4, H6, H8, H10;
// docs/blobs.md.
package drain
