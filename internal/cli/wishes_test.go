package cli

import (
	"maps"
	"testing"

	"github.com/spf13/pflag"
)

// A flag of one format's tables is refused on the other's: also one that was
// bound only lately.
func TestFlagsOfOneFormatAreItsWishes(t *testing.T) {
	for flag, c := range map[string]struct{ value, format string }{
		"blob-scan-files": {"3", "hudi"}, "blob-scan-bytes": {"1GiB", "hudi"}, "blob-grace": {"1h", "hudi"}, "blob-spelling": {"exact", "hudi"}, "blobs": {"plan", "hudi"},
		"policy": {"latest-commits", "hudi"}, "timeline-zone": {"UTC", "hudi"}, "no-other-writers": {"true", "hudi"},
		"mode": {"lite", "delta"}, "keep-version": {"3", "delta"}, "full-every": {"7d", "delta"}, "commit-log": {"off", "delta"},
		"where": {"p = 1", ""}, "retain": {"1h", ""}, "trash": {"true", ""},
	} {
		fs := pflag.NewFlagSet("t", pflag.ContinueOnError)
		var pf planFlags
		var af applyFlags
		pf.bindTable(fs)
		pf.bindRetention(fs)
		pf.bindSelection(fs)
		pf.bindTuning(fs)
		af.bind(fs)
		if err := fs.Set(flag, c.value); err != nil {
			t.Fatal(err)
		}
		var want map[string]string
		if c.format != "" {
			want = map[string]string{c.format: flag}
		}
		if got := wishes(fs); !maps.Equal(got, want) {
			t.Errorf("--%s: %v", flag, got)
		}
	}
}
