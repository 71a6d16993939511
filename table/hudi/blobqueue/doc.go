// Package blobqueue keeps what a Hudi table's clean knows of external blobs
// between its runs, in files below .hoodie/.aux/clean: the durable queue of
// blobs whose last known reference expired, the sidecars that say which blobs a
// clean let go, and the intents that say which blobs a drain is deleting. It
// answers the question of a writer before it commits: is a blob that the write
// refers to about to be deleted? And it keeps the claims of blob roots.
//
// Files, all Parquet but the last three, paths in byte order:
//
//	.hoodie/.aux/clean/pending_blob_deletes/<number>.parquet   a snapshot of the queue; the highest number is the queue
//	.hoodie/.aux/clean/pending_blob_deletes/<id>-<n>.part      earlier rows of a snapshot that names it in its footer
//	.hoodie/.aux/clean/<clean>.blob_deletes.parquet            sidecar of a clean: required binary external_path (STRING)
//	.hoodie/.aux/clean/<time>.blob_drain.parquet               intent of a drain, in the same form
//	.hoodie/.aux/clean/<time>_<end>.blob_drain                 empty: that drain has ended
//	.hoodie/.aux/clean/quarantines/<plan>.<hash>.json          slices lie in a quarantine of that plan: no blob dies
//	<blob root>/.lakesweep-claim.json                          the tables that delete below a blob root
//
// Invariants:
//
//  1. A snapshot is never changed: the next one is created, if there is none of
//     its number. Two writers of the queue can't lose each other's entries.
//  2. The queue is a memory, not an authority: a blob dies only by a judgement
//     of the moment. A lost entry leaves garbage, a stale one costs a look.
//  3. What can't be read whole is an error. A writer's check that can't read
//     everything that counts says no.
//
// Source: RFC-100 part 2 (sidecar); apache/hudi, rfc-100-blob-cleaner-design-v2.md
// (queue); docs/blobs.md.
package blobqueue
