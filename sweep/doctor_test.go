package sweep

import (
	"io/fs"
	"testing"

	"github.com/lakesweep/lakesweep/lake"
)

func TestADiagnosisTellsMissingPermissions(t *testing.T) {
	for rule, c := range map[string]struct {
		err    error
		denied bool
	}{
		"a permission":   {&lake.Error{Kind: lake.Denied, Err: fs.ErrPermission}, true},
		"another fault":  {&lake.Error{Kind: lake.NotTable, Err: fs.ErrNotExist}, false},
		"nothing at all": {nil, false},
	} {
		var d Diagnosis
		if d.check("access", c.err, "fine"); d.Denied != c.denied {
			t.Errorf("%s: denied %t", rule, d.Denied)
		}
	}
}
