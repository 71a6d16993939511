// Command predicate writes random predicates with lakesweep's answers, one JSON
// object a line, for compare.py to ask Spark SQL the same.
//
//	go run ./test/interop/predicate -seed 1 -n 1000 > cases.jsonl
//
// Each line holds a predicate, the zone of its session, rows of partition
// values and the outcome for each row. Predicates that lakesweep refuses, and
// the differences that docs/predicates.md lists, are left out.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/predicate"
)

// columns are the partition columns, one or two of each type.
var columns = []predicate.Column{
	{Name: "s", Type: "string"}, {Name: "s2", Type: "string"}, {Name: "num", Type: "string"}, {Name: "ds", Type: "string"},
	{Name: "ty", Type: "byte"}, {Name: "sh", Type: "short"}, {Name: "i", Type: "integer"}, {Name: "l", Type: "long"},
	{Name: "f", Type: "float"}, {Name: "db", Type: "double"},
	{Name: "dc", Type: "decimal(10,2)"}, {Name: "dw", Type: "decimal(20,5)"},
	{Name: "bo", Type: "boolean"}, {Name: "dt", Type: "date"}, {Name: "ts", Type: "timestamp"}, {Name: "tn", Type: "timestamp_ntz"},
	{Name: "bi", Type: "binary"},
}

// zones are the sessions' time zones.
var zones = []string{"UTC", "America/New_York", "Asia/Kolkata"}

type line struct {
	Predicate string      `json:"predicate"`
	Zone      string      `json:"zone"`
	Rows      [][]*string `json:"rows"`
	Outcomes  []string    `json:"outcomes"`
}

func main() {
	seed := flag.Uint64("seed", 1, "of the random numbers")
	n := flag.Int("n", 1000, "number of predicates")
	rows := flag.Int("rows", 8, "number of rows for each predicate")
	schema := flag.Bool("schema", false, "print the columns instead, as name and type")
	refusals := flag.Bool("refusals", false, "print what was refused and why on stderr")
	flag.Parse()
	if *schema {
		for _, c := range columns {
			fmt.Println(c.Name, c.Type)
		}
		return
	}
	if err := write(*seed, *n, *rows, *refusals); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func write(seed uint64, n, rows int, refusals bool) error {
	r := rand.New(rand.NewPCG(seed, 0))
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	refused := 0
	for made := 0; made < n; {
		zone := zones[r.IntN(len(zones))]
		location, err := time.LoadLocation(zone)
		if err != nil {
			return err
		}
		g := generator{r}
		text := g.condition(3)
		p, err := predicate.Compile(text, predicate.Schema{Partition: columns}, predicate.Options{Zone: location})
		if err != nil {
			refused++
			if refusals {
				fmt.Fprintf(os.Stderr, "%v\n", err)
			}
			continue
		}
		made++
		l := line{Predicate: text, Zone: zone}
		for range rows {
			values, texts := g.row()
			l.Rows = append(l.Rows, texts)
			l.Outcomes = append(l.Outcomes, p.Match(values).String())
		}
		if err := out.Encode(l); err != nil {
			return err
		}
	}
	fmt.Fprintf(os.Stderr, "%d predicates, %d refused\n", n, refused)
	return nil
}

// row makes a value for each column.
func (g generator) row() (lake.Partition, []*string) {
	values := make(lake.Partition, len(columns))
	texts := make([]*string, len(columns))
	for i, c := range columns {
		values[i] = lake.PartitionValue{Column: c.Name, Null: true}
		if g.chance(15) {
			continue
		}
		text := g.pick(texts4(c))
		values[i].Value, values[i].Null = text, false
		texts[i] = &text
	}
	return values, texts
}
