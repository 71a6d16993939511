package retain

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/lakesweep/lakesweep/lake"
)

// Policy is a cleaning policy, by Hudi's name.
type Policy string

// The policies.
const (
	LatestCommits  Policy = "KEEP_LATEST_COMMITS"
	LatestHours    Policy = "KEEP_LATEST_BY_HOURS"
	LatestVersions Policy = "KEEP_LATEST_FILE_VERSIONS"
)

var policyNames = map[string]Policy{"latest-commits": LatestCommits, "latest-hours": LatestHours, "latest-versions": LatestVersions}

// ParsePolicy reads a policy by the command line's name or Hudi's.
//
// Errors: Invalid.
func ParsePolicy(s string) (Policy, error) {
	if p, ok := policyNames[s]; ok {
		return p, nil
	}
	switch p := Policy(strings.ToUpper(s)); p {
	case LatestCommits, LatestHours, LatestVersions:
		return p, nil
	}
	return "", invalid(fmt.Errorf("unknown cleaning policy %q", s), "Write latest-commits, latest-hours or latest-versions.")
}

// Config says what a clean retains. NewConfig gives Hudi's defaults.
type Config struct {
	Policy   Policy
	Commits  int
	Hours    int
	Versions int
	Cutoff   time.Time // instead of Hours, if not zero

	Incremental     bool // look only at partitions touched since the last clean
	TriggerCommits  int  // completed commits since the last clean that make a new one worth it
	MaxCommits      int64
	Selected        []string       // only these partitions
	Filter          *regexp.Regexp // only partitions that match in full
	EmptyCleanHours int            // -1: an empty clean is never recorded
	Orphans         bool           // also what failed writes left, if older than OrphanAge. Not a key of Hudi's
	OrphanAge       time.Duration
	Blobs           BlobConfig
	MaxFiles        int64 // a clean with more files is split: what is left waits for the next one. Not a key of Hudi's
}

// BlobConfig is what Hudi's keys say of external blobs. They are RFC-100's;
// no released Hudi knows them.
type BlobConfig struct {
	Enabled       bool  // false: blobs are left alone
	DryRun        bool  // blobs are queued and none is deleted
	Parallelism   int   // files read at once
	MaxCandidates int64 // blobs that one drain judges, the oldest first; 0: any number
}

// maxFiles keeps what a clean holds in memory, its plan as Avro several times
// over, below some 300 MB.
const maxFiles = 250_000

// NewConfig returns Hudi 1.2.0's defaults.
func NewConfig() Config {
	return Config{Policy: LatestCommits, Commits: 10, Hours: 24, Versions: 3, Incremental: true, TriggerCommits: 1, MaxCommits: math.MaxInt64, EmptyCleanHours: -1, MaxFiles: maxFiles, OrphanAge: 24 * time.Hour,
		Blobs: BlobConfig{Enabled: true, Parallelism: 10}}
}

// Check looks for faults that the fields make together.
//
// Errors: Invalid, naming all of them.
func (c *Config) Check() error { return c.check(nil) }

// check adds the faults that keys make together.
func (c *Config) check(faults []error) error {
	if (len(c.Selected) > 0 || c.Filter != nil) && c.Incremental {
		faults = append(faults, fmt.Errorf("a partition filter needs %s=false", keyIncremental[0]))
	}
	if c.EmptyCleanHours == 0 {
		faults = append(faults, fmt.Errorf("%s=0: -1 or at least 1 is wanted", keyEmpty[0]))
	}
	if err := errors.Join(faults...); err != nil {
		return invalid(err, "Correct the keys named.")
	}
	return nil
}

// Filtered reports whether only some partitions are looked at by wish.
func (c *Config) Filtered() bool { return len(c.Selected) > 0 || c.Filter != nil }

// Wanted applies the filters. The selected list wins.
func (c *Config) Wanted(partition string) bool {
	switch {
	case len(c.Selected) > 0:
		return slices.Contains(c.Selected, partition)
	case c.Filter != nil:
		return c.Filter.MatchString(partition)
	}
	return true
}

func invalid(err error, hint string) error {
	return &lake.Error{Op: "read clean configuration", Kind: lake.Invalid, Err: err, Hint: hint}
}
