package predicate_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/predicate"
)

// fixtures are the shared tables' expected answers; the predicates' were given by Spark SQL.
const fixtures = "../../../shared/fixtures/delta"

type fixture struct {
	Case  string
	Where struct {
		Unattributed []string `json:"unattributed"`
		Unparsable   []string `json:"unparsable_directory"`
		Predicates   []struct {
			Where       string
			ByDirectory []string `json:"by_directory"`
			ByLog       []string `json:"by_log"`
			Live        []string `json:"live_matching"`
			Files       []string
			Refuse      string
		}
	}
	Runs []struct {
		ID       string
		Expected struct {
			Files []string
		}
	}
}

// schemas are the partition columns of the fixtures. inPath: the log's values
// of all files are those of their directories.
var schemas = map[string]struct {
	schema predicate.Schema
	inPath bool
}{
	"events-ymdh": {predicate.Schema{Partition: columns("year", "string", "month", "string", "day", "string", "hour", "string"), Other: []string{"id", "v"}}, false},
	"partition-types": {predicate.Schema{Partition: columns("d", "date", "ts", "timestamp", "dec", "decimal(10,2)", "b", "boolean",
		"i", "integer", "bin", "binary", "dbl", "double"), Other: []string{"id"}}, true},
	"null-empty-partition":  {predicate.Schema{Partition: columns("d", "string", "n", "integer"), Other: []string{"id"}}, true},
	"special-chars":         {predicate.Schema{Partition: columns("p", "string"), Other: []string{"id"}}, true},
	"deltars-written":       {predicate.Schema{Partition: columns("p", "string"), Other: []string{"id"}}, true},
	"underscore-partition":  {predicate.Schema{Partition: columns("_day", "integer", "_ab", "string"), Other: []string{"id"}}, true},
	"clustered":             {predicate.Schema{Other: []string{"id", "region"}, Clustered: true}, false},
	"column-mapping-prefix": {predicate.Schema{Partition: []predicate.Column{{Name: "p", Physical: "col-3d44aab8-8059-4bec-9d54-e2427e540cc3", Type: "integer"}}, Other: []string{"id"}}, false},
}

func columns(namesAndTypes ...string) []predicate.Column {
	var out []predicate.Column
	for pair := range slices.Chunk(namesAndTypes, 2) {
		out = append(out, predicate.Column{Name: pair[0], Type: pair[1]})
	}
	return out
}

func TestFixtures(t *testing.T) {
	if _, err := os.Stat(fixtures); err != nil {
		t.Skip("the shared fixtures are not here: ", err)
	}
	for name, s := range schemas {
		t.Run(name, func(t *testing.T) {
			raw, err := os.ReadFile(filepath.Join(fixtures, name+".json"))
			if err != nil {
				t.Fatal(err)
			}
			var f fixture
			if err := json.Unmarshal(raw, &f); err != nil {
				t.Fatal(err)
			}
			for _, p := range f.Where.Predicates {
				compiled, err := predicate.Compile(p.Where, s.schema, predicate.Options{})
				if p.Refuse != "" {
					if lake.KindOf(err) != lake.Invalid || err == nil {
						t.Errorf("%s: got %v, want a refusal (%s)", p.Where, err, p.Refuse)
					}
					continue
				}
				if err != nil {
					t.Errorf("%s: %v", p.Where, err)
					continue
				}
				orphans, all := slices.Clone(f.Where.Unattributed), p.Files
				orphans = append(orphans, f.Where.Unparsable...)
				for _, other := range f.Where.Predicates {
					orphans = append(orphans, other.ByDirectory...)
					all = append(all, other.Files...)
					all = append(all, other.Live...)
				}
				check(t, s.schema, compiled, orphans, p.ByDirectory)
				if s.inPath {
					check(t, s.schema, compiled, all, append(slices.Clone(p.Files), p.Live...))
				}
			}
		})
	}
}

// check compares the paths that p matches with those that should.
func check(t *testing.T, s predicate.Schema, p *predicate.Predicate, paths, want []string) {
	t.Helper()
	slices.Sort(paths)
	var got []string
	for _, path := range slices.Compact(paths) {
		values, ok := predicate.FromPath(lake.Key(path), s)
		if ok && p.Match(values) == predicate.True {
			got = append(got, path)
		}
		for dir := lake.Key(path).Dir(); ok && p.Match(values) == predicate.True; dir = dir.Dir() {
			if partial, ok := predicate.FromDir(dir, s); !ok || !p.MayMatch(partial) {
				t.Errorf("%s: %s is pruned although %s matches", p, dir, path)
			}
			if dir == "" {
				break
			}
		}
	}
	slices.Sort(want)
	if d := cmp.Diff(slices.Compact(want), got); d != "" && len(want)+len(got) > 0 {
		t.Errorf("%s: %s", p, d)
	}
}
