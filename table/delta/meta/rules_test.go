package meta_test

import (
	"testing"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table/delta/meta"
)

func TestHiddenRules(t *testing.T) {
	plain := meta.Rules{PartitionColumns: []string{"p", "_day", "_d"}}
	uniform := meta.Rules{HideMetadata: true}
	for _, c := range []struct {
		rules   meta.Rules
		key     lake.Key
		visible bool
	}{
		{plain, "x.parquet", true}, {plain, "p=1/x", true}, {plain, "a/b/c", true},
		{plain, "_delta_log/0.json", false}, {plain, "a/_delta_log/0.json", false}, {plain, "_delta_log", false},
		{plain, "_day=1/x", true}, {plain, "_Day=1/x", false}, {plain, "_day/x", false}, {plain, "_d=1/x", true}, // R: a prefix of _delta_log
		{plain, "_tmp/x", false}, {plain, "p=1/_temporary/x", false}, {plain, "p=1/.x", false}, {plain, ".hidden", false}, {plain, ".hoodie/x", false},
		{plain, "_change_data/x", true}, {plain, "_change_data_backup/x", true}, {plain, "p=1/_change_data/x", true},
		{plain, "_delta_index/x", false}, {plain, "_delta_index_v2", false}, {meta.Rules{DeltaIndex: true}, "_delta_index/x", true},
		{plain, "metadata/x", true}, {uniform, "metadata/x", false}, {uniform, "a/metadata/x", false}, {uniform, "metadata", false},
		{uniform, "metadata_old/x", true}, {uniform, "metadata=a/x", true},
		{meta.Rules{HideRootMetadata: true}, "metadata/x", false}, {meta.Rules{HideRootMetadata: true}, "metadata", false}, {meta.Rules{HideRootMetadata: true}, "a/metadata/x", true},
	} {
		if got := c.rules.Visible(c.key); got != c.visible {
			t.Errorf("%q with %+v: visible %v", c.key, c.rules, got)
		}
	}
}

func TestForeignTables(t *testing.T) {
	for k, want := range map[lake.Key]string{
		"a/_delta_log/0.json": "a", "a/b/.hoodie/x": "a/b", "a/metadata/v1.metadata.json": "a", "a/b/_delta_log/c/_delta_log/x": "a/b",
		"_delta_log/0.json": "-", ".hoodie/x": "-", "metadata/v1.metadata.json": "-", "a/metadata/x.json": "-", "a/metadata/sub/v1.metadata.json": "-", "a/b": "-",
		"metadata/metadata/v1.metadata.json": "metadata",
	} {
		root, ok := meta.ForeignRoot(k)
		if got := string(root); ok != (want != "-") || ok && got != want {
			t.Errorf("%q: %q %v, want %q", k, got, ok, want)
		}
	}
	if !meta.Foreign([]string{"x", "_delta_log"}) || !meta.Foreign([]string{".hoodie"}) || meta.Foreign([]string{"metadata", "x"}) {
		t.Error("Foreign")
	}
	if !meta.IcebergMetadata([]string{"v1.metadata.json"}) || meta.IcebergMetadata([]string{"x.json"}) {
		t.Error("IcebergMetadata")
	}
}
