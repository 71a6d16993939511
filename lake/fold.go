package lake

import (
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Fold returns a form of k that is the same for all spellings which a
// case-folding or Unicode-normalising file system may take for one name. It
// serves protection only: on such stores (store.Traits.CaseFolds) an object is
// protected if its key or its folded key is.
func (k Key) Fold() Key {
	for i := range len(k) {
		if k[i] >= 0x80 {
			return Key(norm.NFC.String(cases.Fold().String(norm.NFD.String(string(k)))))
		}
	}
	return Key(strings.ToLower(string(k)))
}
