// Package filelist reads and writes the files that stations hand to each
// other: the Parquet list of objects that plans, inventories and queues share,
// the head of a plan in its footer, and the journal of a run.
package filelist
