package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/report"
	"github.com/lakesweep/lakesweep/sweep"
	"github.com/lakesweep/lakesweep/table"
)

// look makes a command that reads one table.
func (a *app) look(cmd *cobra.Command, retention bool, body func(ctx context.Context, e engine, req sweep.PlanRequest, args []string) error, more ...func(*planFlags, *pflag.FlagSet)) *cobra.Command {
	f := new(planFlags)
	f.bindTable(cmd.Flags())
	for _, bind := range more {
		bind(f, cmd.Flags())
	}
	if retention {
		f.bindRetention(cmd.Flags())
	}
	cmd.RunE = a.run(func(ctx context.Context, e engine, args []string) error {
		reqs, err := f.requests(a, args[:1])
		if err != nil {
			return err
		}
		a.progress.Begin(args[0])
		return body(ctx, e, reqs[0], args[1:])
	})
	return cmd
}

func (a *app) explainCommand() *cobra.Command {
	return a.look(&cobra.Command{
		Use:   "explain TABLE PATH...",
		Short: "Say why an object is protected or dead",
		Long: `Explain tells for each path, relative to the table or absolute, whether the
object is live, held for history, young, dead, foreign, hidden or absent, and
by which version or instant, action and rule. Paths are spelled as plan prints
them. Of an external blob of a Hudi table it names the files, records and
instants that refer to it.`,
		Example: "  lakesweep explain ./table part-00000.parquet\n  lakesweep explain s3://lake/trips s3://media/videos/1.mp4",
		Args:    atLeast(2, "a TABLE and at least one PATH"),
	}, true, func(ctx context.Context, e engine, req sweep.PlanRequest, paths []string) error {
		all, err := e.Explain(ctx, req, paths)
		if err != nil {
			return err
		}
		a.progress.Flushed()
		return a.printer(report.Options{}).Explanations(all)
	}, (*planFlags).bindBlobNames)
}

func (a *app) verifyCommand() *cobra.Command {
	return a.look(&cobra.Command{
		Use:   "verify TABLE",
		Short: "Find files that the table refers to but storage lacks; change nothing",
		Long: `Verify compares what the table refers to with what storage holds: rows missing,
size_mismatch, foreign_table and unreadable, and of Hudi tables leftover: what
failed writes left behind. It changes nothing, and exits with 4 if it found
anything. With --blobs it also compares what a Hudi table's records refer to
with the blobs below each --blob-root: rows missing and unreferenced.`,
		Example: "  lakesweep verify ./table\n  lakesweep verify s3://bucket/events -o jsonl\n  lakesweep verify s3://lake/trips --blobs --blob-root s3://media/trips",
		Args:    exactly(1, "one TABLE"),
	}, false, func(ctx context.Context, e engine, req sweep.PlanRequest, _ []string) error {
		found := map[string]bool{}
		n, err := a.printer(report.Options{}).Findings(a.placeOf(e, req.Table), func(yield func(table.Finding, error) bool) {
			for f, err := range e.Verify(ctx, req) {
				found[f.Type] = true
				if !yield(f, err) {
					return
				}
			}
		})
		if err != nil {
			return err
		}
		if n > 0 {
			return &lake.Error{Op: "verify", Table: req.Table, Kind: lake.Refused, Code: "verify",
				Err: fmt.Errorf("%s", report.Plural(n, "finding")), Hint: verifyHint(found)}
		}
		return nil
	}, (*planFlags).bindBlobNames, func(f *planFlags, fs *pflag.FlagSet) {
		fs.BoolFunc("blobs", "Hudi: compare external blobs too", func(text string) error {
			on, err := strconv.ParseBool(text)
			f.blobs.req.Mode = ""
			if on {
				f.blobs.req.Mode = "plan"
			}
			return err
		})
	})
}

// verifyHint says what to do about findings of some types, the worst first.
func verifyHint(found map[string]bool) string {
	switch {
	case found["missing"] || found["size_mismatch"]:
		return "Restore the missing files from a backup, or RESTORE the table to a version that is whole."
	case found["unreadable"]:
		return "Each row says why it can't be read; verify again when it can."
	case found["leftover"]:
		return "Nothing that the table needs is missing. clean with --orphans takes what failed writes left, once it is old enough."
	case found["unreferenced"]:
		return "Nothing that the table needs is missing. A blob that nothing refers to is never deleted unless it is queued: lakesweep explain TABLE PATH tells."
	}
	return "Nothing that the table needs is missing. lakesweep explain TABLE PATH tells of each."
}

// placeOf is how a document names a table, by its root; a text says it as the
// user did. A name without a root is left for the run to refuse.
func (a *app) placeOf(e engine, table string) string {
	if a.flags.output == report.Text {
		return table
	}
	root, err := e.Root(table)
	if err != nil {
		return table
	}
	return root.String()
}

func (a *app) usageCommand() *cobra.Command {
	return a.look(&cobra.Command{
		Use:   "usage TABLE",
		Short: "Show live, held, dead and unknown bytes by partition",
		Long: `Usage lists the table's storage and shows for each partition the files and bytes
that are live, that only history holds, that are dead at the cutoff, and that
are of no known kind.`,
		Example: "  lakesweep usage ./table\n  lakesweep usage s3://bucket/events --retain 30d -o csv",
		Args:    exactly(1, "one TABLE"),
	}, true, func(ctx context.Context, e engine, req sweep.PlanRequest, _ []string) error {
		return a.printer(report.Options{}).Usage(a.placeOf(e, req.Table), e.Usage(ctx, req))
	})
}

func (a *app) inspectCommand() *cobra.Command {
	return a.look(&cobra.Command{
		Use:   "inspect TABLE",
		Short: "Show a table's version, protocol, retention and size",
		Long: `Inspect reads the log or timeline alone and shows the version or instant, the
protocol and features, partition columns, retention, and the active files.`,
		Example: "  lakesweep inspect ./table\n  lakesweep inspect s3://bucket/events -o json",
		Args:    exactly(1, "one TABLE"),
	}, false, func(ctx context.Context, e engine, req sweep.PlanRequest, _ []string) error {
		info, err := e.Inspect(ctx, req)
		if err != nil {
			return err
		}
		a.progress.Flushed()
		return a.printer(report.Options{}).Info(info)
	})
}

func (a *app) doctorCommand() *cobra.Command {
	return a.look(&cobra.Command{
		Use:   "doctor TABLE",
		Short: "Find out what would stop a run",
		Long: `Doctor checks credentials and permissions, the bucket's versioning and soft
delete, the clock, the lock and the table's features. It changes nothing, and
exits with 4 if something would stop a run, with 12 if credentials or
permissions are missing.`,
		Example: "  lakesweep doctor s3://bucket/events\n  lakesweep doctor s3://bucket/trips --timeline-zone UTC --config hudi.properties",
		Args:    exactly(1, "one TABLE"),
	}, false, func(ctx context.Context, e engine, req sweep.PlanRequest, _ []string) error {
		d, err := e.Doctor(ctx, req)
		if err != nil {
			return err
		}
		a.progress.Flushed()
		if err := a.printer(report.Options{}).Checks(d.Table, d, d.Checks); err != nil {
			return err
		}
		bad := slices.DeleteFunc(slices.Clone(d.Checks), func(g filelist.Guard) bool { return g.Outcome != filelist.Refused })
		if len(bad) == 0 {
			return nil
		}
		var codes []string
		for _, g := range bad {
			codes = append(codes, g.Code)
		}
		kind := lake.Refused
		if d.Denied {
			kind = lake.Denied
		}
		return &lake.Error{Op: "doctor", Table: req.Table, Kind: kind, Code: bad[0].Code,
			Err: fmt.Errorf("a run would stop: %s", strings.Join(codes, ", ")), Hint: bad[0].Fix}
	}, (*planFlags).bindAlone)
}
