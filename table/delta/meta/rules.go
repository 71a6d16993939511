package meta

import (
	"strings"

	"github.com/lakesweep/lakesweep/lake"
)

// LogDir is the folder of the log, below the root.
const LogDir = "_delta_log"

// Rules tells which names below the root can be candidates at all. The zero
// value is valid: a table without partition columns.
//
// Source: spec/delta-vacuum.md 1.10.
type Rules struct {
	PartitionColumns []string // logical names, case-sensitive
	HideMetadata     bool     // "metadata" is Iceberg's, at any depth
	HideRootMetadata bool     // only the one at the root is
	DeltaIndex       bool     // _delta_index* may be candidates
}

// Visible reports whether no component of k is hidden. Whatever lies in or
// below _delta_log, at any depth, never is visible.
func (r Rules) Visible(k lake.Key) bool {
	if plain(string(k)) {
		return true
	}
	for name, end := range k.Components {
		if r.hidden(name) || r.HideRootMetadata && name == "metadata" && end == len(name) {
			return false
		}
	}
	return true
}

// plain reports whether no rule looks at any component of name twice, as of
// nearly all: none begins with '.', '_' or as "metadata" does.
func plain(name string) bool {
	for {
		if name != "" && (name[0] == '.' || name[0] == '_' || name[0] == 'm' && strings.HasPrefix(name, "metadata")) {
			return false
		}
		i := strings.IndexByte(name, '/')
		if i < 0 {
			return true
		}
		name = name[i+1:]
	}
}

func (r Rules) hidden(name string) bool {
	switch {
	case name == "":
		return false
	case name == "metadata":
		return r.HideMetadata
	case name[0] != '.' && name[0] != '_', strings.HasPrefix(name, "_change_data"):
		return false
	case name == LogDir:
		return true
	case strings.HasPrefix(name, "_delta_index"):
		return !r.DeltaIndex
	}
	for _, c := range r.PartitionColumns {
		if len(name) > len(c) && name[len(c)] == '=' && name[:len(c)] == c {
			return false
		}
	}
	return true
}

// Foreign reports whether a directory below the root whose entries have these
// names is the root of another table, apart from what its folder "metadata"
// tells (IcebergMetadata).
func Foreign(names []string) bool {
	for _, n := range names {
		if n == LogDir || n == ".hoodie" {
			return true
		}
	}
	return false
}

// IcebergMetadata reports whether a folder "metadata" with these entries makes
// its parent an Iceberg table.
func IcebergMetadata(names []string) bool {
	for _, n := range names {
		if lake.IcebergMetadata(n) {
			return true
		}
	}
	return false
}

// ForeignRoot returns the directory, below the root, that k betrays as the
// root of another table: k lies in its _delta_log or .hoodie, or is an
// Iceberg metadata file of it. The outermost one counts.
func ForeignRoot(k lake.Key) (lake.Key, bool) {
	start := 0
	for name, end := range k.Components {
		if start > 0 && (name == LogDir || name == ".hoodie" ||
			name == "metadata" && lake.IcebergMetadata(string(k)) && strings.Count(string(k[end:]), "/") == 1) {
			return k[:start-1], true
		}
		start = end + 1
	}
	return "", false
}
