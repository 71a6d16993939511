package predicate_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/predicate"
)

var small = predicate.Schema{Partition: columns("y", "string", "m", "string", "n", "integer", "d", "date")}

// domains are the values that the columns of small may have; "\x00" is NULL.
var domains = [][]string{{"\x00", "2022", "2023", "20", "x"}, {"\x00", "1", "07", "12", "2-01"}, {"\x00", "1", "7", "-3"}, {"\x00", "2023-07-01", "2022-12-31"}}

// condition draws a predicate on small.
func condition(t *rapid.T, depth int) string {
	pick := func(from ...string) string { return rapid.SampledFrom(from).Draw(t, "part") }
	text := func() string {
		return pick("y", "m", "y||m", "concat(y, '-', m)", "concat_ws('-', y, m, n)", "concat_ws('', y, m)", "lower(y||m)", "'2023'", "'202307'", "'2023-07'", "NULL", "y||NULL", "CAST(n AS string)", "y||n||m", "concat_ws(m, y, y)", "concat_ws('-', NULL, y)")
	}
	date := func() string {
		return pick("d", "DATE '2023-07-01'", "to_date(y||'-'||m)", "to_date(concat_ws('-', y, m, n))", "CAST(y AS date)", "to_date(concat(y, '-', m, '-', n))", "date(concat_ws('-', y, m))", "to_date(y||'-'||m, 'yyyy-MM')", "to_date(concat(y, m, n), 'yyyyMMd')", "to_date(y||m, 'yyyyMM')", "to_date(m||y, 'MMyyyy')", "to_date(y||'-'||m, 'yyyy-M-dd')")
	}
	number := func() string { return pick("n", "1", "7", "CAST(m AS int)", "n + 1", "length(y||m)") }
	op := func() string { return pick(" = ", " <> ", " < ", " <= ", " > ", " >= ", " <=> ") }
	not := func() string { return pick("", " NOT") }
	if depth > 0 && rapid.Bool().Draw(t, "deeper") {
		one := condition(t, depth-1)
		switch pick("and", "or", "not", "case", "null", "coalesce", "in") {
		case "and":
			return "(" + one + ") AND (" + condition(t, depth-1) + ")"
		case "or":
			return "(" + one + ") OR (" + condition(t, depth-1) + ")"
		case "case":
			return "CASE WHEN " + one + " THEN " + condition(t, depth-1) + " ELSE " + condition(t, depth-1) + " END"
		case "null":
			return "(" + one + ") IS" + not() + " NULL"
		case "coalesce":
			return "coalesce(" + one + ", " + pick("true", "false", "NULL") + ")"
		case "in":
			return "(" + one + ")" + not() + " IN (true, NULL)"
		}
		return "NOT (" + one + ")"
	}
	switch pick("text", "date", "number", "in", "like", "between", "isnull", "starts") {
	case "date":
		return date() + op() + date()
	case "number":
		return number() + op() + number()
	case "in":
		return text() + not() + " IN (" + text() + ", " + text() + ")"
	case "like":
		return text() + not() + " LIKE " + pick("'2023%'", "'2_2%'", "'%7'", "'2023-07'", `'20\%%'`)
	case "between":
		return text() + not() + " BETWEEN " + text() + " AND " + text()
	case "isnull":
		return pick(text(), date(), number()) + " IS" + not() + " NULL"
	case "starts":
		return pick("startswith", "endswith", "contains") + "(" + text() + ", " + text() + ")"
	}
	return text() + op() + text()
}

// MayMatch is true wherever some completion of the known values matches.
func TestMayMatchIsSound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := condition(t, 2)
		p, err := predicate.Compile(text, small, predicate.Options{Now: noon})
		if err != nil {
			t.Skip(err)
		}
		known := make([]bool, len(domains))
		for i := range known {
			known[i] = rapid.Bool().Draw(t, "known")
		}
		var walk func(i int, full, partial lake.Partition)
		walk = func(i int, full, partial lake.Partition) {
			if i == len(domains) {
				if p.Match(full) == predicate.True && !p.MayMatch(partial) {
					t.Fatalf("%s matches %v, but MayMatch(%v) is false", text, full, partial)
				}
				return
			}
			for _, s := range domains[i] {
				v := lake.PartitionValue{Column: small.Partition[i].Name, Value: strings.Trim(s, "\x00"), Null: s == "\x00"}
				next := partial
				if known[i] {
					next = append(partial[:len(partial):len(partial)], v)
				}
				walk(i+1, append(full[:len(full):len(full)], v), next)
			}
		}
		walk(0, nil, nil)
	})
}

// With all columns known, MayMatch says what Match says.
func TestMayMatchIsExactOnWholePartitions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := condition(t, 2)
		p, err := predicate.Compile(text, small, predicate.Options{Now: noon})
		if err != nil {
			t.Skip(err)
		}
		var full lake.Partition
		for i, d := range domains {
			s := rapid.SampledFrom(d).Draw(t, "value")
			full = append(full, lake.PartitionValue{Column: small.Partition[i].Name, Value: strings.Trim(s, "\x00"), Null: s == "\x00"})
		}
		if got := p.Match(full); got != predicate.Unknown && p.MayMatch(full) != (got == predicate.True) {
			t.Fatalf("%s on %v: Match %v, MayMatch %v", text, full, got, p.MayMatch(full))
		}
	})
}

// NOT turns true and false round and leaves the rest.
func TestNotIsSymmetric(t *testing.T) {
	opposite := map[predicate.Tri]predicate.Tri{predicate.True: predicate.False, predicate.False: predicate.True, predicate.Null: predicate.Null, predicate.Unknown: predicate.Unknown}
	rapid.Check(t, func(t *rapid.T) {
		text := condition(t, 2)
		p, err := predicate.Compile(text, small, predicate.Options{Now: noon})
		if err != nil {
			t.Skip(err)
		}
		q, err := predicate.Compile("NOT ("+text+")", small, predicate.Options{Now: noon})
		if err != nil {
			t.Fatal(err)
		}
		var full lake.Partition
		for i, d := range domains {
			s := rapid.SampledFrom(d).Draw(t, "value")
			full = append(full, lake.PartitionValue{Column: small.Partition[i].Name, Value: strings.Trim(s, "\x00"), Null: s == "\x00"})
		}
		if got := q.Match(full); got != opposite[p.Match(full)] {
			t.Fatalf("%s on %v: %v, negated %v", text, full, p.Match(full), got)
		}
	})
}

func FuzzCompile(f *testing.F) {
	for _, s := range []string{
		"s||t >= '202307' AND NOT d = DATE '2024-01-01'", "CASE i WHEN 1 THEN b ELSE false END", "CAST(dc AS decimal(38,10)) % 3 <=> 1e3",
		"s LIKE 'a#_%' ESCAPE '#' OR s RLIKE r'^\\d+$'", "i IN (1, '2', NULL, 3L, 4BD)", "date_trunc('week', ts) < tn", "to_timestamp(s, 'yyyy-M-d H') IS NULL",
		"d + 1 BETWEEN '2024-1-1' AND current_date", "-(-l) / 0 > ty * 1.5", "concat_ws(s, bi, X'FF') = lpad(t, 5, s)", "substr(s, -3, 2) = replace(s, t)",
	} {
		f.Add(s, "2024-02-29", "7")
	}
	f.Fuzz(func(t *testing.T, text, a, b string) {
		p, err := predicate.Compile(text, all, predicate.Options{Now: noon})
		if err != nil {
			if lake.KindOf(err) != lake.Invalid || lake.HintOf(err) == "" {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		var full lake.Partition
		for i, c := range all.Partition {
			full = append(full, lake.PartitionValue{Column: c.Name, Value: []string{a, b}[i%2]})
		}
		if got := p.Match(full); got == predicate.True && !p.MayMatch(full) {
			t.Fatalf("%q matches %v, but MayMatch is false", text, full)
		}
		if !p.MayMatch(nil) && p.Match(full) == predicate.True {
			t.Fatalf("%q matches %v, but MayMatch(nil) is false", text, full)
		}
	})
}

func FuzzFromPath(f *testing.F) {
	f.Add("y=2023/m=%2F/n=7/d=2023-07-01/f", "y = '2023' AND m = '/'")
	f.Add("y=/m=__HIVE_DEFAULT_PARTITION__/n=1/d=2023-07-01/f", "y IS NULL")
	f.Fuzz(func(t *testing.T, path, text string) {
		p, err := predicate.Compile(text, small, predicate.Options{})
		if err != nil {
			return
		}
		values, ok := predicate.FromPath(lake.Key(path), small)
		if !ok || p.Match(values) != predicate.True {
			return
		}
		for dir := lake.Key(path).Dir(); dir != ""; dir = dir.Dir() {
			if partial, ok := predicate.FromDir(dir, small); !ok || !p.MayMatch(partial) {
				t.Fatalf("%q is pruned at %q although it matches %s", path, dir, text)
			}
		}
	})
}
