package cli

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/lakesweep/lakesweep/report"
)

// Whatever a command says with -o json is one document for each table, without a
// name that stands twice; its error is a field of it.
func TestDocumentsAreWhole(t *testing.T) {
	for _, mode := range []string{"", "fail", "guard", "damaged", "empty"} {
		for _, command := range []string{"plan t", "vacuum t -n", "vacuum t --yes", "verify t", "usage t", "explain t a", "inspect t", "doctor t",
			"restore j a", "purge j --yes --older-than 7d", "version", "plan t --no-such-flag", "hudi check-commit t --files a"} {
			for _, form := range []string{"json", "jsonl"} {
				var out bytes.Buffer
				status := Main(t.Context(), Process{Args: append([]string{"-o", form}, strings.Fields(command)...), Stdin: strings.NewReader(""), Stdout: &out, Stderr: io.Discard,
					Now: time.Now, engine: func(s session) (engine, error) { return &fakeEngine{s, mode}, nil }})
				n, err := 0, error(nil)
				for d := jsontext.NewDecoder(&out); err == nil; n++ { // refuses duplicate names
					_, err = d.ReadValue()
				}
				if n--; !errors.Is(err, io.EOF) || form == "json" && n != 1 {
					t.Errorf("%s -o %s, %s: status %d, %d documents, %v", command, form, mode, status, n, err)
				}
			}
		}
	}
}

// A writer's buffer may be full anywhere: the documents are the same.
func TestAnErrorIsAFieldWhereverTheDocumentIsCut(t *testing.T) {
	const text = "{\"a\":{}}\n{\"b\":1}\n{\"c\":{}}\n"
	for first := range len(text) + 1 {
		for second := first; second <= len(text); second++ {
			var out bytes.Buffer
			d := &documents{w: &out}
			for _, piece := range []string{text[:first], text[first:second], text[second:]} {
				if n, err := d.Write([]byte(piece)); n != len(piece) || err != nil {
					t.Fatalf("%q: %d, %v", piece, n, err)
				}
			}
			if err := d.fail(report.ErrorRow{}); err != nil {
				t.Fatal(err)
			}
			if got := out.String(); !strings.HasPrefix(got, "{\"a\":{}}\n{\"b\":1}\n{\"c\":{},\"error\":{") || !strings.HasSuffix(got, "}}\n") {
				t.Errorf("cut at %d and %d: %q", first, second, got)
			}
		}
	}
}
