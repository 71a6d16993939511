package value

import (
	"strings"
	"testing"
)

func TestSigns(t *testing.T) {
	for names, want := range map[string]string{
		"":                    "form",
		"a/b_c-d.e*f~g":       "form",
		"p%3D1/f+1":           "form",
		"a%2Bb a":             "doubt", // a space beside an escape
		"p%3D1/f%201":         "percent",
		"p=1/f+1":             "raw",
		"p=1/f%201":           "doubt",
		"100%":                "raw",
		"100%/p=a%20b":        "raw",
		"\u00e9":              "raw",
		"a%2520b":             "form", // a name that holds %20
		"p%3D1|p%3D2/a%20b|+": "percent",
	} {
		var s Signs
		for name := range strings.SplitSeq(names, "|") {
			s.Look([]byte(name))
		}
		got := "doubt"
		if e, ok := s.Encoding(); ok {
			got = e.String()
		}
		if got != want {
			t.Errorf("%q: %s, want %s", names, got, want)
		}
	}
}
