// Package vacuum works out what is dead in a Delta table.
//
// A Run is an opened table with what a request makes of it. Prepare replays the
// log into the protected set; Plan judges the log's own candidates, a listing or
// an inventory by it, asks the guards and writes the plan. Explain and Usage
// answer from the same judgement.
//
// Invariants:
//
//  1. It reads only: a Run holds no store that can write.
//  2. All that a request can be refused for is refused before data is listed.
//  3. Whatever narrows the protected set narrows what may match as much.
//
// The package must not know how a plan is carried out, nor what Hudi is.
//
// Source: design/product.md "Modes"; spec/delta-vacuum.md.
package vacuum
