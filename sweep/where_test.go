package sweep

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store/mem"
	"github.com/lakesweep/lakesweep/table/delta/deltatest"
)

// whereTable is a random table partitioned by y (string), m (string) and n
// (int), with all that its log says of each path.
type whereTable struct {
	rng      *rand.Rand
	st       *mem.Store
	now      time.Time
	physical map[string]string           // column → name in the log and in directories
	logged   map[string][]map[string]any // path → the partition values of its actions
	commits  int
}

var whereColumns = []string{"y", "m", "n"}

var whereValues = map[string][]any{"y": {nil, "2022", "2023", "a/b"}, "m": {nil, "06", "07", "x y"}, "n": {nil, "1", "2", "10"}}

func newWhereTable(seed uint64, flat, mapped bool) *whereTable {
	w := &whereTable{rng: rand.New(rand.NewPCG(seed, 9)), now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		physical: map[string]string{"y": "y", "m": "m", "n": "n"}, logged: map[string][]map[string]any{}}
	traits := mem.Default()
	traits.Flat, traits.PageSize = flat, 5
	w.st = mem.New(mem.Options{Traits: traits, Now: func() time.Time { return w.now }})
	config := map[string]string{}
	if mapped {
		config["delta.columnMapping.mode"] = "name"
		w.physical["m"] = "col-77"
	}
	var fields []string
	for i, c := range append(slices.Clone(whereColumns), "v") {
		typ := map[string]string{"n": "integer"}[c]
		if typ == "" {
			typ = "string"
		}
		meta := "{}"
		if mapped {
			meta = fmt.Sprintf(`{"delta.columnMapping.id":%d,"delta.columnMapping.physicalName":%q}`, i+1, w.name(c))
		}
		fields = append(fields, fmt.Sprintf(`{"name":%q,"type":%q,"nullable":true,"metadata":%s}`, c, typ, meta))
	}
	w.commit(map[string]any{"protocol": map[string]any{"minReaderVersion": 2, "minWriterVersion": 5}},
		map[string]any{"metaData": map[string]any{"id": "where", "format": map[string]any{"provider": "parquet", "options": map[string]any{}},
			"schemaString":     `{"type":"struct","fields":[` + strings.Join(fields, ",") + `]}`,
			"partitionColumns": whereColumns, "configuration": config}})
	return w
}

func (w *whereTable) name(column string) string {
	if p, ok := w.physical[column]; ok {
		return p
	}
	return column
}

func (w *whereTable) commit(actions ...map[string]any) {
	var body bytes.Buffer
	for _, a := range append([]map[string]any{{"commitInfo": map[string]any{"timestamp": w.now.UnixMilli(), "operation": "WRITE"}}}, actions...) {
		line, err := json.Marshal(a)
		if err != nil {
			panic(err)
		}
		body.Write(append(line, '\n'))
	}
	w.st.Put(fmt.Sprintf("_delta_log/%020d.json", w.commits), body.Bytes(), w.now)
	w.commits++
	w.now = w.now.Add(time.Hour)
}

func (w *whereTable) values() map[string]any {
	out := map[string]any{}
	for _, c := range whereColumns {
		out[c] = whereValues[c][w.rng.IntN(4)]
	}
	return out
}

// dir spells a Hive directory of values, whose columns stand in a random order
// now and then; of random prefixes it says nothing.
func (w *whereTable) dir(values map[string]any) string {
	order := slices.Clone(whereColumns)
	switch w.rng.IntN(8) {
	case 0:
		return []string{"", "Zz/", "y=2023/", "n=1/m=07/", "y=2023/n=zzz/m=07/"}[w.rng.IntN(5)]
	case 1:
		w.rng.Shuffle(3, func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	dir := ""
	for _, c := range order {
		text := "__HIVE_DEFAULT_PARTITION__"
		if s, ok := values[c].(string); ok {
			text = strings.ReplaceAll(s, "/", "%2F")
		}
		dir += w.name(c) + "=" + text + "/"
	}
	return dir
}

// fill writes live files, tombstones and orphans, some in the wrong directory,
// some with values that lack a column, some with two sets of values.
func (w *whereTable) fill(files int) {
	var adds, removes []map[string]any
	for i := range files {
		values := w.values()
		path := fmt.Sprintf("%spart-%04d", w.dir(values), i)
		w.st.Put(path, []byte("data"), w.now)
		kind := w.rng.IntN(4)
		if kind == 0 {
			continue // an orphan
		}
		if w.rng.IntN(6) == 0 {
			values = w.values() // the directory is wrong
		}
		if w.rng.IntN(10) == 0 {
			delete(values, "n") // the partitioning changed since
		}
		adds = append(adds, w.action("add", path, values))
		if kind < 3 {
			if _, whole := values["n"]; whole && w.rng.IntN(8) == 0 {
				values = w.values()
			}
			removes = append(removes, w.action("remove", path, values))
		}
	}
	w.commit(adds...)
	w.commit(removes...)
	w.now = w.now.Add(1000 * time.Hour)
}

func (w *whereTable) action(kind, path string, values map[string]any) map[string]any {
	w.logged[path] = append(w.logged[path], values)
	physical := map[string]any{}
	for c, v := range values {
		physical[w.name(c)] = v
	}
	a := map[string]any{"path": (&url.URL{Path: path}).EscapedPath(), "partitionValues": physical, "dataChange": true, "size": 4}
	if kind == "remove" {
		a["deletionTimestamp"] = w.now.UnixMilli()
		a["extendedFileMetadata"] = true
	} else {
		a["modificationTime"] = w.now.UnixMilli()
	}
	return map[string]any{kind: a}
}

// attributed is every set of values that a path has; nil if one isn't known.
func (w *whereTable) attributed(path string) []map[string]any {
	if logged, ok := w.logged[path]; ok {
		return logged
	}
	values := map[string]any{}
	for _, part := range strings.Split(path, "/") {
		for _, c := range whereColumns {
			if text, ok := strings.CutPrefix(part, w.name(c)+"="); ok {
				values[c] = strings.ReplaceAll(text, "%2F", "/")
				if text == "__HIVE_DEFAULT_PARTITION__" {
					values[c] = nil
				}
			}
		}
	}
	if _, err := strconv.Atoi(fmt.Sprint(values["n"])); len(values) < 3 || err != nil && values["n"] != nil {
		return nil
	}
	return []map[string]any{values}
}

// condition is a predicate as SQL and as a function of its own: 1 is true, 0
// false, -1 NULL, -2 unknown.
type condition struct {
	sql  string
	eval func(map[string]any) int
}

// atom tests columns; unknown if one is missing, NULL if one is NULL.
func atom(sql string, columns []string, test func(v []string) bool) condition {
	return condition{sql, func(values map[string]any) int {
		var texts []string
		isNull := false
		for _, c := range columns {
			v, ok := values[c]
			if !ok {
				return -2
			}
			text, ok := v.(string)
			isNull = isNull || !ok
			texts = append(texts, text)
		}
		switch {
		case isNull:
			return -1
		case test(texts):
			return 1
		}
		return 0
	}}
}

func (w *whereTable) condition(depth int) condition {
	if depth > 0 && w.rng.IntN(3) > 0 {
		a, b := w.condition(depth-1), w.condition(depth-1)
		switch w.rng.IntN(3) {
		case 0:
			return condition{"NOT (" + a.sql + ")", func(v map[string]any) int {
				x := a.eval(v)
				if x >= 0 {
					x = 1 - x
				}
				return x
			}}
		case 1:
			return condition{"(" + a.sql + ") AND (" + b.sql + ")", func(v map[string]any) int { return both(a.eval(v), b.eval(v), 0) }}
		}
		return condition{"(" + a.sql + ") OR (" + b.sql + ")", func(v map[string]any) int { return both(a.eval(v), b.eval(v), 1) }}
	}
	number := func(s string) int { n, _ := strconv.Atoi(s); return n }
	switch w.rng.IntN(7) {
	case 0:
		return atom("y = '2023'", []string{"y"}, func(v []string) bool { return v[0] == "2023" })
	case 1:
		return atom("y||m >= '202307'", []string{"y", "m"}, func(v []string) bool { return v[0]+v[1] >= "202307" })
	case 2:
		return atom("n >= 2", []string{"n"}, func(v []string) bool { return number(v[0]) >= 2 })
	case 3:
		return atom("m LIKE '0%'", []string{"m"}, func(v []string) bool { return strings.HasPrefix(v[0], "0") })
	case 4:
		return atom("n IN (1, 10)", []string{"n"}, func(v []string) bool { return v[0] == "1" || v[0] == "10" })
	case 5:
		return condition{"y IS NULL", func(v map[string]any) int {
			if v["y"] == nil {
				return 1
			}
			return 0
		}}
	}
	return atom("y <> m", []string{"y", "m"}, func(v []string) bool { return v[0] != v[1] })
}

// both joins two outcomes by AND (decides 0) or OR (decides 1).
func both(a, b, decides int) int {
	switch {
	case a == -2 || b == -2:
		return -2
	case a == decides || b == decides:
		return decides
	case a == -1 || b == -1:
		return -1
	}
	return 1 - decides
}

// plan returns the dead files and directories, and the list requests.
func (w *whereTable) plan(t *testing.T, where string) (files, dirs []string, requests int64) {
	t.Helper()
	root, err := lake.ParseRoot(modelTable)
	if err != nil {
		t.Fatal(err)
	}
	m := &model{st: w.st, now: w.now, elsewhere: mem.New(mem.Options{})}
	e := m.engine(t, w.st)
	e.Stores = oneStore{root, w.st, m.elsewhere}
	req := m.request(0, "full")
	req.Where = where
	req.Tuning.Workers = 1 // so that the number of requests hangs on no timing
	p, err := e.Plan(t.Context(), req, "")
	if err != nil {
		t.Fatalf("where %q: %v", where, err)
	}
	defer closePlan(t, p)
	for v, err := range p.Rows() {
		switch {
		case err != nil:
			t.Fatal(err)
		case v.Directory:
			dirs = append(dirs, string(v.Key))
		default:
			files = append(files, string(v.Key))
		}
	}
	slices.Sort(files)
	return files, dirs, p.Head().Totals.ListRequests
}

// With WHERE a plan holds those rows of the whole plan whose partition is known
// and matches, and takes no more list requests.
func TestWhereIsAFilter(t *testing.T) {
	const tables, predicates = 30, 6
	pruned := 0
	for seed := range uint64(tables) {
		w := newWhereTable(seed, seed%2 == 0, seed%3 == 0)
		w.fill(120)
		all, allDirs, most := w.plan(t, "")
		for range predicates {
			c := w.condition(2)
			var want []string
			for _, path := range all {
				values := w.attributed(path)
				if len(values) > 0 && !slices.ContainsFunc(values, func(v map[string]any) bool { return c.eval(v) != 1 }) {
					want = append(want, path)
				}
			}
			got, dirs, requests := w.plan(t, c.sql)
			for _, path := range got {
				if !slices.Contains(want, path) {
					t.Errorf("seed %d, %s: %q is in the plan, of %v", seed, c.sql, path, w.attributed(path))
				}
			}
			for _, path := range want {
				if !slices.Contains(got, path) {
					t.Errorf("seed %d, %s: %q isn't in the plan, of %v", seed, c.sql, path, w.attributed(path))
				}
			}
			for _, d := range dirs {
				if !slices.Contains(allDirs, d) {
					t.Errorf("seed %d, %s: directory %q isn't empty", seed, c.sql, d)
				}
			}
			if requests > most {
				t.Errorf("seed %d, %s: %d list requests, %d without", seed, c.sql, requests, most)
			}
			if requests < most {
				pruned++
			}
		}
	}
	if pruned < tables*predicates/4 {
		t.Errorf("only %d of %d predicates spared list requests", pruned, tables*predicates)
	}
}

// One partition of 48 takes at most a 24th of the list requests of the whole
// table, on whatever level and in whatever words the predicate names it.
func TestOnePartitionOfManyListsLittle(t *testing.T) {
	w := &whereTable{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	traits := mem.Default()
	traits.Flat, traits.PageSize = true, 50
	w.st = mem.New(mem.Options{Traits: traits, Now: func() time.Time { return w.now }})
	l := deltatest.New(t, deltatest.Mem(w.st)).Partition("day", "hour")
	at := w.now.AddDate(0, 0, -30)
	var adds []deltatest.Action
	for p := range 48 {
		for f := range 500 {
			name := fmt.Sprintf("day=%02d/hour=%02d/f%03d", p/24, p%24, f)
			l.Data(name, 9, at)
			if f%10 > 0 { // every tenth is dead
				adds = append(adds, deltatest.NewAdd(name, 9))
			}
		}
	}
	l.Commit(at, adds...)
	_, _, whole := w.plan(t, "")
	for where, share := range map[string]int64{
		"day = '01' AND hour = '07'":                       24,
		"concat(day, '-', hour) = '01-07'":                 24,
		"hour IN ('07') AND NOT day < '01'":                24,
		"hour = '07'":                                      16, // two of 48
		"day = '00' AND hour = '03' OR day||hour = '0120'": 16,
		"day = '01'":                                       1,
		"day = '02'":                                       24,
	} {
		dead, _, requests := w.plan(t, where)
		if requests*share > whole {
			t.Errorf("%s: %d list requests of %d", where, requests, whole)
		}
		if len(dead)%50 != 0 || (len(dead) == 0) != (where == "day = '02'") {
			t.Errorf("%s: %d dead", where, len(dead))
		}
		t.Logf("%s: %d of %d list requests, %d dead", where, requests, whole, len(dead))
	}
}
