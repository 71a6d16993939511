package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/lakesweep/lakesweep/internal/cli/internal/value"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/report"
	"github.com/lakesweep/lakesweep/sweep"
)

func (a *app) inventoryCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "inventory",
		Short: "Make or convert lists of objects for --inventory",
		Long: `An inventory is a list of objects made beforehand, which plan --inventory reads
instead of listing the store.`,
		Example: "  lakesweep inventory make s3://bucket/lake --out lake.parquet",
		Args:    exactly(0, "make or convert"),
	}
	cmd.AddCommand(a.inventoryMakeCommand(), a.inventoryConvertCommand())
	return cmd
}

func (a *app) inventoryMakeCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:     "make PREFIX",
		Short:   "List a prefix once into a Parquet inventory",
		Long:    "Make lists every object below PREFIX, a path or URI, into one Parquet file that serves as\n--inventory for all tables there.",
		Example: "  lakesweep inventory make s3://bucket/lake --out lake.parquet",
		Args:    exactly(1, "one PREFIX"),
	}
	cmd.Flags().Var(value.New(&out, "FILE", value.LocalFile), "out", "the file to write")
	cmd.RunE = a.run(func(ctx context.Context, e engine, args []string) error {
		if out == "" {
			return invalid("Give --out FILE.", "no place for the inventory")
		}
		a.progress.Begin(args[0])
		l, err := e.MakeInventory(ctx, sweep.ListRequest{Place: args[0], Tuning: a.flags.tuning}, out)
		if err != nil {
			return err
		}
		return a.listed("inventory", l)
	})
	return cmd
}

func (a *app) inventoryConvertCommand() *cobra.Command {
	var f planFlags
	var out string
	cmd := &cobra.Command{
		Use:   "convert SRC",
		Short: "Convert an inventory of any kind into Parquet",
		Long: `Convert reads any list that --inventory takes, such as an S3 Inventory
manifest, and writes it as the Parquet file that is read fastest. With --map the
names are written as they are reached.`,
		Example: `  lakesweep inventory convert s3://inv/bucket/daily/2026-01-31T00-00Z/manifest.json --out daily.parquet
  lakesweep inventory convert manifest.json --map s3://lake=/mnt/lake --out daily.parquet`,
		Args: exactly(1, "one SRC"),
	}
	f.bindForm(cmd.Flags())
	f.bindMap(cmd.Flags())
	cmd.Flags().Var(value.New(&out, "FILE", value.LocalFile), "out", "the file to write")
	cmd.RunE = a.run(func(ctx context.Context, e engine, args []string) error {
		if out == "" {
			return invalid("Give --out FILE.", "no place for the inventory")
		}
		a.progress.Begin(args[0])
		req := f.req.Inventory
		req.Source, req.Maps = args[0], f.maps
		l, err := e.ConvertInventory(ctx, req, out)
		if err != nil {
			return err
		}
		return a.listed("inventory", l)
	})
	return cmd
}

func (a *app) benchCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "bench",
		Short:   "Measure the store",
		Long:    "Measure what the store and this machine can do together.",
		Example: "  lakesweep bench list s3://bucket/lake",
		Args:    exactly(0, "list"),
	}
	list := &cobra.Command{
		Use:   "list URI",
		Short: "Measure how fast a prefix is listed",
		Long: `List lists every object below URI, keeps none, and tells keys a second, pages,
splits, wasted requests, and the time that the request limit (--list-rate)
alone would need.`,
		Example: "  lakesweep bench list s3://bucket/lake --list-rate 3500",
		Args:    exactly(1, "one URI"),
	}
	list.RunE = a.run(func(ctx context.Context, e engine, args []string) error {
		a.progress.Begin(args[0])
		l, err := e.BenchList(ctx, sweep.ListRequest{Place: args[0], Tuning: a.flags.tuning})
		if err != nil {
			return err
		}
		return a.listed("bench", l)
	})
	cmd.AddCommand(list)
	return cmd
}

// listed prints what a listing or conversion took.
func (a *app) listed(kind string, l sweep.Listed) error {
	a.progress.Flushed()
	facts := [][2]string{{"place", report.Printable(l.Place)}}
	if l.Out != "" {
		facts = append(facts, [2]string{"written", report.Printable(l.Out)})
	}
	took := time.Duration(l.Seconds * float64(time.Second))
	rate := ""
	if l.Seconds > 0 {
		rate = ", " + report.Count(int64(float64(l.Objects)/l.Seconds)) + " a second"
	}
	facts = append(facts, [2]string{"objects", report.Count(l.Objects) + ", " + report.Bytes(l.Bytes)},
		[2]string{"took", lake.Span(took) + rate})
	if l.Pages > 0 {
		facts = append(facts, [2]string{"pages", fmt.Sprintf("%s, %s, %s wasted, %s throttled", report.Count(l.Pages),
			report.Plural(l.Splits, "split"), report.Count(l.Wasted), report.Count(l.Throttled))})
	}
	if l.Floor > 0 {
		facts = append(facts, [2]string{"limit", "the request limit alone needs " + lake.Span(time.Duration(l.Floor*float64(time.Second)))})
	}
	return a.printer(report.Options{}).Document(kind, l, facts)
}
