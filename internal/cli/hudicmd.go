package cli

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/lakesweep/lakesweep/internal/cli/internal/value"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/report"
	"github.com/lakesweep/lakesweep/sweep"
)

func (a *app) hudiCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "hudi", Short: "What only Hudi tables need", Args: cobra.NoArgs,
		Long:    "Commands for writers of Hudi tables.",
		Example: "  lakesweep hudi check-commit ./table --paths blobs.txt",
	}
	cmd.AddCommand(a.checkCommitCommand())
	return cmd
}

func (a *app) checkCommitCommand() *cobra.Command {
	var f planFlags
	var req sweep.CheckRequest
	var paths string
	cmd := &cobra.Command{
		Use:   "check-commit TABLE",
		Short: "Ask, before a commit, whether a blob that it refers to is being deleted",
		Long: `Check-commit tells a writer whether a clean that is requested or inflight, a
drain of blobs that is under way, or one of either that ended since the write
began deletes an external blob that the write refers to. It exits with 4 if so,
and the write must not commit. Any other status than 0 means that nothing could
be found out: don't commit either.

Name the files that the write wrote with --files, or the blobs themselves in a
file with --paths ("-" is standard input). Ask while holding the table's lock.`,
		Example: `  lakesweep hudi check-commit s3://bucket/trips --instant 20260301120000000 --files p=1/f-0_0-1-2_20260301120000000.parquet
  lakesweep hudi check-commit ./table --paths blobs.txt -o json`,
		Args: exactly(1, "one TABLE"),
	}
	f.bindTable(cmd.Flags())
	cmd.Flags().Var(value.New(&req.Instant, "INSTANT", value.Verbatim), "instant", "instant of the write (default: whatever was deleted of late counts)")
	cmd.Flags().Var(value.Many(&req.Files, "FILE", value.Verbatim), "files", "base or log file that the write wrote (repeatable; others may follow it as arguments)")
	cmd.Flags().Var(value.New(&paths, "FILE", value.LocalFile), "paths", "file with the blobs that the write refers to, one a line; - for standard input")
	cmd.Flags().Var(value.Many(&f.maps, "FROM=TO", parseMap), "map", "names that begin with FROM are reached at TO (repeatable)")
	cmd.Args = atLeast(1, "one TABLE")
	cmd.RunE = a.run(func(ctx context.Context, e engine, args []string) error {
		reqs, err := f.requests(a, args[:1])
		if err != nil {
			return err
		}
		req.Plan, req.Files = reqs[0], append(req.Files, args[1:]...)
		if len(req.Files) == 0 && paths == "" {
			return invalid("Give --files or --paths.", "nothing says what the write refers to")
		}
		in, err := a.input(paths)
		if err != nil {
			return err
		}
		if in != nil {
			defer in.Close() //nolint:errcheck // it was read
			req.Paths = in
		}
		answer, err := e.CheckCommit(ctx, req)
		if err != nil {
			return err
		}
		a.progress.Flushed()
		facts := [][2]string{{"references", report.Count(answer.References)}, {"lists read", report.Count(int64(answer.Read))}, {"conflicts", report.Count(int64(len(answer.Conflicts)))}}
		for _, c := range answer.Conflicts {
			facts = append(facts, [2]string{c.What, report.Printable(fmt.Sprintf("%s (%s) deletes %s", c.Instant, c.State, c.Path))})
		}
		if err := a.printer(report.Options{}).Document("check", answer, facts); err != nil {
			return err
		}
		if len(answer.Conflicts) == 0 {
			return nil
		}
		first := answer.Conflicts[0]
		return &lake.Error{Op: "check commit", Table: answer.Table, Kind: lake.Refused, Code: "blob_conflict",
			Err:  fmt.Errorf("the %s %s (%s) deletes %s", first.What, first.Instant, first.State, first.Path),
			Hint: "Don't commit: upload the blob under another name, or write again when the clean is done."}
	})
	return cmd
}

// input opens a file or, for "-", standard input; nil for "".
func (a *app) input(name string) (io.ReadCloser, error) {
	switch name {
	case "":
		return nil, nil
	case "-":
		return io.NopCloser(a.Stdin), nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, invalid("Name a file that can be read.", "%w", err)
	}
	return f, nil
}
