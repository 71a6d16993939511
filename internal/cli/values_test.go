package cli

import (
	"strings"
	"testing"

	"github.com/lakesweep/lakesweep/sweep"
)

func TestMaps(t *testing.T) {
	for s, want := range map[string]sweep.Map{
		"s3://a/b=s3://c/d":        {From: "s3://a/b", To: "s3://c/d"},
		"s3a://=s3://":             {From: "s3a://", To: "s3://"},
		"s3://a/day=1=file:///x":   {From: "s3://a/day=1", To: "file:///x"},
		"s3://a=file:///x/day=1/y": {From: "s3://a", To: "file:///x/day=1/y"},
		"/old=/new":                {From: "/old", To: "/new"},
	} {
		if got, err := parseMap(s); err != nil || got != want {
			t.Errorf("%q is %v, %v, want %v", s, got, err, want)
		}
	}
	for _, s := range []string{"", "=", "a", "=b", "a=", "a=b=c", "s3://a=s3://b=s3://c"} {
		if got, err := parseMap(s); err == nil {
			t.Errorf("%q is %v, want an error", s, got)
		}
	}
}

// Whatever a flag's value is, its parser answers with all of it or an error.
func FuzzMapsAndColumns(f *testing.F) {
	for _, s := range []string{"s3://a/p=1=s3://b", "path=a,size=b", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if m, err := parseMap(s); err == nil && m.From+"="+m.To != s {
			t.Errorf("map %q is %v", s, m)
		}
		if columns, err := parseColumns(s); err == nil && len(columns) != strings.Count(s, ",")+1 {
			t.Errorf("columns %q are %v", s, columns)
		}
		shellQuote(s)
	})
}
