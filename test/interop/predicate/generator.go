package main

import (
	"math/rand/v2"
	"strings"

	"github.com/lakesweep/lakesweep/lake/predicate"
)

// generator makes random Spark SQL.
type generator struct{ r *rand.Rand }

func (g generator) chance(percent int) bool { return g.r.IntN(100) < percent }

func (g generator) pick(from []string) string { return from[g.r.IntN(len(from))] }

var (
	texts    = []string{"a", "A", "ab", "abc", "B b", "zz", "50%", "a_b", "x-1", "Я", "straße", "é", "2024-02-29", "7", " pad ", "true", "a.b"}
	numbers  = []string{"0", "1", "-1", "7", "08", "12", "100", "-5", "1.5", "abc", "2023", "1e2", "+3", "."}
	days     = []string{"2024-02-29", "2023-12-31", "1969-12-31", "2024-01-01", "2024-03-10", "2024-11-03", "1970-01-01", "2000-02-29"}
	dayTexts = append([]string{"2024-2-9", "2024-13-01", "2023-02-29", "2024", "2024-05", "20240229", "x"}, days...)
	stamps   = []string{"2024-02-29 23:59:59.123456", "2023-12-31 00:00:00", "1969-12-31 12:00:00", "2024-03-10 02:30:00", "2024-11-03 01:30:00",
		"2024-01-01 00:00:00.5", "1970-01-01 00:00:00", "2024-07-01 13:05:09"}
	doubles = []string{"0.0", "-0.0", "1.5", "-1.0E10", "NaN", "Infinity", "-Infinity", "0.1", "2.0", "1.0E-5", "123456.75", "7.0"}
)

// texts4 are the values that a column may have.
func texts4(c predicate.Column) []string {
	switch c.Name {
	case "num":
		return numbers
	case "ds":
		return dayTexts
	}
	switch c.Type {
	case "string":
		return texts
	case "byte":
		return []string{"0", "1", "-1", "7", "127", "-128"}
	case "short":
		return []string{"0", "1", "-1", "7", "300", "32767"}
	case "integer":
		return []string{"0", "1", "-1", "7", "12", "2023", "100000", "-5"}
	case "long":
		return []string{"0", "1", "-1", "7", "3000000000", "20230701"}
	case "float":
		return []string{"0.0", "1.5", "-2.25", "NaN", "7.0", "0.1"}
	case "double":
		return doubles
	case "decimal(10,2)":
		return []string{"0.00", "1.50", "-12.30", "99999999.99", "7.00", "0.10"}
	case "decimal(20,5)":
		return []string{"0.00000", "1.50000", "123456789012345.12345", "-7.00001", "0.10000"}
	case "boolean":
		return []string{"true", "false"}
	case "date":
		return days
	case "binary":
		return []string{"A", "AB", "a", "Я"}
	}
	return stamps
}

// columnsOf are the columns of each family of types.
var columnsOf = map[string][]string{
	"string": {"s", "s2", "num", "ds"}, "int": {"ty", "sh", "i", "l", "i"}, "float": {"f", "db"}, "decimal": {"dc", "dw"},
	"boolean": {"bo"}, "date": {"dt"}, "timestamp": {"ts", "tn", "ts"}, "binary": {"bi"},
}

var families = []string{"string", "string", "int", "int", "float", "decimal", "boolean", "date", "timestamp", "binary"}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `\'`) + "'" }

func (g generator) literal(family string) string {
	switch family {
	case "string":
		switch {
		case g.chance(25):
			return quote(g.pick(numbers))
		case g.chance(25):
			return quote(g.pick(dayTexts))
		}
		return quote(g.pick(texts))
	case "int":
		return g.pick([]string{"0", "1", "-1", "7", "12", "2023", "3000000000", "5L", "2S", "3Y", "100"})
	case "float":
		return g.pick([]string{"1.5D", "0.1D", "1e3", "-2.25F", "0.5F", "7D", "0D"})
	case "decimal":
		return g.pick([]string{"1.5", "0.10", "-12.3", "7.00", "123.456", "1BD", ".5", "99999999.99"})
	case "boolean":
		return g.pick([]string{"true", "false"})
	case "date":
		return "DATE " + quote(g.pick(days))
	case "binary":
		return g.pick([]string{"X'41'", "X'4142'", "X''", "X'D0AF'"})
	}
	return g.pick([]string{"TIMESTAMP ", "TIMESTAMP ", "TIMESTAMP_NTZ "}) + quote(g.pick(stamps))
}

// value makes an expression of a family of types.
func (g generator) value(family string, depth int) string {
	if depth <= 0 || g.chance(35) {
		switch {
		case g.chance(4):
			return "NULL"
		case g.chance(60):
			return g.pick(columnsOf[family])
		}
		return g.literal(family)
	}
	depth--
	same := func() string { return g.value(family, depth) }
	number := func() string { return g.value(g.pick([]string{"int", "int", "float", "decimal"}), depth) }
	if g.chance(20) {
		return g.general(family, depth)
	}
	switch family {
	case "string":
		return g.text(depth)
	case "int":
		return g.integer(depth)
	case "float", "decimal":
		op := g.pick([]string{" + ", " - ", " * ", " / ", " % "})
		if g.chance(10) {
			return "-(" + same() + ")"
		}
		return "(" + same() + op + number() + ")"
	case "boolean":
		return "(" + g.condition(depth) + ")"
	case "date":
		return g.date(depth)
	case "timestamp":
		return g.stamp(depth)
	}
	return g.pick([]string{"CAST(" + g.value("string", depth) + " AS binary)", "(" + same() + " || " + same() + ")", "substr(" + same() + ", 1, 1)"})
}

// general makes what works for every type.
func (g generator) general(family string, depth int) string {
	same := func() string { return g.value(family, depth) }
	name := map[string][]string{"string": {"string"}, "int": {"int", "bigint", "smallint", "tinyint"}, "float": {"double", "float"}, "decimal": {"decimal(10,2)", "decimal(38,10)", "decimal(5,0)"},
		"boolean": {"boolean"}, "date": {"date"}, "timestamp": {"timestamp", "timestamp_ntz"}, "binary": {"binary"}}[family]
	switch g.r.IntN(4) {
	case 0:
		return "coalesce(" + same() + ", " + same() + ")"
	case 1:
		return "CASE WHEN " + g.condition(depth) + " THEN " + same() + " ELSE " + same() + " END"
	case 2:
		other := g.pick(families)
		return "CASE " + g.value(other, depth) + " WHEN " + g.value(other, depth) + " THEN " + same() + " END"
	}
	return "CAST(" + g.value(g.pick(families), depth) + " AS " + g.pick(name) + ")"
}

func (g generator) text(depth int) string {
	s := func() string { return g.value("string", depth) }
	any := func() string { return g.value(g.pick(families), depth) }
	small := func() string { return g.pick([]string{"0", "1", "2", "-1", "-3", "3", "i"}) }
	switch g.r.IntN(10) {
	case 0:
		return "(" + any() + " || " + any() + ")"
	case 1:
		return "concat(" + s() + ", " + any() + ", " + s() + ")"
	case 2:
		return "concat_ws(" + g.pick([]string{"'-'", "s", "''"}) + ", " + any() + ", " + s() + ")"
	case 3:
		return g.pick([]string{"lower", "upper", "trim"}) + "(" + any() + ")"
	case 4:
		return g.pick([]string{"substr", "substring"}) + "(" + any() + ", " + small() + ", " + small() + ")"
	case 5:
		return "substr(" + s() + ", " + small() + ")"
	case 6:
		return "lpad(" + any() + ", " + g.pick([]string{"0", "2", "5", "-1"}) + ", " + g.pick([]string{"'0'", "'xy'", "''", "s"}) + ")"
	case 7:
		return "replace(" + s() + ", " + g.pick([]string{"'a'", "'-'", "''", "s2"}) + ", " + g.pick([]string{"'b'", "''", "s"}) + ")"
	case 8:
		return "date_format(" + g.value(g.pick([]string{"date", "timestamp"}), depth) + ", " +
			g.pick([]string{"'yyyy-MM-dd'", "'yyyyMM'", "'yy/M/d H:m:s'", "\"yyyy-MM-dd'T'HH:mm:ss.SSS\"", "'yyyy.MM.dd HH'"}) + ")"
	}
	return "CAST(" + any() + " AS string)"
}

func (g generator) integer(depth int) string {
	n := func() string { return g.value("int", depth) }
	day := func() string { return g.value(g.pick([]string{"date", "timestamp", "string"}), depth) }
	switch g.r.IntN(7) {
	case 0:
		return "length(" + g.value(g.pick([]string{"string", "binary", "int"}), depth) + ")"
	case 1:
		return g.pick([]string{"year", "month", "day"}) + "(" + day() + ")"
	case 2:
		return "hour(" + day() + ")"
	case 3:
		return "datediff(" + day() + ", " + day() + ")"
	case 4:
		return "-(" + n() + ")"
	}
	return "(" + n() + g.pick([]string{" + ", " - ", " * ", " % ", " / "}) + g.value(g.pick([]string{"int", "int", "string", "decimal"}), depth) + ")"
}

func (g generator) date(depth int) string {
	day := func() string { return g.value(g.pick([]string{"date", "date", "timestamp", "string"}), depth) }
	small := func() string { return g.pick([]string{"0", "1", "-7", "31", "i", "ty"}) }
	switch g.r.IntN(6) {
	case 0:
		return g.pick([]string{"date_add", "date_sub"}) + "(" + day() + ", " + small() + ")"
	case 1:
		return "trunc(" + day() + ", " + g.pick([]string{"'MM'", "'year'", "'week'", "'QUARTER'", "'mon'"}) + ")"
	case 2:
		return "to_date(" + day() + ")"
	case 3:
		return "to_date(" + g.value("string", depth) + ", " + g.pick([]string{"'yyyy-MM-dd'", "'yyyyMMdd'", "'yyyy-M-d'", "'yyyy'", "'yyyy-MM'"}) + ")"
	case 4:
		return "date(" + day() + ")"
	}
	return "(" + g.value("date", depth) + g.pick([]string{" + ", " - "}) + small() + ")"
}

func (g generator) stamp(depth int) string {
	time := func() string { return g.value(g.pick([]string{"date", "timestamp", "timestamp", "string"}), depth) }
	switch g.r.IntN(3) {
	case 0:
		return "date_trunc(" + g.pick([]string{"'HOUR'", "'day'", "'month'", "'minute'", "'second'", "'week'", "'quarter'", "'year'", "'millisecond'"}) + ", " + time() + ")"
	case 1:
		return "to_timestamp(" + time() + ")"
	}
	return "to_timestamp(" + g.value("string", depth) + ", " + g.pick([]string{"'yyyy-MM-dd HH:mm:ss'", "'yyyy-MM-dd'", "'yyyy-M-d H:m:s'"}) + ")"
}

// partners are the families that compare with each.
var partners = map[string][]string{
	"string": {"string", "string", "int", "float", "decimal", "date", "timestamp", "boolean", "binary"}, "int": {"int", "int", "float", "decimal", "string"},
	"float": {"float", "int", "decimal", "string"}, "decimal": {"decimal", "int", "float", "string"}, "boolean": {"boolean", "string"},
	"date": {"date", "date", "timestamp", "string"}, "timestamp": {"timestamp", "date", "string"}, "binary": {"binary", "string"},
}

// condition makes a boolean expression.
func (g generator) condition(depth int) string {
	if depth <= 0 {
		family := g.pick(families)
		return g.pick(columnsOf[family]) + g.compare() + g.literal(g.pick(partners[family]))
	}
	depth--
	family := g.pick(families)
	v := func() string { return g.value(family, depth) }
	w := func() string { return g.value(g.pick(partners[family]), depth) }
	not := g.pick([]string{"", "", " NOT"})
	switch g.r.IntN(13) {
	case 0:
		return "(" + g.condition(depth) + ") " + g.pick([]string{"AND", "OR"}) + " (" + g.condition(depth) + ")"
	case 1:
		return "NOT (" + g.condition(depth) + ")"
	case 2:
		return v() + " IS" + not + " NULL"
	case 3:
		return v() + not + " IN (" + w() + ", " + g.value(family, depth) + ", " + w() + ")"
	case 4:
		return v() + not + " BETWEEN " + w() + " AND " + w()
	case 5:
		return g.value("string", depth) + not + " LIKE " + g.pick([]string{"'a%'", "'%b'", "'_'", "'%5%'", `'50\\%'`, `'50\%'`, "'a#_b' ESCAPE '#'", "'2024-%'", "'%'", "''", "'A'"})
	case 6:
		return g.value("string", depth) + not + " RLIKE " + g.pick([]string{"'^a'", "'b$'", "'[0-9]{2,4}'", `r'^\d+$'`, "'a|Я'", `r'\s'`, `r'\p{L}+'`, "'^[^a-z]*$'", "''"})
	case 7:
		return g.pick([]string{"contains", "startswith", "endswith"}) + "(" + g.value("string", depth) + ", " + g.value(g.pick([]string{"string", "int"}), depth) + ")"
	case 8:
		return g.pick([]string{"isnull", "isnotnull"}) + "(" + v() + ")"
	case 9:
		return "isnan(" + g.value(g.pick([]string{"float", "int", "decimal"}), depth) + ")"
	}
	return v() + g.compare() + w()
}

func (g generator) compare() string {
	return g.pick([]string{" = ", " = ", " <> ", " < ", " <= ", " > ", " >= ", " <=> ", " != "})
}
