package lake

import "testing"

func TestFoldMeetsWhatOneFileSystemTakesForOneName(t *testing.T) {
	for _, pair := range [][2]Key{
		{"A/b.Parquet", "a/B.parquet"}, {"caf\u00e9", "CAFE\u0301"}, {"\u212a=1", "k=1"}, {"stra\u00dfe", "STRASSE"}, {"plain", "plain"},
	} {
		if pair[0].Fold() != pair[1].Fold() {
			t.Errorf("%q and %q fold to %q and %q", pair[0], pair[1], pair[0].Fold(), pair[1].Fold())
		}
	}
	if Key("a").Fold() == Key("b").Fold() {
		t.Error("different names fold to one")
	}
}
