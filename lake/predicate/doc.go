// Package predicate reads the WHERE of a vacuum and decides which partitions
// it names, as Spark SQL would.
//
// Invariants:
//
//  1. A predicate narrows candidates and nothing else. What can't be decided
//     (a missing column, an unreadable value, an overflow) is Unknown, and an
//     Unknown candidate is kept.
//  2. MayMatch is false only where no completion of the known values matches.
//  3. What isn't evaluated exactly as Spark 3.5 evaluates it (ANSI mode off) is
//     refused by Compile, yields Unknown, or stands in docs/predicates.md.
//
// Its rooms point one way: predicate > expr > syntax > sql > calendar, with lex
// below syntax and match below expr. It knows nothing of files, listings or formats.
package predicate
