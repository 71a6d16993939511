package iceberg

import (
	"fmt"
	"strconv"
	"strings"
)

// Current returns which of the files in a table's metadata folder describes its
// current state, by the version in their names; hint is the text of
// version-hint.text, "" if there is none. Names are without their folder.
//
// Errors: Damaged if there is none, or two of the newest version.
func Current(names []string, hint string) (string, error) {
	newest, best, twice := int64(-1), "", ""
	wanted, err := strconv.ParseInt(strings.TrimSpace(hint), 10, 64)
	hinted := err == nil
	for _, name := range names {
		v, ok := version(name)
		switch {
		case !ok || hinted && v != wanted:
		case v > newest:
			newest, best, twice = v, name, ""
		case v == newest:
			twice = name
		}
	}
	switch {
	case best == "":
		return "", damaged(fmt.Errorf("no metadata file of the version that is current"))
	case twice != "":
		return "", damaged(fmt.Errorf("two metadata files of the version %d, %s and %s: name the right one", newest, best, twice))
	}
	return best, nil
}

// version reads the version of a metadata file: 00003-UUID.metadata.json, or
// v3.metadata.json of tables in a file system, also with .gz before or after.
func version(name string) (int64, bool) {
	base, ok := strings.CutSuffix(strings.TrimSuffix(name, ".gz"), ".metadata.json")
	if !ok {
		return 0, false
	}
	base = strings.TrimSuffix(base, ".gz")
	if rest, ok := strings.CutPrefix(base, "v"); ok {
		base = rest
	} else {
		base, _, _ = strings.Cut(base, "-")
	}
	v, err := strconv.ParseInt(base, 10, 64)
	return v, err == nil && v >= 0
}
