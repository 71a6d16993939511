package cli

import (
	"strings"
	"testing"
)

// What verify advises fits what it found: files are to be restored only if some
// are missing or of another size.
func TestVerifyAdvisesByWhatItFound(t *testing.T) {
	for found, says := range map[string]string{
		"missing": "Restore", "size_mismatch": "Restore", "missing leftover": "Restore", "unreadable": "can't be read",
		"leftover": "--orphans", "unreferenced": "unless it is queued", "foreign_table": "explain TABLE PATH",
	} {
		types := map[string]bool{}
		for f := range strings.FieldsSeq(found) {
			types[f] = true
		}
		if hint := verifyHint(types); !strings.Contains(hint, says) || says != "Restore" && strings.Contains(hint, "Restore") {
			t.Errorf("%s: %s", found, hint)
		}
	}
}
