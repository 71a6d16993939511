package value

import (
	"strings"

	"github.com/spf13/pflag"
)

// New returns a flag whose text parse reads into to. kind is the word that help
// shows for the value.
func New[T any](to *T, kind string, parse func(string) (T, error)) pflag.Value {
	return &one[T]{to: to, parse: parse, kind: kind}
}

// Default is New for a flag of which help shows text, what to is as it stands.
func Default[T any](to *T, kind, text string, parse func(string) (T, error)) pflag.Value {
	return &one[T]{to: to, parse: parse, kind: kind, text: text}
}

// Many returns a flag that can be given several times.
func Many[T any](to *[]T, kind string, parse func(string) (T, error)) pflag.Value {
	return &many[T]{to: to, parse: parse, kind: kind}
}

// Repeats reports whether a flag can be given several times.
func Repeats(v pflag.Value) bool {
	_, ok := v.(interface{ repeats() })
	return ok
}

// one is a flag of any type.
type one[T any] struct {
	to    *T
	parse func(string) (T, error)
	kind  string
	text  string
}

func (v *one[T]) Set(s string) error {
	t, err := v.parse(s)
	if err != nil {
		return err
	}
	*v.to, v.text = t, s
	return nil
}

func (v *one[T]) String() string { return v.text }
func (v *one[T]) Type() string   { return v.kind }

// many is a flag that can be given several times.
type many[T any] struct {
	to    *[]T
	parse func(string) (T, error)
	kind  string
	texts []string
}

func (v *many[T]) Set(s string) error {
	t, err := v.parse(s)
	if err != nil {
		return err
	}
	*v.to, v.texts = append(*v.to, t), append(v.texts, s)
	return nil
}

func (v *many[T]) String() string { return strings.Join(v.texts, " ") }
func (v *many[T]) Type() string   { return v.kind }

func (v *many[T]) repeats() {}
