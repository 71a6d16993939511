package place

import (
	"context"
	"errors"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/sweep/internal/together"
	"github.com/lakesweep/lakesweep/table/delta"
	"github.com/lakesweep/lakesweep/table/hudi"
)

// Detect tells the format of the table at p, "delta" or "hudi": the one that
// is asked for, or with "" the only one there.
//
// Errors: Invalid, NotTable; those of the store.
func (p *Place) Detect(ctx context.Context, format string) (string, error) {
	var isHudi bool
	err := together.Do(
		func() (err error) { p.log, err = delta.Detect(ctx, p.Reader); return err },
		func() (err error) { isHudi, err = hudi.Detect(ctx, p.Reader); return err },
	)
	if err != nil {
		return "", err
	}
	isDelta := p.log != nil
	switch {
	case format == "delta" && isDelta, format == "hudi" && isHudi:
		return format, nil
	case format != "" && format != "delta" && format != "hudi":
		return "", p.Invalid("unknown format "+format, "Write --format delta or --format hudi.")
	case format != "":
		return "", p.notTable("no " + format + " table there")
	case isDelta && isHudi:
		return "", p.Invalid("both a Delta log and a Hudi timeline lie there", "Say which one with --format delta or --format hudi.")
	case isDelta:
		return "delta", nil
	case isHudi:
		return "hudi", nil
	}
	return "", p.notTable("neither a Delta log nor a Hudi timeline there")
}

// Delta opens the log at p, with brief only as far as one needs who goes on to
// replay it. The first to open it needn't list what Detect saw of it.
func (p *Place) Delta(ctx context.Context, workers int, brief bool, observe lake.Observer) (*delta.Table, error) {
	now, listing := p.Now, p.log
	p.log = nil
	return delta.Open(ctx, p.Reader, p.Root, delta.Options{
		Now: func() time.Time { return now }, Aliases: p.Aliases, Inside: p.Names.Inside, Linked: p.Names.linked(),
		Workers: workers, Brief: brief, Listing: listing, Observer: observe,
	})
}

// Invalid is the error for a wish that doesn't fit the table, with what to do instead.
func (p *Place) Invalid(what, hint string) error { return Invalid(p.Given, what, hint) }

// Invalid is the error for a wish that doesn't fit a table, named as on the
// command line.
func Invalid(table, what, hint string) error {
	return &lake.Error{Op: "plan", Table: table, Kind: lake.Invalid, Err: errors.New(what), Hint: hint}
}

func (p *Place) notTable(what string) error {
	return &lake.Error{Op: "open table", Table: p.Root.String(), Kind: lake.NotTable, Err: errors.New(what),
		Hint: "Name the folder that holds _delta_log or .hoodie, not one of its partitions."}
}
