package archtest

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// list asks the go tool for all packages of the module.
func list(t *testing.T) []Package {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Dir,GoFiles,Imports,TestImports,XTestImports", module+"/...")
	out, err := cmd.Output()
	if err != nil {
		if e, ok := errors.AsType[*exec.ExitError](err); ok {
			t.Fatalf("go list: %v\n%s", err, e.Stderr)
		}
		t.Fatal(err)
	}
	var all []Package
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p Package
		if err := d.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	if len(all) < 10 {
		t.Fatalf("go list found %d packages, which can't be all", len(all))
	}
	return all
}

func TestImportsFollowThePicture(t *testing.T) {
	for _, b := range Imports(list(t)) {
		t.Error(b)
	}
}

func TestSourcesFollowTheRules(t *testing.T) {
	for _, p := range list(t) {
		fset := token.NewFileSet()
		var files []*ast.File
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
		for _, b := range Sources(fset, p.ImportPath, files) {
			t.Error(b)
		}
	}
}

func TestPlantedImportsAreFound(t *testing.T) {
	for _, c := range []struct{ name, from, imports, want string }{
		{"to the left", "lake", module + "/store", "no such arrow"},
		{"beside", "report", module + "/plan", "no such arrow"},
		{"a neighbour", "store/s3", module + "/store/gcs", "neighbours"},
		{"the other format", "table/delta", module + "/table/hudi/hfile", "neighbours"},
		{"into its own rooms", "store", module + "/store/local", "what stands in it"},
		{"no room", "sweep", module + "/util", "no room"},
		{"from no room", "util", module + "/lake", "no room"},
		{"a cloud SDK", "listing", "github.com/aws/aws-sdk-go-v2/service/s3", "only store/s3"},
		{"cobra", "report", "github.com/spf13/cobra", "only internal/cli"},
		{"a test library", "lake/keyset", "pgregory.net/rapid", "only tests"},
		{"testing", "reap", "testing", "only tests"},
		{"what tests share", "reap", module + "/store/storetest", "only tests"},
	} {
		got := Imports([]Package{{ImportPath: module + "/" + c.from, Imports: []string{c.imports}}})
		if len(got) != 1 || !strings.Contains(got[0], c.want) {
			t.Errorf("%s: %s imports %s gives %q, want one break with %q", c.name, c.from, c.imports, got, c.want)
		}
	}
}

func TestArrowsOfThePictureAreAllowed(t *testing.T) {
	for _, c := range []struct{ from, imports string }{
		{"cmd/lakesweep", module + "/internal/cli"},
		{"internal/cli", module + "/lake"},
		{"internal/cli", module + "/store/s3"},
		{"sweep", module + "/table/hudi"},
		{"sweep", module + "/sweep/internal/blobs"},
		{"table/hudi", module + "/table/hudi/hfile"},
		{"table/hudi/mdt", module + "/table/hudi/hfile"},
		{"table/hudi/mdt", module + "/table"},
		{"store/s3", "github.com/aws/aws-sdk-go-v2/service/s3"},
		{"lock/dynamodb", "github.com/aws/aws-sdk-go-v2/service/dynamodb"},
		{"lake/filelist", module + "/lake/keyset"},
		{"lake", "strings"},
		{"store/s3/s3test", module + "/store/mem"},
		{"bench/mktable", module + "/table/hudi/mdttest"},
	} {
		if got := Imports([]Package{{ImportPath: module + "/" + c.from, Imports: []string{c.imports}}}); len(got) != 0 {
			t.Errorf("%s imports %s: %q", c.from, c.imports, got)
		}
	}
}

func TestPlantedSourcesAreFound(t *testing.T) {
	for _, c := range []struct{ name, pkg, body, want string }{
		{"exit", "sweep", `import "os"` + "\nfunc f() { os.Exit(1) }", "os.Exit"},
		{"fatal", "sweep", `import "log"` + "\nfunc f() { log.Fatalf(``) }", "log.Fatalf"},
		{"deleter", "sweep", `import "` + module + `/store"` + "\nfunc f(store.Deleter) {}", "store.Deleter"},
		{"init", "sweep", "func init() {}", "func init"},
		{"no value", "sweep", "var count int", "no value"},
		{"assigned", "sweep", "var count = 0\nfunc f() { count = 1 }", "changes"},
		{"counted", "sweep", "var count = 0\nfunc f() { count++ }", "changes"},
		{"a map filled", "sweep", "var m = map[string]int{}\nfunc f() { m[``] = 1 }", "changes"},
		{"a map emptied", "sweep", "var m = map[string]int{}\nfunc f() { clear(m) }", "changes"},
		{"a field set", "sweep", "var s = struct{ a int }{}\nfunc f() { s.a = 1 }", "changes"},
		{"an address taken", "sweep", "var n = 0\nfunc f() *int { return &n }", "changes"},
		{"a mutex", "sweep", `import "sync"` + "\nvar mu = sync.Mutex{}", "made to change"},
	} {
		got := parse(t, c.pkg, c.body)
		if len(got) != 1 || !strings.Contains(got[0], c.want) {
			t.Errorf("%s: got %q, want one break with %q", c.name, got, c.want)
		}
	}
}

func TestSoundSourcesAreAllowed(t *testing.T) {
	for _, c := range []struct{ name, pkg, body string }{
		{"exit in cmd", "cmd/lakesweep", `import "os"` + "\nfunc main() { os.Exit(1) }"},
		{"deleter in reap", "reap", `import "` + module + `/store"` + "\nfunc f(store.Deleter) {}"},
		{"exit in a test program", "test/interop/predicate", `import "os"` + "\nfunc main() { os.Exit(1) }"},
		{"a pool", "sweep", `import "sync"` + "\nvar pool = sync.Pool{}"},
		{"a sentinel", "sweep", `import "errors"` + "\nvar ErrGone = errors.New(`gone`)"},
		{"a table that is read", "sweep", "var m = map[string]int{`a`: 1}\nfunc f() int { return m[`a`] }"},
		{"a local of the same name", "sweep", "var n = 0\nfunc f() { n := n; n++ }"},
		{"an interface check", "sweep", "var _ interface{} = nil"},
	} {
		if got := parse(t, c.pkg, c.body); len(got) != 0 {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

func parse(t *testing.T, pkg, body string) []string {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "planted.go", "package p\n"+body+"\n", parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return Sources(fset, module+"/"+pkg, []*ast.File{f})
}
