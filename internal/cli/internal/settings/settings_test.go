package settings

import (
	"strings"
	"testing"
)

// FuzzSettings: a settings file is read or refused, and never read in part.
func FuzzSettings(f *testing.F) {
	f.Add("mode = full\n# x\n\nyes=true\n")
	f.Add("mode")
	f.Add("keep-version = 1\nkeep-version = 2")
	known := map[string]bool{"mode": false, "yes": false, "keep-version": true}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := parse(strings.NewReader(text), "f", known)
		if err != nil {
			return
		}
		n := 0
		for flag, values := range s {
			if _, ok := known[flag]; !ok {
				t.Errorf("%q was taken for a flag", flag)
			}
			n += len(values)
		}
		lines := 0
		for line := range strings.Lines(text) {
			if l := strings.TrimSpace(line); l != "" && !strings.HasPrefix(l, "#") {
				lines++
			}
		}
		if n != lines {
			t.Errorf("%d values of %d lines in %q", n, lines, text)
		}
	})
}
