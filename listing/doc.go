// Package listing yields every object of a place, in parallel, each exactly
// once, or an error that names the part that couldn't be read.
//
// Two engines do it, chosen by what the store can do. Where a flat listing can
// start anywhere, the key space is cut into ranges, and a worker that has
// nothing to do takes over a part of a range that another one is listing.
// Elsewhere directories are listed one by one and fan out.
//
// Invariants:
//
//  1. The ranges tile the bounds: whatever is split, resumed or handed over,
//     no key lies in two ranges and none in no range.
//  2. A page is believed only if its keys rise strictly and the first one lies
//     after the key it was asked to start after. A range is closed only by a key
//     at or after its end or by the end of the store's listing.
//  3. Walk returns nil only if every range is closed and they tile the bounds.
//  4. No goroutine outlives Walk.
//
// The package knows nothing of tables: which names are hidden, foreign or of no
// interest is the caller's to say (Options.Enter, Options.Within).
package listing
