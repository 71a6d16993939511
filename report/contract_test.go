package report

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/lakesweep/lakesweep/table"
)

// Every field of every row stands in docs/json.md under the row's heading.
func TestJSONContractIsWhole(t *testing.T) {
	page, err := os.ReadFile("../docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	intro, _, _ := strings.Cut(string(page), "\n## ")
	for heading, row := range map[string]any{
		"`file`":              fileRow{},
		"`guard`":             guardRow{},
		"`summary` of a plan": summaryRow{},
		"`outcome`":           outcomeRow{},
		"`summary` of a run":  runRow{},
		"`explanation`":       explainRow{},
		"`missing`, `size_mismatch`, `foreign_table`, `unreadable`, `leftover`": findingRow{},
		"`usage`": usageRow{},
		"`table`, `diagnosis`, `inventory`, `bench`, `version`": table.Info{},
		"`error`": ErrorRow{},
	} {
		_, section, ok := strings.Cut(string(page), "\n## "+heading+"\n")
		if !ok {
			t.Errorf("no heading %s", heading)
			continue
		}
		section, _, _ = strings.Cut(section, "\n## ")
		for _, name := range fields(reflect.TypeOf(row)) {
			if !strings.Contains(section, "`"+name+"`") && !strings.Contains(intro, "`"+name+"`") {
				t.Errorf("%s lacks %s", heading, name)
			}
		}
	}
}

// fields returns the JSON names of a struct's fields, embedded ones included.
func fields(of reflect.Type) []string {
	var names []string
	for i := range of.NumField() {
		f := of.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			names = append(names, fields(f.Type)...)
		case f.IsExported() && name != "" && name != "-":
			names = append(names, name)
		}
	}
	return names
}
