package store

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lakesweep/lakesweep/lake"
)

// A Setting is an option of a store, whose options are an O, that can be given
// as text.
type Setting[O any] struct {
	Name string // "role-arn"
	Help string
	Set  func(*O, string) error
}

// Text is a setting that is a text, one of allowed if there are any.
func Text[O any](name, help string, field func(*O) *string, allowed ...string) Setting[O] {
	return Setting[O]{name, help, func(o *O, v string) error {
		if len(allowed) > 0 && !slices.Contains(allowed, v) {
			return fmt.Errorf("%q is none of %s", v, strings.Join(allowed, ", "))
		}
		*field(o) = v
		return nil
	}}
}

// Switch is a setting that is true or false.
func Switch[O any](name, help string, field func(*O) *bool) Setting[O] {
	return Setting[O]{name, help, func(o *O, v string) (err error) {
		*field(o), err = strconv.ParseBool(v)
		return err
	}}
}

// FromEnv reads settings by lookup, such as os.LookupEnv: "role-arn" from
// prefix + "ROLE_ARN".
//
// Errors: Invalid, naming the variable.
func FromEnv[O any](prefix string, all []Setting[O], lookup func(string) (string, bool)) (O, error) {
	var o O
	for _, s := range all {
		name := prefix + strings.ToUpper(strings.ReplaceAll(s.Name, "-", "_"))
		v, ok := lookup(name)
		if !ok {
			continue
		}
		if err := s.Set(&o, v); err != nil {
			var zero O
			return zero, &lake.Error{Op: "read settings", Kind: lake.Invalid, Err: fmt.Errorf("%s: %w", name, err), Hint: s.Help}
		}
	}
	return o, nil
}
