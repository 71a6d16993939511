package syntax

import "fmt"

// Fault is an error at a place of the predicate's text.
type Fault struct {
	Pos  int // bytes
	Msg  string
	Hint string
}

// Error returns the sentence alone.
func (f *Fault) Error() string { return f.Msg }

// Faultf returns the fault at a byte offset.
func Faultf(pos int, format string, args ...any) *Fault {
	return &Fault{Pos: pos, Msg: fmt.Sprintf(format, args...)}
}

// Fix adds what to write instead.
func (f *Fault) Fix(format string, args ...any) *Fault {
	f.Hint = fmt.Sprintf(format, args...)
	return f
}
