// Package report renders what a run found and did: as text for people, as
// JSON, JSON lines, CSV and bare paths for programs. docs/json.md is the
// contract of the JSON forms.
//
// It only formats: it reads no clock, opens no file of the user's and knows
// neither stores nor formats of tables.
//
// Invariants:
//
//  1. A list of paths is complete, in byte order and unambiguous, or it is empty.
//  2. A document that had to end early says so ("incomplete": true).
//  3. Nothing a stored name contains can move a terminal's cursor.
package report
