// Package cleandoc is what stands written of a clean of a Hudi table: the state
// that a plan document carries from planning to carrying out, the plan of a
// clean that is pending on the timeline, and what the last one said.
//
// Invariants:
//
//  1. A state says which instants were there when the plan was made, so that
//     what came since is seen.
//  2. A plan that names what is no base or log file in a partition of this very
//     table is refused, under whatever name the table was known.
//  3. What can't be read is an error, but for a plan without bytes, which a
//     crash left and which counts as none.
//
// The package must not know policies, nor how a clean is carried out.
//
// Source: spec/hudi-clean.md sections 6.1 and 6.3.
package cleandoc
