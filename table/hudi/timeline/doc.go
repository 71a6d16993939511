// Package timeline reads what a Hudi table says about itself: hoodie.properties,
// the active timeline in both layouts, the archived timeline as far as a clean
// needs it, and the plans and metadata that instants hold. It encodes the three
// files of a clean and the commit metadata of the metadata table.
//
// Words: layout 1 (table versions up to 6) keeps instants in .hoodie and writes
// commit metadata as JSON; layout 2 (versions 8 and 9) keeps them in
// .hoodie/timeline, with the completion time in the name and Avro throughout.
//
// Invariants:
//
//  1. A name outside the grammar is ignored, one inside it never.
//  2. Instants are one per requested time and comparable action, in the highest
//     state seen.
//  3. What can't be read whole is an error; an empty completed commit is empty
//     metadata, as Hudi has it.
//
// Source: Hudi 1.2.0; spec/hudi-clean.md sections 1 to 3.
package timeline
