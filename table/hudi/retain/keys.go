package retain

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

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
	k := keys{p: p}
	commits := k.number(keyCommits, 1, func(n int64) { c.Commits = int(n) })
	hours := k.number(keyHours, 1, func(n int64) { c.Hours = int(n) })
	versions := k.number(keyVersions, 1, func(n int64) { c.Versions = int(n) })
	k.number(keyTrigger, 1, func(n int64) { c.TriggerCommits = int(n) })
	k.number(keyCap, 1, func(n int64) { c.MaxCommits = n })
	k.number(keyBlobReaders, 1, func(n int64) { c.Blobs.Parallelism = int(min(n, 1000)) })
	k.number(keyBlobMost, 1, func(n int64) { c.Blobs.MaxCandidates = n })
	k.number(keyEmpty, -1, func(n int64) { c.EmptyCleanHours = int(n) })
	if v, ok := k.get(keyPolicy); ok {
		policy, err := ParsePolicy(v)
		c.Policy, k.faults = policy, append(k.faults, err)
	} else {
		switch {
		case hours && !commits && !versions:
			c.Policy = LatestHours
		case versions && !commits && !hours:
			c.Policy = LatestVersions
		}
	}
	k.flag(keyIncremental, &c.Incremental)
	k.flag(keyBlobs, &c.Blobs.Enabled)
	k.flag(keyBlobDryRun, &c.Blobs.DryRun)
	if v, ok := k.get(keyStrategy); ok && v != "NUM_COMMITS" {
		k.faults = append(k.faults, fmt.Errorf("%s=%s: only NUM_COMMITS is known", keyStrategy[0], v))
	}
	if v, ok := k.get(keySelected); ok && v != "" {
		c.Selected = strings.Split(v, ",")
	}
	if v, ok := k.get(keyRegex); ok && v != "" {
		re, err := regexp.Compile("^(?:" + v + ")$")
		c.Filter, k.faults = re, append(k.faults, err)
	}
	bootstrap := false
	if k.flag(keyBootstrap, &bootstrap); bootstrap {
		return &lake.Error{Op: "read clean configuration", Kind: lake.Unsupported, Err: fmt.Errorf("%s=true", keyBootstrap[0]),
			Hint: "lakesweep never deletes the files that a bootstrapped table was made from; leave the key out."}
	}
	return c.check(k.faults)
}

// keys reads keys one by one and gathers what is wrong with them.
type keys struct {
	p      timeline.Properties
	faults []error
}

// get returns the value under the first of a key's names that is set.
func (k *keys) get(names []string) (string, bool) {
	for _, n := range names {
		if v, ok := k.p[n]; ok {
			return strings.TrimSpace(v), true
		}
	}
	return "", false
}

// number sets a number, if there is one, and reports whether it did.
func (k *keys) number(names []string, least int64, set func(int64)) bool {
	v, ok := k.get(names)
	if !ok {
		return false
	}
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil || n < least {
		k.faults = append(k.faults, fmt.Errorf("%s=%s: a number of at least %d is wanted", names[0], v, least))
		return false
	}
	set(n)
	return true
}

func (k *keys) flag(names []string, to *bool) {
	if v, ok := k.get(names); ok {
		*to = strings.EqualFold(v, "true")
	}
}
