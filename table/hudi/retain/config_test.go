package retain

import (
	"fmt"
	"testing"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

func TestConfig(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     "KEEP_LATEST_COMMITS 10 24 3 true",
		"hoodie.cleaner.commits.retained=4":    "KEEP_LATEST_COMMITS 4 24 3 true",
		"hoodie.clean.fileversions.retained=2": "KEEP_LATEST_FILE_VERSIONS 10 24 2 true",
		"hoodie.clean.hours.retained=5":        "KEEP_LATEST_BY_HOURS 10 5 3 true",
		"hoodie.clean.policy=KEEP_LATEST_FILE_VERSIONS\nhoodie.clean.hours.retained=5\nhoodie.clean.incremental.enabled=false": "KEEP_LATEST_FILE_VERSIONS 10 5 3 false",
		"hoodie.clean.commits.retained=0":              "invalid",
		"hoodie.clean.trigger.strategy=EVERY_TUESDAY":  "invalid", // E9
		"hoodie.clean.partition.filter.selected=a":     "invalid", // C13
		"hoodie.clean.policy=KEEP_NOTHING":             "invalid",
		"hoodie.write.empty.clean.interval.hours=0":    "invalid",
		"hoodie.clean.delete.bootstrap.base.file=true": "unsupported",
	} {
		p, err := timeline.ParseProperties([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		c := NewConfig()
		got := ""
		if err := c.Read(p); err != nil {
			got = lake.KindOf(err).String()
		} else {
			got = fmt.Sprintf("%s %d %d %d %v", c.Policy, c.Commits, c.Hours, c.Versions, c.Incremental)
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestPartitionFilters(t *testing.T) {
	c := NewConfig()
	c.Incremental = false
	p, err := timeline.ParseProperties([]byte("hoodie.clean.incremental.enabled=false\nhoodie.clean.partition.filter.regex=p=.\nhoodie.clean.partition.filter.selected=p=10"))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Read(p); err != nil {
		t.Fatal(err)
	}
	if !c.Wanted("p=10") || c.Wanted("p=1") { // the list wins
		t.Error("the selected list doesn't win over the expression")
	}
	c.Selected = nil
	if c.Wanted("p=10") || !c.Wanted("p=1") { // matches in full
		t.Error("the expression doesn't match in full")
	}
}
