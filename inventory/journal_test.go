package inventory

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const journalHeader = "bucket,key,sequence_number,record_type,record_timestamp,version_id,is_delete_marker,size,last_modified_date\n"

// journalKeys are the keys that a journal of these records proposes, and how
// many rows for deleted objects it has.
func journalKeys(t *testing.T, header string, records ...string) (string, int64) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "journal.csv")
	if err := os.WriteFile(file, []byte(header+strings.Join(records, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	objects, counts, _, _ := scan(t, Options{Source: file}, "s3://lake/t")
	var keys []string
	for _, o := range objects {
		keys = append(keys, o.Name)
	}
	return strings.Join(slices.Compact(keys), " "), counts.Deleted
}

// What a later change of a journal deleted isn't proposed, what came again is;
// where the order or the version isn't certain, the object stays.
func TestJournalsAreReadInTheirOrder(t *testing.T) {
	const at, later = "2024-01-01T00:00:00Z", "2024-01-02T00:00:00Z"
	unordered := strings.Replace(journalHeader, "sequence_number,", "", 1)
	bare := strings.Replace(journalHeader, "version_id,", "", 1)
	for _, c := range []struct {
		name    string
		header  string
		records []string
		want    string
		deleted int64
	}{
		{"deleted later", journalHeader, []string{"lake,t/a,02,DELETE," + at + ",,,,", "lake,t/a,01,CREATE," + at + ",,,9," + at, "lake,t/b,01,CREATE," + at + ",,,9," + at}, "b", 2},
		{"created again", journalHeader, []string{"lake,t/a,01,CREATE," + at + ",,,9," + at, "lake,t/a,02,DELETE," + at + ",,,,", "lake,t/a,03,CREATE," + at + ",,,9," + at}, "a", 2},
		{"changed later", journalHeader, []string{"lake,t/a,02,DELETE," + at + ",,,,", "lake,t/a,03,UPDATE_METADATA," + at + ",,,9," + at}, "a", 1},
		{"sequences are texts", journalHeader, []string{"lake,t/a,9,CREATE," + at + ",,,9," + at, "lake,t/a,10,DELETE," + at + ",,,,"}, "a", 1},
		{"at the same place of the order", journalHeader, []string{"lake,t/a,01,CREATE," + at + ",,,9," + at, "lake,t/a,01,DELETE," + at + ",,,,"}, "a", 1},
		{"the sequence counts before the time", journalHeader, []string{"lake,t/a,02,CREATE," + at + ",,,9," + at, "lake,t/a,01,DELETE," + later + ",,,,"}, "a", 1},
		{"by time", unordered, []string{"lake,t/a,DELETE," + later + ",,,,", "lake,t/a,CREATE," + at + ",,,9," + at, "lake,t/b,DELETE," + at + ",,,,", "lake,t/b,CREATE," + later + ",,,9," + at}, "b", 3},
		{"at the same time", unordered, []string{"lake,t/a,DELETE," + at + ",,,,", "lake,t/a,CREATE," + at + ",,,9," + at}, "a", 1},
		{"no time", unordered, []string{"lake,t/a,DELETE,,,,,", "lake,t/a,CREATE," + at + ",,,9," + at}, "a", 1},
		{"an old version is taken away", journalHeader, []string{"lake,t/a,01,CREATE," + at + ",v1,,9," + at, "lake,t/a,02,CREATE," + at + ",v2,,9," + at, "lake,t/a,03,DELETE," + at + ",v1,,,"}, "a", 2},
		{"every version is taken away", journalHeader, []string{"lake,t/a,01,CREATE," + at + ",v1,,9," + at, "lake,t/a,02,CREATE," + at + ",v2,,9," + at, "lake,t/a,03,DELETE," + at + ",v1,,,", "lake,t/a,04,DELETE," + at + ",v2,,,"}, "", 4},
		{"a delete marker", journalHeader, []string{"lake,t/a,01,CREATE," + at + ",v1,false,9," + at, "lake,t/a,02,DELETE," + at + ",v2,true,,"}, "", 2},
		{"a delete marker that was deleted", journalHeader, []string{"lake,t/a,01,CREATE," + at + ",v1,false,9," + at, "lake,t/a,02,DELETE," + at + ",v2,true,,", "lake,t/a,03,DELETE," + at + ",v2,,,"}, "a", 2},
		{"which version was taken away isn't told", bare, []string{"lake,t/a,01,CREATE," + at + ",,9," + at, "lake,t/a,02,DELETE," + at + ",,,"}, "a", 1},
		{"of another key or bucket", journalHeader, []string{"lake,t/a,01,CREATE," + at + ",,,9," + at, "lake,t/ab,02,DELETE," + at + ",,,,", "lak,et/a,02,DELETE," + at + ",,,,", "lake,t/a/,02,DELETE," + at + ",,,,"}, "a", 3},
		{"no journal", "bucket,key,record_type,version_id,size,last_modified_date\n", []string{"lake,t/a,CREATE,,9," + at, "lake,t/a,DELETE,,,"}, "a", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, deleted := journalKeys(t, c.header, c.records...); got != c.want || deleted != c.deleted {
				t.Errorf("%q and %d rows for deleted objects, want %q and %d", got, deleted, c.want, c.deleted)
			}
		})
	}
}

// What a bucket without versions holds after a random history is what its
// journal proposes, in whatever order its rows stand.
func TestJournalsReplayToWhatIsThere(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		there := map[string]bool{}
		var records []string
		for n := range rapid.IntRange(0, 60).Draw(r, "changes") {
			key, kind, rest := rapid.SampledFrom([]string{"a", "b", "b c", "é"}).Draw(r, "key"), "DELETE", ",,,,"
			if there[key] = !there[key] || rapid.Bool().Draw(r, "written again"); there[key] {
				kind, rest = "CREATE", ",,,9,2024-01-01T00:00:00Z"
			}
			records = append(records, fmt.Sprintf("lake,t/%s,%04d,%s,%s", key, n, kind, rest))
		}
		maps.DeleteFunc(there, func(_ string, is bool) bool { return !is })
		want := slices.SortedFunc(maps.Keys(there), cmp.Compare)
		records = rapid.Permutation(records).Draw(r, "order")
		got, _ := journalKeys(t, journalHeader, records...)
		if diff := gocmp.Diff(strings.Join(want, " "), got); diff != "" {
			r.Error(diff)
		}
	})
}
