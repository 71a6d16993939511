// Package archtest keeps the architecture: it asks the go tool for the import
// graph and reads the sources, and names each break of the rules in
// docs/architecture.md. Its test fails on any.
package archtest

import (
	"fmt"
	"slices"
	"strings"
)

const module = "github.com/lakesweep/lakesweep"

// Package is what the go tool says of one package.
type Package struct {
	ImportPath   string
	Dir          string
	GoFiles      []string
	Imports      []string // of the files that are built
	TestImports  []string
	XTestImports []string
}

// rooms returns the picture, left to right; rooms in one string stand beside
// each other. A room imports rooms to its right.
func rooms() []string {
	return []string{"cmd examples bench test", "internal/cli internal/sample", "sweep", "reap", "guard", "plan report", "antijoin",
		"inventory", "table", "lock", "listing", "store", "lake"}
}

// outsiders maps what only some folders may import to those folders.
func outsiders() map[string][]string {
	return map[string][]string{
		"github.com/aws/":                 {"store/s3", "lock/dynamodb", "bench", "test"},
		"cloud.google.com/go":             {"store/gcs"},
		"google.golang.org/api":           {"store/gcs"},
		"google.golang.org/grpc":          {"store/gcs"},
		"github.com/googleapis/":          {"store/gcs"},
		"github.com/Azure/":               {"store/azure"},
		"github.com/colinmarc/hdfs":       {"store/hdfs"},
		"github.com/jcmturner/":           {"store/hdfs"},
		"github.com/go-zookeeper/":        {"lock/zookeeper"},
		"github.com/spf13/":               {"internal/cli"},
		"golang.org/x/term":               {"internal/cli"},
		"github.com/rogpeppe/go-internal": nil, // tests only
		"github.com/google/go-cmp":        nil,
		"pgregory.net/rapid":              nil,
		"testing":                         nil,
	}
}

// Imports returns the breaks of the picture among the imports of packages.
// Tests may import the packages that are made for them, and still no room to
// the left of their own.
func Imports(packages []Package) []string {
	var breaks []string
	for _, p := range packages {
		from := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		for _, imp := range p.Imports {
			if why := arrow(from, imp); why != "" {
				breaks = append(breaks, fmt.Sprintf("%s imports %s: %s", from, imp, why))
			}
		}
	}
	slices.Sort(breaks)
	return slices.Compact(breaks)
}

// arrow says what is wrong with an import, "" if nothing is.
func arrow(from, imp string) string {
	to, ours := strings.CutPrefix(imp, module+"/")
	switch {
	case forTests(from):
		return "" // it is linked into tests alone
	case ours && forTests(to) && !within(from, "bench"):
		return "only tests and benchmarks may"
	}
	for prefix, folders := range outsiders() {
		if (imp == prefix || strings.HasPrefix(imp, strings.TrimSuffix(prefix, "/")+"/")) &&
			!slices.ContainsFunc(folders, func(f string) bool { return within(from, f) }) {
			if folders == nil {
				return "only tests may"
			}
			return "only " + strings.Join(folders, ", ") + " may"
		}
	}
	if !ours {
		return ""
	}
	fromRank, toRank := rank(from), rank(to)
	switch {
	case fromRank < 0:
		return from + " is no room of the picture"
	case toRank < 0:
		return to + " is no room of the picture"
	case room(from) == room(to):
		return inside(from, to)
	case fromRank >= toRank:
		return "the picture has no such arrow"
	}
	return ""
}

// inside judges imports within a room: a package may import those above it,
// and all of its own folder of the room, such as table/hudi. What is shared
// by the whole of lake and store lies beside.
func inside(from, to string) string {
	if within(from, to) || folder(from) == folder(to) || folder(to) == "internal" || room(from) == "lake" && to != "lake" && from != "lake" {
		return ""
	}
	if within(to, from) && folder(from) == "" {
		return "a room doesn't know what stands in it"
	}
	return "neighbours in a room don't know each other"
}

// forTests reports packages that are made for tests, such as store/storetest:
// their names end in "test", or they are fixtures.
func forTests(pkg string) bool {
	return strings.HasSuffix(pkg, "test") && pkg != "test" || strings.HasSuffix(pkg, "/internal/fixture")
}

// room returns the room of a package, "" if it has none.
func room(pkg string) string {
	for _, column := range rooms() {
		for r := range strings.FieldsSeq(column) {
			if within(pkg, r) {
				return r
			}
		}
	}
	return ""
}

func rank(pkg string) int {
	for i, column := range rooms() {
		for r := range strings.FieldsSeq(column) {
			if within(pkg, r) {
				return i
			}
		}
	}
	return -1
}

// folder returns a package's first folder within its room: "delta" for
// table/delta/x, "" for the room itself.
func folder(pkg string) string {
	rest := strings.TrimPrefix(strings.TrimPrefix(pkg, room(pkg)), "/")
	first, _, _ := strings.Cut(rest, "/")
	return first
}

func within(pkg, dir string) bool { return pkg == dir || strings.HasPrefix(pkg, dir+"/") }
