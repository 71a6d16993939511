package store

import "unicode/utf8"

// ValidPrefix returns s up to its first byte that isn't UTF-8. All UTF-8 names
// that begin with s, or come after it in byte order, do so with that too. It is
// for stores whose names are UTF-8.
func ValidPrefix(s string) string {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			return s[:i]
		}
		i += n
	}
	return s
}
