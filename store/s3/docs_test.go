package s3_test

import (
	"os"
	"strings"
	"testing"

	"github.com/lakesweep/lakesweep/store/s3"
)

func TestEverySettingIsDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../docs/stores-s3.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range s3.Settings() {
		name := "`LAKESWEEP_S3_" + strings.ToUpper(strings.ReplaceAll(s.Name, "-", "_")) + "`"
		if !strings.Contains(string(doc), name) {
			t.Errorf("%s isn't in docs/stores-s3.md", name)
		}
	}
}
