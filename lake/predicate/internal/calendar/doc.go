// Package calendar counts days and clocks, and reads and writes them, as Spark
// 3.5 does.
//
// A day is its number since 1970-01-01 in the proleptic Gregorian calendar. An
// instant is microseconds since then; a wall clock is the same, of what the
// clock shows, read as UTC.
//
// Invariants:
//
//  1. What Spark reads differently from release to release, or by the day of the
//     query, is refused.
//  2. A bound (Begins) holds every day that may be meant.
//
// It knows no types, no NULL and no expressions.
package calendar
