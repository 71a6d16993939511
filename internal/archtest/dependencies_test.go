package archtest

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Every module that is imported stands in docs/dependencies.md with its reason
// and licence.
func TestDependenciesAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for line := range strings.Lines(string(page)) {
		if first, _, ok := strings.Cut(strings.TrimPrefix(line, "| "), " | "); ok {
			for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(first, -1) {
				listed = append(listed, m[1])
			}
		}
	}
	if len(listed) < 10 {
		t.Fatalf("only %d modules are listed", len(listed))
	}
	for _, p := range list(t) {
		for _, imp := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			first, _, _ := strings.Cut(imp, "/")
			if !strings.Contains(first, ".") || within(imp, module) {
				continue
			}
			if !slices.ContainsFunc(listed, func(m string) bool { return within(imp, m) }) {
				t.Errorf("%s imports %s, which docs/dependencies.md lacks", p.ImportPath, imp)
			}
		}
	}
}
