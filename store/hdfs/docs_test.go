package hdfs_test

import (
	"os"
	"strings"
	"testing"

	"github.com/lakesweep/lakesweep/store/hdfs"
)

func TestEverySettingIsDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../docs/stores.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range hdfs.Settings() {
		name := "`LAKESWEEP_HDFS_" + strings.ToUpper(strings.ReplaceAll(s.Name, "-", "_")) + "`"
		if !strings.Contains(string(doc), name) {
			t.Errorf("%s isn't in docs/stores.md", name)
		}
	}
}
