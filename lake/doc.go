// Package lake holds the nouns of lakesweep: keys, roots, objects, verdicts and
// errors. It depends on nothing else of the project and does no IO.
//
// Invariants:
//
//  1. Two paths are compared only as Keys. Root.LogPath, Root.Listed and Root.URI
//     are the only ways from a spelling to a Key.
//  2. Log paths are percent-decoded exactly once; listed names never.
//  3. A spelling in doubt yields more protected keys, never fewer, or an error.
package lake
