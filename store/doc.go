// Package store is object storage as lakesweep needs it: small interfaces,
// the wrappers that add behaviour to them, and one folder for each store.
//
// Power is a type. A plan gets a Reader, which ReadOnly makes of a Store and
// from which no assertion brings back a writing method. A MetaWriter is
// confined to one folder of one table. A Deleter belongs to package reap.
//
// Names are relative to the place at which a store was opened (a table's root,
// or another prefix), as the store spells them, with '/' between components.
// They are bytes, never percent-encoded, and never lead out of that place.
//
// Errors: io/fs's sentinels say what a caller can act on: fs.ErrNotExist,
// fs.ErrExist (PutIfAbsent), fs.ErrPermission; besides ErrChanged,
// ErrThrottled, ErrTruncated and ErrUnsupported of this package. All others
// are final once the retry wrapper has given up.
package store
