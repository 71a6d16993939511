package predicate_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/predicate"
)

// all has a column of every type.
var all = predicate.Schema{
	Partition: columns("s", "string", "t", "string", "ty", "byte", "sh", "short", "i", "integer", "l", "long", "f", "float", "db", "double",
		"dc", "decimal(10,2)", "b", "boolean", "d", "date", "ts", "timestamp", "tn", "timestamp_ntz", "bi", "binary", "odd", "struct<a:int>"),
	Other: []string{"id", "Payload"},
}

var noon = time.Date(2024, 3, 10, 12, 0, 0, 0, time.UTC)

func compile(t *testing.T, text string) *predicate.Predicate {
	t.Helper()
	p, err := predicate.Compile(text, all, predicate.Options{Now: noon})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return p
}

// values reads "column=text, column" pairs; a column alone is NULL.
func values(text string) lake.Partition {
	var out lake.Partition
	for pair := range strings.SplitSeq(text, ", ") {
		name, value, ok := strings.Cut(pair, "=")
		out = append(out, lake.PartitionValue{Column: name, Value: value, Null: !ok})
	}
	return out
}

func TestMatch(t *testing.T) {
	cases := []struct {
		values, predicate string
		want              predicate.Tri
	}{
		// three-valued logic
		{"s", "s = 'a'", predicate.Null},
		{"s", "s <> 'a'", predicate.Null},
		{"s", "NOT (s = 'a')", predicate.Null},
		{"s", "s = 'a' OR true", predicate.True},
		{"s", "s = 'a' AND false", predicate.False},
		{"s", "s IS NULL", predicate.True},
		{"s=", "s IS NULL", predicate.True},
		{"s=", "s = ''", predicate.Null},
		{"s", "s <=> NULL", predicate.True},
		{"s=a", "s <=> NULL", predicate.False},
		{"s=a", "s IN ('b', NULL)", predicate.Null},
		{"s=a", "s NOT IN ('b', NULL)", predicate.Null},
		{"s=a", "s IN ('a', NULL)", predicate.True},
		{"s=a", "NULL", predicate.Null},
		{"s=a", "CASE WHEN s = 'b' THEN true END", predicate.Null},
		// precedence
		{"i=7", "NOT i = 8 AND i = 7", predicate.True},
		{"i=7", "i = 1 OR i = 7 AND false", predicate.False},
		{"i=7", "i + 2 * 3 = 13", predicate.True},
		{"i=7", "-i + 1 = -6", predicate.True},
		{"s=a, t=b", "s || t = 'a' || 'b'", predicate.True},
		{"i=7", "i BETWEEN 1 AND 7 AND i > 6", predicate.True},
		{"i=7", "i = 7 IS NOT NULL", predicate.True},
		{"i=7", "! (i == 7)", predicate.False},
		// strings
		{"s=2023, t=07", "s||t >= '202307'", predicate.True},
		{"s=2023, t=06", "s||t >= '202307'", predicate.False},
		{"s=Я", "s > 'z'", predicate.True},
		{"s=50%", `s LIKE '50\%'`, predicate.True},
		{"s=50x", `s LIKE '50\%'`, predicate.False},
		{"s=a%b", "s LIKE 'a#%b' ESCAPE '#'", predicate.True},
		{"s=a\nb", "s LIKE 'a_b'", predicate.True},
		{"s=Ab1", `s RLIKE '^[A-Z][a-z]\\d$'`, predicate.True},
		{"s=a\nb", "s RLIKE 'a.b'", predicate.Unknown},
		{"s=straße", "upper(s) = 'STRASSE'", predicate.True},
		{"s=abc", "substring(s, -2, 1) = 'b'", predicate.True},
		{"s=7", "lpad(s, 2, '0') = '07'", predicate.True},
		{"s=a, t", "concat_ws('-', s, t, 'c') = 'a-c'", predicate.True},
		{"s=a, t", "concat(s, t) IS NULL", predicate.True},
		{"s= a ", "trim(s) = 'a'", predicate.True},
		{"s", "coalesce(s, 'none') = 'none'", predicate.True},
		{"s=aa", "length(replace(replace(replace(replace(s, 'a', lpad('', 9999, 'a')), 'a', lpad('', 9999, 'a')), 'a', 'b'), 'b', 'c')) > 0", predicate.Unknown},
		// implicit casts
		{"s=07", "s = 7", predicate.True},
		{"s=x", "s = 7", predicate.Null},
		{"s=07", "s IN (7)", predicate.False},
		{"i=7", "i = '7'", predicate.True},
		{"dc=1.50", "dc = 1.5", predicate.True},
		{"dc=1.50", "dc = '1.5'", predicate.True},
		{"dc=1.50", "dc > 1", predicate.True},
		{"d=2024-02-29", "d = '2024-2-29'", predicate.True},
		{"d=2024-02-29", "d < current_date", predicate.True},
		{"d=2024-03-10", "d = current_date() AND current_timestamp > d", predicate.True},
		{"ts=2024-02-29 00:00:00", "ts = DATE '2024-02-29'", predicate.True},
		{"bi=AB", "bi = X'4142' AND bi = 'AB'", predicate.True},
		{"b=true", "b = 'yes'", predicate.True},
		// numbers
		{"db=NaN", "db > 1e308 AND db = db AND isnan(db)", predicate.True},
		{"db=-0.0", "db = 0", predicate.True},
		{"i=7", "i / 2 = 3.5 AND i % 4 = 3", predicate.True},
		{"i=7", "i / 0 IS NULL", predicate.True},
		{"i=2147483647", "i + 1 < 0", predicate.Unknown},
		{"l=9223372036854775807", "l * 2 IS NULL", predicate.Unknown},
		{"l=3000000000", "CAST(l AS int) > 0", predicate.Unknown},
		{"dc=99999999.99", "CAST(dc * dc AS decimal(5,0)) IS NULL", predicate.True},
		// dates and times
		{"d=2024-02-29", "year(d) = 2024 AND month(d) = 2 AND day(d) = 29", predicate.True},
		{"d=2024-02-29", "d + 1 = '2024-03-01' AND date_sub(d, 1) = '2024-02-28'", predicate.True},
		{"d=2024-02-29", "datediff('2024-03-10', d) = 10", predicate.True},
		{"d=2024-02-29", "trunc(d, 'MM') = '2024-02-01' AND trunc(d, 'week') = '2024-02-26'", predicate.True},
		{"ts=2024-02-29T10:00:00.000001Z", "hour(ts) = 10 AND date_trunc('DAY', ts) = date(ts)", predicate.True},
		{"ts=2024-02-29 10:00:00", "date_format(ts, 'yyyyMMdd-HH') = '20240229-10'", predicate.True},
		{"s=20240229", "to_date(s, 'yyyyMMdd') = DATE '2024-02-29'", predicate.True},
		{"s=2024-02-30", "to_date(s) IS NULL", predicate.True},
		{"tn=2024-02-29 10:00:00", "tn = TIMESTAMP_NTZ '2024-02-29 10:00:00'", predicate.True},
		// what isn't known
		{"t=a", "s = 'a'", predicate.Unknown},
		{"i=1.5", "i = 1", predicate.Unknown},
		{"i= 1", "i = 1", predicate.Unknown},
		{"ty=128", "ty IS NOT NULL", predicate.Unknown},
		{"d=2024", "d IS NOT NULL", predicate.Unknown},
		{"d=2024-01-01T10", "d IS NOT NULL", predicate.Unknown},
		{"dc=1.505", "dc IS NOT NULL", predicate.Unknown},
		{"b=yes", "b", predicate.Unknown},
		{"ts=10:00:00", "ts IS NOT NULL", predicate.Unknown},
		{"tn=2024-01-01T00:00:00Z", "tn IS NOT NULL", predicate.Unknown},
		{"s=\xff", "s IS NOT NULL", predicate.Unknown},
		{"s=a, s=b", "s = 'a'", predicate.Unknown},
		{"i=x, s=a", "s = 'a'", predicate.True},
		// names
		{"s=a", "S = 'a' AND `s` = 'a'", predicate.True},
	}
	for _, c := range cases {
		if got := compile(t, c.predicate).Match(values(c.values)); got != c.want {
			t.Errorf("%s with %q: got %v, want %v", c.predicate, c.values, got, c.want)
		}
	}
}

// The session's zone places timestamps without a zone and cuts days.
func TestZone(t *testing.T) {
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Skip("no time zones here: ", err)
	}
	for text, want := range map[string]predicate.Tri{
		"ts = TIMESTAMP '2024-03-09 19:00:00'":                          predicate.True,
		"ts = TIMESTAMP '2024-03-10 00:00:00Z'":                         predicate.True,
		"date(ts) = '2024-03-09'":                                       predicate.True,
		"hour(ts) = 19":                                                 predicate.True,
		"current_date = '2024-03-10'":                                   predicate.True,
		"TIMESTAMP '2024-03-10 02:30:00' = '2024-03-10 03:30:00'":       predicate.True, // the hour that summer time skips
		"TIMESTAMP '2024-11-03 01:30:00' = '2024-11-03 01:30:00-04:00'": predicate.True, // the hour that comes twice: the first
	} {
		p, err := predicate.Compile(text, all, predicate.Options{Now: noon, Zone: zone})
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Match(values("ts=2024-03-10T00:00:00Z")); got != want {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
	}
}

func TestCompileErrors(t *testing.T) {
	cases := []struct{ predicate, message, caret string }{
		{"s = ", "ends here", "    ^"},
		{"id = 1", `predicate references non-partition column "id"`, "^"},
		{"s = 'a' AND payload > 3", `predicate references non-partition column "payload"`, "            ^"},
		{"nosuch = 1", "doesn't have", "^"},
		{"`current_date` = s", "doesn't have", "^"},
		{"odd IS NULL", "can't read", "^"},
		{"s IN (SELECT 1)", "subqueries", "      ^"},
		{"EXISTS (SELECT 1)", "subqueries", "^"},
		{"s = (SELECT 1)", "subqueries", "     ^"},
		{"i > max(i)", "aggregates", "    ^"},
		{"count(*) > 1", "aggregates", "^"},
		{"rand() > 0.5", "from call to call", "^"},
		{"row_number() > 1", "window", "^"},
		{"frobnicate(s)", "unknown function", "^"},
		{"b < 1", "can't compare boolean with int", "  ^"},
		{"d = 7", "can't compare date with int", "  ^"},
		{"i", "must be true or false", "^"},
		{"s AND b", "must be true or false", "^"},
		{"d = '2024-13-01'", "is no date", "    ^"},
		{"i = '7.5'", "is no int", "    ^"},
		{"i IN ('07')", "isn't how a int is written", "      ^"},
		{"s = 'a' GROUP BY s", "expected an operator", "        ^"},
		{"s = 'a", "no partner", "    ^"},
		{"(s = 'a'", "to close the parenthesis", "        ^"},
		{"s LIKE 'a\\\\b'", "escape character", "       ^"},
		{"s LIKE t", "can't depend on a column", "       ^"},
		{"s RLIKE '(?=a)'", "(?", "        ^"},
		{"s RLIKE '(a'", "missing closing", "        ^"},
		{"s RLIKE r'\\bx'", "not supported", "        ^"},
		{"date_format(d, 'EEEE') = 'x'", "not supported in a date pattern", "               ^"},
		{"d > current_date - INTERVAL 7 DAYS", "intervals", "                   ^"},
		{"CAST(s AS array) IS NULL", "is no type", "          ^"},
		{"CAST(d AS int) > 1", "can't cast date to int", "^"},
		{"a.b = 1", "followed by a dot", "^"},
		{"s = NOT b", "binds less tightly", "    ^"},
		{"lower(s, t) = 'a'", "doesn't take 2", "^"},
		{"", "is empty", "^"},
		{"s = 'x'\n  AND id = 2", "non-partition", "      ^"},
		{strings.Repeat("(", 1000) + "s", "levels deep", "^"},
	}
	for _, c := range cases {
		_, err := predicate.Compile(c.predicate, all, predicate.Options{})
		if err == nil {
			t.Errorf("%s: compiled", c.predicate)
			continue
		}
		lines := strings.Split(err.Error(), "\n")
		caret := strings.TrimPrefix(lines[len(lines)-1], "  ")
		if lake.KindOf(err) != lake.Invalid || !strings.Contains(err.Error(), c.message) || caret != c.caret && len(c.predicate) < 100 {
			t.Errorf("%s: got %v", c.predicate, err)
		}
		if !strings.Contains(lake.HintOf(err), "Partition columns: s (string), t (string)") {
			t.Errorf("%s: the hint %q doesn't name the columns", c.predicate, lake.HintOf(err))
		}
	}
}

func TestCompileUnpartitioned(t *testing.T) {
	for _, s := range []predicate.Schema{{Other: []string{"id"}}, {Other: []string{"id"}, Clustered: true}} {
		_, err := predicate.Compile("id = 1", s, predicate.Options{})
		if lake.KindOf(err) != lake.Invalid || !strings.Contains(err.Error(), "only supports partitioned tables") {
			t.Errorf("clustered %v: got %v", s.Clustered, err)
		}
		if clustered := strings.Contains(lake.HintOf(err), "clustered"); clustered != s.Clustered {
			t.Errorf("clustered %v: the hint is %q", s.Clustered, lake.HintOf(err))
		}
	}
}

func TestColumns(t *testing.T) {
	p := compile(t, "  d IS NULL OR (S = 'a' AND d > '2024-01-01')  ")
	if got := strings.Join(p.Columns(), " "); got != "s d" {
		t.Errorf("got %q", got)
	}
	if got := p.String(); got != "d IS NULL OR (S = 'a' AND d > '2024-01-01')" {
		t.Errorf("got %q", got)
	}
}

func TestFromPath(t *testing.T) {
	s := predicate.Schema{Partition: []predicate.Column{{Name: "Region", Physical: "col-1", Type: "string"}, {Name: "n", Type: "integer"}}}
	null := "\x00"
	cases := map[string][]string{ // values in the table's order; nil is unknown
		"col-1=eu/n=1/f":                        {"eu", "1"},
		"n=1/x/col-1=eu/f":                      {"eu", "1"},
		"a=b/col-1=eu/n=1/f":                    {"eu", "1"},
		"col-1=a%2Fb/n=-7/f":                    {"a/b", "-7"},
		"col-1=a%252Fb/n=1/f":                   {"a%2Fb", "1"},
		"col-1=50%/n=1/f":                       {"50%", "1"},
		"col-1=%D0%AF/n=1/f":                    {"Я", "1"},
		"col%2D1=x=y/n=1/f":                     {"x=y", "1"},
		"col-1=/n=__HIVE_DEFAULT_PARTITION__/f": {null, null},
		"Region=eu/n=1/f":                       nil,
		"col-1=eu/f":                            nil,
		"col-1=eu/n=x/f":                        nil,
		"col-1=eu/n=1.0/f":                      nil,
		"col-1=eu/n=1/n=1/f":                    nil,
		"col-1=%4/n=1/f":                        nil,
		"col-1=%FF/n=1/f":                       nil,
		"COL-1=eu/n=1/f":                        nil,
		"col-1=eu/n=1":                          nil,
		"f":                                     nil,
	}
	for path, want := range cases {
		got, ok := predicate.FromPath(lake.Key(path), s)
		if ok != (want != nil) {
			t.Errorf("%s: known is %v, want %v", path, ok, want)
			continue
		}
		for i := range want {
			v := got[i]
			if v.Column != s.Partition[i].Name || v.Null != (want[i] == null) || !v.Null && v.Value != want[i] {
				t.Errorf("%s: got %+v, want %q", path, v, want[i])
			}
		}
	}
}

func TestMayMatch(t *testing.T) {
	s := predicate.Schema{Partition: columns("year", "string", "month", "string", "day", "string", "n", "integer")}
	cases := []struct {
		predicate, dir string
		want           bool
	}{
		{"year||month >= '202307'", "year=2022", false},
		{"year||month >= '202307'", "year=2023", true},
		{"year||month >= '202307'", "year=2023/month=06", false},
		{"year||month||day < '20230201'", "year=2023/month=03", false},
		{"year||month||day < '20230201'", "year=2024", false},
		{"to_date(year||'-'||month||'-'||day) >= date'2023-07-26'", "year=2022", false},
		{"to_date(year||'-'||month||'-'||day) >= date'2023-07-26'", "year=2023/month=06", false},
		{"to_date(year||'-'||month||'-'||day) >= date'2023-07-26'", "year=2023/month=07", true},
		{"to_date(concat_ws('-', year, month, day)) < '2023-07-02'", "year=2024", false},
		{"to_date(concat_ws('-', year, month, day)) < '2023-07-02'", "year=2023/month=08", false},
		{"to_date(concat_ws('-', year, month, day)) BETWEEN '2023-07-01' AND '2023-07-31'", "year=2023", true},
		{"to_date(concat(year, month, day), 'yyyyMMdd') >= '2023-07-26'", "year=2022", false},
		{"to_date(concat(year, month, day), 'yyyyMMdd') >= '2023-07-26'", "year=2023/month=06", false},
		{"to_date(concat(year, month, day), 'yyyyMMdd') >= '2023-07-26'", "year=2023/month=07", true},
		{"concat(year, month) IN ('202301', '202302')", "year=2022", false},
		{"concat(year, month) LIKE '2023%'", "year=2022", false},
		{"concat(year, month) LIKE '2023%'", "year=2023", true},
		{"startswith(concat(year, month), '2023')", "year=2022", false},
		{"year = '2023' AND month = '07'", "year=2022", false},
		{"year = '2023' AND month = '07'", "year=2023", true},
		{"year = '2023' OR month = '07'", "year=2022", true},
		{"year = '2023' OR month = '07'", "year=2022/month=06", false},
		{"month = '07'", "year=2022", true},
		{"day = '01' AND NOT month = '07'", "month=07", false},
		{"year IS NULL", "year=2022", false},
		{"year = '2022'", "year=__HIVE_DEFAULT_PARTITION__", false},
		{"n = 1", "n=x", false},
		{"n = 1", "n=1/n=1", false},
		{"n = 1", "", true},
		{"false", "", false},
	}
	for _, c := range cases {
		p, err := predicate.Compile(c.predicate, s, predicate.Options{})
		if err != nil {
			t.Fatal(err)
		}
		partial, ok := predicate.FromDir(lake.Key(c.dir), s)
		if got := ok && p.MayMatch(partial); got != c.want {
			t.Errorf("%s below %q: got %v, want %v", c.predicate, c.dir, got, c.want)
		}
	}
}
