package azure_test

import (
	"os"
	"strings"
	"testing"

	"github.com/lakesweep/lakesweep/store/azure"
)

func TestEverySettingIsDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../docs/stores.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range azure.Settings() {
		name := "`LAKESWEEP_AZURE_" + strings.ToUpper(strings.ReplaceAll(s.Name, "-", "_")) + "`"
		if !strings.Contains(string(doc), name) {
			t.Errorf("%s isn't in docs/stores.md", name)
		}
	}
}
