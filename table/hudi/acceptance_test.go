package hudi

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The acceptance list of Hudi's clean: spec/hudi-clean.md section 8 (Hudi's own
// cleaner tests as scenarios, A to G, and H, our own) and the Hudi rows of
// cases/bugs.md (B and three digits).

// families says how many items each letter of the list has.
var families = map[string]int{"A": 9, "B": 5, "C": 13, "D": 4, "E": 9, "F": 11, "G": 8, "H": 8}

// reports are the numbers of the Hudi rows of cases/bugs.md.
const reports = "68 69 95 97 99 100 101 102 104 106 107 108 109 111 112 115 117 119 120 121 122 123 124 126 128 129 130 133 134 137 138 140 142 143 144 147 149 150 152 153 154"

// covered names, for items, the test that covers them: the file, from the
// project's root, and a word in it.
var covered = []struct{ items, file, word string }{
	{"A1 A2 A3 A4 A5 A6 A7 A8 A9 B1 B2 B3 B4 B5 D1 D2 D4 E7", "table/hudi/scenario_test.go", `"%s `},
	{"B109", "table/hudi/scenario_test.go", "B109 the newest slice"},
	{"C1 C2 C3 C4 C5 C10 C11 C12", "table/hudi/incremental_test.go", `"%s `},
	{"C9", "table/hudi/incremental_test.go", "C1 C9 those"},
	{"C7 C8 D3 E8 H8 B102", "table/hudi/incremental_test.go", "// %s: "},
	{"H2", "table/hudi/incremental_test.go", "// H2, B068: "},
	{"B068", "table/hudi/incremental_test.go", "B068: a clean of some partitions"},
	{"C13", "table/hudi/retain/config_test.go", "// C13"},
	{"E9", "table/hudi/retain/config_test.go", "// E9"},
	{"E1 B108", "table/hudi/run_test.go", "func TestKilledAtAnyWrite("},
	{"E2 E3 E4 E5 B097", "table/hudi/shapes_test.go", "func TestPendingCleans("},
	{"E6", "table/hudi/run_test.go", "func TestNotCompletedWhileAFileStands("},
	{"F1", "table/hudi/oracle_test.go", "func TestPlansAreTheOracles("},
	{"F2 B119", "table/hudi/scenario_test.go", "func TestLogsGoWithTheirSlice("},
	{"F3", "table/hudi/retain/config_test.go", `"hoodie.clean.delete.bootstrap.base.file=true": "unsupported"`},
	{"F4 F6 F8 F9 G1 B101 B126 B106", "table/hudi/shapes_test.go", "// %s"},
	{"F5", "table/hudi/fixture_test.go", "func TestPlansAreHudis("},
	{"F7", "table/hudi/shapes_test.go", "// F7, B095: "},
	{"B095", "table/hudi/shapes_test.go", "B095: an unpartitioned"},
	{"F10 B120", "table/hudi/scenario_test.go", "(F10, B120)"},
	{"F11 G7 H1 B128", "test/interop/hudi/suite.py", "archive_commits"},
	{"G2 G8 B123", "table/hudi/split_test.go", "func TestEmptyClean("},
	{"H3", "table/hudi/run_test.go", "func TestPendingCleanOfAnotherTableIsRefused("},
	{"H4", "table/hudi/scenario_test.go", "// H4: "},
	{"H5", "table/hudi/scenario_test.go", "// H5: "},
	{"H6", "table/hudi/run_test.go", "func TestALostLockStops("},
	{"H7 B112", "table/hudi/run_test.go", "func TestWhatMakesAPlanStale("},
	{"B069", "reap/reap_test.go", "func TestSomeObjectsCantBeDeleted("},
	{"B100", "sweep/hudi_test.go", "func TestHudiNeedsALock("},
	{"B104", "table/hudi/scenario_test.go", "// B104: "},
	{"B107 B117", "table/hudi/scenario_test.go", "// B117, B107: "},
	{"B115", "table/hudi/scenario_test.go", "D1 a pending commit"},
	{"B121", "table/hudi/shapes_test.go", "// F6, B121: "},
	{"B124", "table/hudi/scenario_test.go", "A4 two before, one after"},
	{"B129", "table/hudi/mdt/commit_test.go", "func TestCommitAfterACrash("},
	{"B130", "table/hudi/mdt/fixture_test.go", "func TestTrust("},
	{"B150", "table/hudi/split_test.go", "func TestLargeCleansAreSplit("},
	{"B152", "bench/hudi.sh", "10,000 partitions"},
	{"B153", "table/hudi/split_test.go", "// B153: "},
	{"B142 B144", "sweep/blobplan_test.go", "%s"},
	{"B137 B143 B147", "sweep/blobplan_test.go", "%s"},
	{"B138", "table/hudi/blob/judge_test.go", "B138"},
	{"B149", "sweep/blobclean_test.go", "B149"},
	{"B111", "table/hudi/resurrect_test.go", "// D1, B111, B115 by hours: "},
	{"B134", "sweep/blobclean_test.go", "func TestADrainWithALimitGoesOn("},
	{"B140", "sweep/blobclean_test.go", "func TestSidecarsGoWithTheirClean("},
}

// excused says why an item isn't tested.
var excused = map[string]string{
	"C6":   "Hudi's archiver, which reads the plan that we write",
	"G3":   "failed writes are never rolled back: Hudi's writers do that",
	"G4":   "a setting of Hudi's writers",
	"G5":   "rollbacks are Hudi's",
	"G6":   "Hudi's savepoints, which read the claim of our clean",
	"B099": "failed writes are never rolled back",
	"B122": "settings of Hudi's archiver",
	"B133": "index entries only ever keep: sweep's tests of blobs",
	"B154": "the reading time that a policy allows is the writers' affair: docs/hudi.md says what each keeps",
}

func TestTheAcceptanceListIsWhole(t *testing.T) {
	var items []string
	for family, most := range families {
		for n := 1; n <= most; n++ {
			items = append(items, fmt.Sprint(family, n))
		}
	}
	for n := range strings.FieldsSeq(reports) {
		items = append(items, fmt.Sprintf("B%03s", n))
	}
	open := make(map[string]bool)
	for _, item := range items {
		open[item] = true
	}
	for _, c := range covered {
		text, err := os.ReadFile(filepath.Join("../..", c.file))
		if err != nil {
			t.Fatal(err)
		}
		for item := range strings.FieldsSeq(c.items) {
			word := c.word
			if strings.Contains(word, "%s") {
				word = fmt.Sprintf(word, item)
			}
			if !strings.Contains(string(text), word) {
				t.Errorf("%s: %q isn't in %s", item, word, c.file)
			}
			if !open[item] {
				t.Errorf("%s isn't on the list, or twice", item)
			}
			delete(open, item)
		}
	}
	for item, why := range excused {
		if !open[item] || why == "" {
			t.Errorf("%s is excused, but covered or not on the list", item)
		}
		delete(open, item)
	}
	for item := range open {
		t.Errorf("nothing covers %s", item)
	}
}
