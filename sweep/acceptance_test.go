package sweep

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The acceptance list of Delta's vacuum (spec/delta-vacuum.md section 7, and
// the public reports of cases/bugs.md). "1" to "49" are Spark's own suite, R
// and P those of delta-rs, O ours, B the reports.

// scenario is one item of the list, or several, as a test.
type scenario struct {
	items   string // "4 6"
	meaning string
	run     func(t *testing.T, w *world)
}

// elsewhere says which test covers an item: the file and a word in it.
var elsewhere = map[string][2]string{
	"2":    {"internal/cli/testdata/script/sql.txtar", "delta.`"},
	"12":   {"inventory/fixture_test.go", "spark-schema-delta"},
	"13":   {"inventory/duckdb/duckdb_test.go", "func Test"},
	"38":   {"table/delta/rules_test.go", "O12:"},
	"43":   {"antijoin/join_test.go", "RowsThatComeTwice"},
	"45":   {"table/delta/rules_test.go", "O12:"},
	"47":   {"lake/predicate/vacuumsql/vacuumsql_test.go", "123_"},
	"O1":   {"table/delta/history_test.go", "O1:"},
	"O2":   {"table/delta/history_test.go", "O2,"},
	"O3":   {"table/delta/log_test.go", "O3"},
	"O4":   {"table/delta/history_test.go", "O4"},
	"O5":   {"table/delta/history_test.go", "O5"},
	"O7":   {"table/delta/rules_test.go", "O7"},
	"O9":   {"table/delta/history_test.go", "O9:"},
	"O10":  {"table/delta/history_test.go", "O10"},
	"O11":  {"sweep/fault_test.go", "TestWriterBetweenAnySteps"},
	"O12":  {"table/delta/rules_test.go", "O12:"},
	"O13":  {"table/delta/history_test.go", "O13:"},
	"B008": {"table/delta/history_test.go", "B008"},
	"B018": {"table/delta/log_test.go", "B018"},
	"B019": {"table/delta/log_test.go", "B019"},
	"B022": {"table/delta/log_test.go", "B022"},
	"B023": {"table/delta/log_test.go", "B023"},
	"B026": {"table/delta/log_test.go", "B026"},
	"B028": {"table/delta/history_test.go", "B028"},
	"B040": {"table/delta/recorder_test.go", "B040"},
	"B041": {"table/delta/recorder_test.go", "B041"},
	"B045": {"table/delta/rules_test.go", "B045"},
	"B049": {"sweep/fixture_test.go", "TestFixturesFromS3"},
	"B053": {"listing/fanout_test.go", "gone("},
	"B069": {"reap/reap_test.go", "TestSomeObjectsCantBeDeleted"},
	"B071": {"store/pace_test.go", "B071"},
	"B072": {"store/s3/s3_test.go", "NoBulkDelete"},
	"B074": {"store/s3/s3_test.go", "MD5"},
	"B077": {"guard/guard_test.go", "a versioned bucket"},
	"B086": {"listing/fanout_test.go", "func Test"},
	"B089": {"internal/cli/testdata/script/plan_text.txtar", "DRY RUN"},
	"B091": {"internal/cli/testdata/script/progress.txtar", "progress"},
	"B092": {"guard/guard_test.go", "retention below"},
	"B156": {"sweep/safety_test.go", "ReadOnly"},
	"B157": {"internal/cli/testdata/script/plan_text.txtar", "too young"},
}

// inapplicable says why an item isn't tested.
var inapplicable = map[string]string{
	"3":    "tables are named by place; there is no catalog",
	"4":    "views need a catalog",
	"5":    "the empty data frame of Spark's API; ours returns a Result, which every test here reads",
	"6":    "tables are named by place; there is no catalog",
	"48":   "options of Hadoop; a store has its own settings",
	"R9":   "an option of delta-rs' listing; ours needs no layout",
	"R12":  "an option of delta-rs' listing",
	"R13":  "an option of delta-rs' listing",
	"R14":  "an option of delta-rs' listing",
	"R15":  "an option of delta-rs' listing",
	"P10":  "handling of Python arguments",
	"P11":  "handling of Python arguments",
	"P12":  "handling of Python arguments",
	"P13":  "handling of Python arguments",
	"P14":  "handling of Python arguments",
	"B068": "about Hudi: a filtered clean is refused there",
	"B078": "HDFS's trash; quarantine is tested by reap and below",
	"B079": "the DynamoDB log store is refused",
	"B080": "lifecycle rules: item 49 shows that lost files are found",
	"B081": "figures, for the benchmarks",
	"B083": "figures, for the benchmarks",
	"B084": "figures, for the benchmarks",
	"B088": "figures: a LITE run without news reads the log only (P6)",
}

// reports are the numbers of the Delta rows of cases/bugs.md.
const reports = "1 2 5 6 7 8 9 10 11 14 16 18 19 22 23 25 26 27 28 30 31 32 34 35 37 39 40 41 42 43 45 48 49 50 51 53 54 56 58 60 " +
	"62 64 66 68 69 71 72 74 75 77 78 79 80 81 83 84 86 88 89 91 92 94 156 157"

func scenarios() []scenario {
	return slices.Concat(spark(), sparkMore(), peers(), ours(), reported(), narrowed())
}

func TestAcceptance(t *testing.T) {
	for _, s := range scenarios() {
		t.Run(s.items+" "+s.meaning, func(t *testing.T) {
			t.Parallel()
			s.run(t, newWorld(t))
		})
	}
}

// TestTheAcceptanceListIsWhole: every item is a scenario, or covered by a test
// elsewhere that is there, or not applicable for a reason.
func TestTheAcceptanceListIsWhole(t *testing.T) {
	var items []string
	for family, most := range map[string]int{"": 49, "R": 27, "P": 15, "O": 14} {
		for n := 1; n <= most; n++ {
			items = append(items, fmt.Sprint(family, n))
		}
	}
	for n := range strings.FieldsSeq(reports) {
		items = append(items, fmt.Sprintf("B%03s", n))
	}
	here := map[string]bool{}
	for _, s := range scenarios() {
		for item := range strings.FieldsSeq(s.items) {
			here[item] = true
			if !slices.Contains(items, item) {
				t.Errorf("%q isn't on the list", item)
			}
		}
	}
	for _, item := range items {
		place, there := elsewhere[item]
		_, na := inapplicable[item]
		if !here[item] && !there && !na {
			t.Errorf("nothing covers %s", item)
		}
		if !there {
			continue
		}
		text, err := os.ReadFile(filepath.Join("..", place[0]))
		if err != nil || !strings.Contains(string(text), place[1]) {
			t.Errorf("%s: %q isn't in %s (%v)", item, place[1], place[0], err)
		}
	}
}
