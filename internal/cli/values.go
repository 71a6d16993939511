package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lakesweep/lakesweep/internal/cli/internal/value"
	"github.com/lakesweep/lakesweep/inventory"
	"github.com/lakesweep/lakesweep/sweep"
)

// parseMap reads FROM=TO. It is split at the '=' that a "scheme://" follows,
// at the only '=' if there is none such.
func parseMap(s string) (sweep.Map, error) {
	at := -1
	for i := range len(s) {
		if s[i] != '=' || !value.HasScheme(s[i+1:]) {
			continue
		}
		if at >= 0 {
			return sweep.Map{}, fmt.Errorf("%q has two places to split at", s)
		}
		at = i
	}
	if at < 0 && strings.Count(s, "=") == 1 {
		at = strings.IndexByte(s, '=')
	}
	if at <= 0 || at == len(s)-1 {
		return sweep.Map{}, fmt.Errorf("%q is no FROM=TO such as s3://old/t=s3://new/t", s)
	}
	return sweep.Map{From: s[:at], To: s[at+1:]}, nil
}

// parseColumns reads path=NAME,size=NAME,… with the words of package inventory.
func parseColumns(s string) (map[string]string, error) {
	columns := map[string]string{}
	for part := range strings.SplitSeq(s, ",") {
		role, name, ok := strings.Cut(part, "=")
		switch {
		case !ok || name == "":
			return nil, fmt.Errorf("%q is no list such as path=key,size=bytes,modified=mtime", s)
		case columns[role] != "":
			return nil, fmt.Errorf("%s is given twice", role)
		}
		if words := inventory.ColumnWords(); !slices.Contains(words, role) {
			return nil, fmt.Errorf("%q is none of %s", role, strings.Join(words, ", "))
		}
		columns[role] = name
	}
	return columns, nil
}

// parsePolicy reads a policy in our words or Hudi's, in any case.
// Source: apache/hudi, HoodieCleaningPolicy.
func parsePolicy(s string) (string, error) {
	name := strings.ReplaceAll(strings.ToLower(s), "_", "-")
	switch name {
	case "keep-latest-commits", "keep-latest-by-hours", "keep-latest-file-versions":
		name = strings.NewReplacer("keep-", "", "by-", "", "file-", "").Replace(name)
	}
	return value.OneOf("latest-commits", "latest-hours", "latest-versions")(name)
}

func parseZone(s string) (*time.Location, error) {
	if s == "" {
		return nil, errors.New("it is empty: give a value, or leave the flag out")
	}
	z, err := time.LoadLocation(s)
	if err != nil {
		return nil, fmt.Errorf("%q is no time zone such as UTC or Europe/Berlin", s)
	}
	return z, nil
}

func parseVersion(s string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%q is no version number", s)
	}
	return n, nil
}

// parseRetain reads a retention, of which none is something else than 0.
func parseRetain(s string) (*time.Duration, error) {
	d, err := value.Duration(s)
	if err != nil {
		return nil, err
	}
	return &d, nil
}
