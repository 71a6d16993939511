package hudi

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
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

// The keys, with the older names that Hudi still accepts.
var (
	keyPolicy      = []string{"hoodie.clean.policy", "hoodie.cleaner.policy"}
	keyCommits     = []string{"hoodie.clean.commits.retained", "hoodie.cleaner.commits.retained"}
	keyHours       = []string{"hoodie.clean.hours.retained", "hoodie.cleaner.hours.retained"}
	keyVersions    = []string{"hoodie.clean.fileversions.retained", "hoodie.cleaner.fileversions.retained"}
	keyIncremental = []string{"hoodie.clean.incremental.enabled", "hoodie.cleaner.incremental.mode"}
	keyStrategy    = []string{"hoodie.clean.trigger.strategy"}
	keyTrigger     = []string{"hoodie.clean.trigger.max.commits", "hoodie.clean.max.commits"}
	keyCap         = []string{"hoodie.clean.max.commits.to.clean"}
	keySelected    = []string{"hoodie.clean.partition.filter.selected", "hoodie.cleaner.partition.filter.selected"}
	keyRegex       = []string{"hoodie.clean.partition.filter.regex", "hoodie.cleaner.partition.filter.regex"}
	keyEmpty       = []string{"hoodie.write.empty.clean.interval.hours"}
	keyBlobs       = []string{"hoodie.cleaner.blob.enabled"}
	keyBlobDryRun  = []string{"hoodie.cleaner.blob.dry.run"}
	keyBlobReaders = []string{"hoodie.cleaner.blob.external.scan.parallelism"}
	keyBlobMost    = []string{"hoodie.cleaner.blob.external.scan.max.candidates"}
	keyBootstrap   = []string{"hoodie.clean.delete.bootstrap.base.file", "hoodie.cleaner.delete.bootstrap.base.file"}
)

// Read lays the keys of p over the configuration. Without a policy, the one
// whose retained key alone is set is meant.
//
// Errors: Invalid, naming all faults; Unsupported for deleting bootstrap files.
// Source: Hudi 1.2.0, HoodieCleanConfig; spec/hudi-clean.md section 5.1.
func (c *Config) Read(p timeline.Properties) error {
	var faults []error
	get := func(keys []string) (string, bool) {
		for _, k := range keys {
			if v, ok := p[k]; ok {
				return strings.TrimSpace(v), true
			}
		}
		return "", false
	}
	number := func(keys []string, least int64, set func(int64)) bool {
		v, ok := get(keys)
		if !ok {
			return false
		}
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil || n < least {
			faults = append(faults, fmt.Errorf("%s=%s: a number of at least %d is wanted", keys[0], v, least))
			return false
		}
		set(n)
		return true
	}
	commits := number(keyCommits, 1, func(n int64) { c.Commits = int(n) })
	hours := number(keyHours, 1, func(n int64) { c.Hours = int(n) })
	versions := number(keyVersions, 1, func(n int64) { c.Versions = int(n) })
	number(keyTrigger, 1, func(n int64) { c.TriggerCommits = int(n) })
	number(keyCap, 1, func(n int64) { c.MaxCommits = n })
	number(keyBlobReaders, 1, func(n int64) { c.Blobs.Parallelism = int(min(n, 1000)) })
	number(keyBlobMost, 1, func(n int64) { c.Blobs.MaxCandidates = n })
	number(keyEmpty, -1, func(n int64) { c.EmptyCleanHours = int(n) })
	if v, ok := get(keyPolicy); ok {
		policy, err := ParsePolicy(v)
		c.Policy, faults = policy, append(faults, err)
	} else {
		switch {
		case hours && !commits && !versions:
			c.Policy = LatestHours
		case versions && !commits && !hours:
			c.Policy = LatestVersions
		}
	}
	if v, ok := get(keyIncremental); ok {
		c.Incremental = strings.EqualFold(v, "true")
	}
	if v, ok := get(keyBlobs); ok {
		c.Blobs.Enabled = strings.EqualFold(v, "true")
	}
	if v, ok := get(keyBlobDryRun); ok {
		c.Blobs.DryRun = strings.EqualFold(v, "true")
	}
	if v, ok := get(keyStrategy); ok && v != "NUM_COMMITS" {
		faults = append(faults, fmt.Errorf("%s=%s: only NUM_COMMITS is known", keyStrategy[0], v))
	}
	if v, ok := get(keySelected); ok && v != "" {
		c.Selected = strings.Split(v, ",")
	}
	if v, ok := get(keyRegex); ok && v != "" {
		re, err := regexp.Compile("^(?:" + v + ")$")
		c.Filter, faults = re, append(faults, err)
	}
	if v, ok := get(keyBootstrap); ok && strings.EqualFold(v, "true") {
		return &lake.Error{Op: "read clean configuration", Kind: lake.Unsupported, Err: fmt.Errorf("%s=true", keyBootstrap[0]),
			Hint: "lakesweep never deletes the files that a bootstrapped table was made from; leave the key out."}
	}
	return c.check(faults)
}

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

// filtered reports whether only some partitions are looked at by wish.
func (c *Config) filtered() bool { return len(c.Selected) > 0 || c.Filter != nil }

// wanted applies the filters. The selected list wins.
func (c *Config) wanted(partition string) bool {
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
