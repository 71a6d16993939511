package vacuumsql

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lakesweep/lakesweep/lake"
)

func hours(h float64) *time.Duration {
	d := time.Duration(h * float64(time.Hour)).Truncate(time.Millisecond)
	return &d
}

func TestParse(t *testing.T) {
	cases := map[string]Statement{
		"VACUUM '/a/b'":                                      {Path: "/a/b"},
		`vacuum "s3://b/t" ;;`:                               {Path: "s3://b/t"},
		"VACUUM delta.`s3://b/t x`":                          {Path: "s3://b/t x", Format: "delta"},
		"VACUUM DELTA.`rel`":                                 {Path: "rel", Format: "delta"},
		"VACUUM hudi.`/h`":                                   {Path: "/h", Format: "hudi"},
		"VACUUM `/a``b`":                                     {Path: "/a`b"},
		"VACUUM FROM db.t":                                   {Name: []string{"db", "t"}},
		"VACUUM full FULL":                                   {Name: []string{"full"}, Mode: "full"},
		"VACUUM from full":                                   {Name: []string{"full"}},
		"VACUUM 1a.123_":                                     {Name: []string{"1a", "123_"}},
		"VACUUM a.123E3_column":                              {Name: []string{"a", "123E3_column"}},
		"VACUUM delta.tbl":                                   {Name: []string{"delta", "tbl"}},
		"VACUUM t DRY RUN LITE RETAIN 0 HOURS":               {Name: []string{"t"}, DryRun: true, Mode: "lite", Retain: hours(0)},
		"VACUUM t RETAIN .5 HOURS":                           {Name: []string{"t"}, Retain: hours(0.5)},
		"VACUUM t RETAIN 10D HOURS":                          {Name: []string{"t"}, Retain: hours(10)},
		"VACUUM t RETAIN 1e1 HOURS":                          {Name: []string{"t"}, Retain: hours(10)},
		"VACUUM t RETAIN 0.0000001 HOURS":                    {Name: []string{"t"}, Retain: new(time.Millisecond)},
		"VACUUM t -- c\n WHERE d = 1 /* x */ RETAIN 1 HOURS": {Name: []string{"t"}, Where: "d = 1", WhereOffset: 21, Retain: hours(1)},
		"VACUUM t WHERE `full` = 'LITE' AND (lite) FULL;":    {Name: []string{"t"}, Where: "`full` = 'LITE' AND (lite)", WhereOffset: 15, Mode: "full"},
		"VACUUM t WHERE year||month >= '202307'":             {Name: []string{"t"}, Where: "year||month >= '202307'", WhereOffset: 15},
		"VACUUM t USING INVENTORY inv DRY RUN":               {Name: []string{"t"}, Inventory: &Inventory{Name: []string{"inv"}}, DryRun: true},
		"VACUUM t USING INVENTORY parquet.`s3://b/i`":        {Name: []string{"t"}, Inventory: &Inventory{Path: "s3://b/i", Format: "parquet"}},
		"VACUUM t USING INVENTORY ('s3://b/i')":              {Name: []string{"t"}, Inventory: &Inventory{Path: "s3://b/i"}},
		"VACUUM t USING INVENTORY 'i' FULL":                  {Name: []string{"t"}, Inventory: &Inventory{Path: "i"}, Mode: "full"},
		"VACUUM t WHERE a IN (1) USING INVENTORY (select path from (x) where a = ')') RETAIN 2 HOURS": {Name: []string{"t"}, Where: "a IN (1)",
			WhereOffset: 15, Inventory: &Inventory{Query: "select path from (x) where a = ')'"}, Retain: hours(2)},
	}
	for text, want := range cases {
		got, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", text, d)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"OPTIMIZE t":                               "expected VACUUM",
		"VACUUM":                                   "expected the path or name of the table",
		"VACUUM ''":                                "is empty",
		"VACUUM t LITE FULL":                       "duplicate clauses: LITE/FULL",
		"VACUUM t RETAIN 1 HOURS RETAIN 1 HOURS":   "duplicate clauses: RETAIN",
		"VACUUM t DRY RUN FULL DRY RUN":            "duplicate clauses: DRY RUN",
		"VACUUM t USING INVENTORY a INVENTORY b":   "expected USING",
		"VACUUM t RETAIN -2 HOURS":                 "negative",
		"VACUUM t RETAIN 10L HOURS":                "no sensible number",
		"VACUUM t RETAIN 10BD HOURS":               "no sensible number",
		"VACUUM t RETAIN 1e99999 HOURS":            "no sensible number",
		"VACUUM t RETAIN 1e-99999 HOURS":           "no sensible number",
		"VACUUM t RETAIN 1e9 HOURS":                "no sensible number",
		"VACUUM t RETAIN NaN HOURS":                "expected a number",
		"VACUUM t RETAIN 7 DAYS":                   "expected HOURS",
		"VACUUM t FULL WHERE a = 1":                "right after the table",
		"VACUUM t WHERE FULL":                      "no condition",
		"VACUUM t WHERE (a = 1 FULL":               "isn't closed",
		"VACUUM t DRY":                             "expected RUN",
		"VACUUM t; VACUUM u":                       "expected the end of the statement",
		"VACUUM parquet.`/x`":                      "can't be vacuumed",
		"VACUUM nope.`/x`":                         "unknown format",
		"VACUUM t USING INVENTORY ()":              "is empty",
		"VACUUM t USING INVENTORY (' ')":           "is empty",
		"VACUUM t USING INVENTORY (select 1":       "isn't closed",
		"VACUUM t ZORDER BY a":                     "expected LITE",
		"VACUUM 'x":                                "no partner",
		"VACUUM t WHERE a = 'it''s' RETAIN 1 HOUR": "doubled quote",
	} {
		_, err := Parse(text)
		if err == nil || lake.KindOf(err) != lake.Invalid || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "^") || lake.HintOf(err) == "" {
			t.Errorf("%s: got %v; want %q", text, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"VACUUM t WHERE a = 1 RETAIN 1e1 HOURS DRY RUN;", "VACUUM delta.`x` USING INVENTORY (select (1))", "vacuum FROM 'a' lite"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		if err != nil {
			return
		}
		if (s.Path == "") == (s.Name == nil) {
			t.Fatalf("%q: %+v", text, s)
		}
		if s.Retain != nil && (*s.Retain < 0 || *s.Retain > hoursLimit*time.Hour) {
			t.Fatalf("%q: %v", text, *s.Retain)
		}
		if s.Where != "" && text[s.WhereOffset:s.WhereOffset+len(s.Where)] != s.Where {
			t.Fatalf("%q: where %q", text, s.Where)
		}
	})
}
