package predicate_test

import (
	"os"
	"strings"
	"testing"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/predicate"
)

// The examples of docs/predicates.md hold: blocks of a line with columns, types
// and values, then predicates with their outcomes.
func TestDocumentedExamples(t *testing.T) {
	text, err := os.ReadFile("../../docs/predicates.md")
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, block := range strings.Split(string(text), "```predicate\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		lines := strings.Split(strings.TrimSpace(block), "\n")
		var s predicate.Schema
		var row lake.Partition
		for column := range strings.SplitSeq(lines[0], ", ") {
			nameType, value, _ := strings.Cut(column, " = ")
			name, typ, _ := strings.Cut(nameType, " ")
			s.Partition = append(s.Partition, predicate.Column{Name: name, Type: typ})
			row = append(row, lake.PartitionValue{Column: name, Value: strings.TrimPrefix(value, "NULL"), Null: value == "NULL"})
		}
		for _, line := range lines[1:] {
			arrow := strings.LastIndex(line, "=> ")
			condition, want := line[:arrow], line[arrow+len("=> "):]
			p, err := predicate.Compile(condition, s, predicate.Options{Now: noon})
			if err != nil {
				t.Errorf("%s: %v", line, err)
				continue
			}
			if got := p.Match(row).String(); got != want {
				t.Errorf("%s: got %s", line, got)
			}
			ran++
		}
	}
	if ran < 20 {
		t.Errorf("only %d examples were found", ran)
	}
}
