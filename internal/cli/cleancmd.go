package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lakesweep/lakesweep/internal/cli/internal/value"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/plan"
	"github.com/lakesweep/lakesweep/report"
	"github.com/lakesweep/lakesweep/sweep"
)

func (a *app) applyCommand() *cobra.Command {
	var f applyFlags
	cmd := &cobra.Command{
		Use:   "apply FILE",
		Short: "Delete what a plan file lists",
		Long: `Apply carries out a plan file exactly: it adds nothing. Before the first delete
and between batches it reads what was committed since, and spares what became
needed. A plan that no longer fits its table is refused with exit 5.

What happens is written to a journal beside the plan, FILE.PLAN_ID.journal; the
same command again goes on from it.`,
		Example: `  lakesweep apply events.plan
  lakesweep apply events.plan --yes --max-delete 100000 --quarantine s3://bucket/quarantine`,
		Args: exactly(1, "one plan FILE"),
	}
	f.bind(cmd.Flags())
	cmd.Flags().BoolVar(&f.req.BlobsWait, "blobs-wait", false, "Hudi: wait until the blobs that this run queues are due, and delete them")
	cmd.RunE = a.run(func(ctx context.Context, e engine, args []string) (err error) {
		if err := a.mayAsk(f.yes); err != nil {
			return err
		}
		if _, err := value.LocalFile(args[0]); err != nil {
			return invalid("Name a plan file that plan --out wrote.", "%w", err)
		}
		p, err := plan.Open(ctx, args[0])
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, p.Close()) }()
		if f.req.Journal == "" {
			f.req.Journal = args[0] + "." + p.Head().PlanID + ".journal" // a plan written over this one has a journal of its own
		}
		a.progress.Begin(p.Head().Given)
		if err := refusal(p.Head()); err != nil {
			err.Hint = "A refused plan can't be applied. Plan again when this is mended: " + err.Hint
			return err
		}
		return a.carryOut(ctx, e, p, f)
	})
	return cmd
}

// vacuumCommand is vacuum, and under its Hudi name, clean.
func (a *app) vacuumCommand(name string) *cobra.Command {
	var pf planFlags
	var af applyFlags
	var dry bool
	short, example := "Plan, show, ask, delete", `  lakesweep vacuum ./table --dry-run
  lakesweep vacuum s3://bucket/events --retain 14d --yes
  lakesweep vacuum ./table --mode lite --yes --max-duration 30m`
	if name == "clean" {
		short, example = "The same as vacuum, in Hudi's words", `  lakesweep clean ./table --dry-run
  lakesweep clean s3://bucket/trips --retain-commits 10 --timeline-zone UTC --config lock.properties --yes`
	}
	cmd := &cobra.Command{
		Use:   name + " TABLE",
		Short: short,
		Long: `Plans as "lakesweep plan" does, shows the plan, asks, and applies it as
"lakesweep apply" does. Without a terminal to ask on it needs --yes.
vacuum and clean are two names of one command: either works on either format.`,
		Example: example,
		Args:    oneTable,
	}
	pf.bindTable(cmd.Flags())
	pf.bindSelection(cmd.Flags())
	pf.bindRetention(cmd.Flags())
	pf.bindTuning(cmd.Flags())
	af.bind(cmd.Flags())
	cmd.Flags().BoolVarP(&dry, "dry-run", "n", false, "stop after the plan")
	cmd.RunE = a.run(func(ctx context.Context, e engine, args []string) error {
		reqs, err := pf.requests(a, args)
		if err != nil {
			return err
		}
		return a.vacuum(ctx, e, reqs[0], af, dry)
	})
	return cmd
}

// vacuum plans one table and carries the plan out.
func (a *app) vacuum(ctx context.Context, e engine, req sweep.PlanRequest, af applyFlags, dry bool) (err error) {
	if af.req.AllVersions != "" {
		if err := checkUnsafe("all-versions", []string{af.req.AllVersions}, []string{req.Table}); err != nil {
			return err
		}
	}
	if dry {
		return a.plan(ctx, e, []sweep.PlanRequest{req}, planOutput{})
	}
	if err := a.mayAsk(af.yes); err != nil {
		return err
	}
	a.progress.Begin(req.Table)
	req.AtOnce = &af.req
	p, err := e.Plan(ctx, req, "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	view := planView(p)
	switch {
	case view.Refused():
		view.First, view.Last = nothing, nothing
		return a.show(view, false)
	case a.flags.output == report.Text:
		view.First = "TO BE DELETED:"
		if err := a.show(view, false); err != nil {
			return err
		}
	}
	return a.carryOut(ctx, e, p, af)
}

// carryOut asks where that is needed and applies a plan.
func (a *app) carryOut(ctx context.Context, e engine, p *plan.Plan, f applyFlags) error {
	head := p.Head()
	if !f.yes {
		listed, due, queued := sweep.Blobs(&head)
		what := report.Plural(head.Totals.Dead-listed, "file") + ", " + report.Bytes(head.Totals.DeadBytes) + ","
		if due > 0 {
			what += " and " + report.Plural(due, "blob") + ","
		}
		then := ""
		if queued > 0 {
			then = ", and queue " + report.Plural(queued, "blob")
		}
		verb := "Delete "
		switch {
		case f.req.Quarantine != "":
			verb = "Move to quarantine "
		case f.req.Trash:
			verb = "Move to the trash "
		}
		if err := a.ask(ctx, verb+strings.TrimSuffix(what, ",")+" of "+report.Printable(head.Table)+then+"?"); err != nil {
			return err
		}
	}
	f.req.Tuning = a.flags.tuning
	verb := "DELETED"
	switch {
	case f.req.Quarantine != "":
		verb = "QUARANTINED"
	case f.req.Trash:
		verb = "MOVED TO THE TRASH"
	}
	return a.execute(ctx, &head.Table, verb, func(emit func(sweep.Outcome)) (sweep.Result, error) {
		return e.Apply(ctx, p, f.req, emit)
	})
}

// execute runs something that gives outcomes and prints them and their summary.
// The table may become known only when do has begun.
func (a *app) execute(ctx context.Context, table *string, verb string, do func(emit func(sweep.Outcome)) (sweep.Result, error)) error {
	var run *report.Run
	begin := func() *report.Run {
		if run == nil {
			run = a.printer(report.Options{}).Run(*table, verb)
		}
		return run
	}
	result, err := do(func(o sweep.Outcome) {
		begin().Outcome(report.Outcome{Key: o.Key, URI: o.URI, Directory: o.Reason == lake.EmptyDirectory, Reason: o.Reason, Outcome: o.Outcome, Err: o.Err})
	})
	if err != nil && run == nil {
		return err // nothing was begun, so there is nothing to sum up
	}
	a.progress.Flushed()
	printErr := begin().End(report.RunSummary{Table: *table, PlanID: result.PlanID, Verb: verb, Deleted: result.Deleted, Gone: result.Gone,
		Spared: result.Spared, Quarantined: result.Quarantined, Restored: result.Restored, Purged: result.Purged, Failed: result.Failed, Skipped: result.Skipped,
		Queued: result.Queued, LockHeld: result.LockHeld,
		Directories: result.Directories, Bytes: result.Bytes, Moved: result.Moved, Resumed: result.Resumed, Versioned: result.Versioned, HeldUntil: result.HeldUntil,
		Limit: result.Limit, Journal: result.Journal, Seconds: result.Seconds, Complete: result.Complete})
	switch {
	case err != nil:
		return err
	case printErr != nil:
		return printErr
	case result.Failed > 0:
		return &lake.Error{Op: "delete", Table: *table, Kind: lake.Partial,
			Err: fmt.Errorf("%s could not be deleted", report.Plural(result.Failed, "object"))}
	case result.Limit != "":
		return &lake.Error{Op: "delete", Table: *table, Kind: lake.Limit, Err: fmt.Errorf("%s was reached", result.Limit)}
	}
	return nil
}

// mayAsk checks that a person could be asked.
//
// Errors: Invalid.
func (a *app) mayAsk(yes bool) error {
	if yes || terminal(a.Stdin) && terminal(a.Stderr) {
		return nil
	}
	return invalid("Give --yes to delete without being asked; lakesweep plan TABLE only looks.",
		"there is no terminal to ask on")
}

// ask asks on the terminal; only the whole word goes on. Whoever ends ctx needs
// no answer: what still waits for one ends with the process.
//
// Errors: Invalid if the answer isn't yes; Interrupted.
func (a *app) ask(ctx context.Context, question string) error {
	a.progress.Flushed()
	if _, err := io.WriteString(a.talk, question+" Type yes to go on: "); err != nil {
		return &lake.Error{Op: "ask", Err: err}
	}
	type reply struct {
		text string
		err  error
	}
	replies := make(chan reply, 1)
	go func() {
		text, err := bufio.NewReader(a.Stdin).ReadString('\n')
		replies <- reply{text, err}
	}()
	var answer reply
	select {
	case answer = <-replies:
	case <-ctx.Done():
		return &lake.Error{Op: "ask", Kind: lake.Interrupted, Err: ctx.Err(), Hint: "Nothing was deleted."}
	}
	if answer.err != nil && answer.err != io.EOF {
		return &lake.Error{Op: "ask", Err: answer.err}
	}
	if strings.TrimSpace(answer.text) != "yes" {
		return invalid("Nothing was deleted. Answer yes, or give --yes.", "the answer was not yes")
	}
	return nil
}

func (a *app) restoreCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "restore JOURNAL [PATH...]",
		Short: "Put back what a run moved into quarantine",
		Long: `Restore reads the journal of a run with --quarantine and moves its objects back
to where they were, all of them or only the paths given (relative to the
table). It never overwrites what stands there by now.`,
		Example: "  lakesweep restore events.journal\n  lakesweep restore events.journal day=2026-01-01/part-0.parquet",
		Args:    atLeast(1, "a JOURNAL"),
	}
	cmd.RunE = a.run(func(ctx context.Context, e engine, args []string) error {
		a.progress.Begin(args[0])
		table := args[0]
		return a.execute(ctx, &table, "RESTORED", func(emit func(sweep.Outcome)) (sweep.Result, error) {
			return e.Restore(ctx, sweep.UndoRequest{Journal: args[0], Paths: args[1:], Tuning: a.flags.tuning, Begun: func(of string) { table = of }}, emit)
		})
	})
	return cmd
}

func (a *app) purgeCommand() *cobra.Command {
	req := sweep.UndoRequest{OlderThan: 7 * 24 * time.Hour}
	var yes bool
	cmd := &cobra.Command{
		Use:   "purge JOURNAL",
		Short: "Delete for good what a run moved into quarantine",
		Long: `Purge reads the journal of a run with --quarantine and deletes the objects that
have lain in quarantine for longer than --older-than, 7 days unless it says
otherwise; 0s takes all of them.`,
		Example: "  lakesweep purge events.journal --older-than 7d --yes",
		Args:    exactly(1, "one JOURNAL"),
	}
	cmd.Flags().Var(value.New(&req.OlderThan, "DURATION", value.Duration), "older-than", "only what lies there for so long (default: 7d)")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "delete without asking")
	cmd.RunE = a.run(func(ctx context.Context, e engine, args []string) error {
		if err := a.mayAsk(yes); err != nil {
			return err
		}
		if !yes {
			if err := a.ask(ctx, "Delete for good what "+report.Printable(args[0])+" moved into quarantine?"); err != nil {
				return err
			}
		}
		a.progress.Begin(args[0])
		table := args[0]
		req.Journal, req.Tuning, req.Begun = args[0], a.flags.tuning, func(of string) { table = of }
		return a.execute(ctx, &table, "PURGED", func(emit func(sweep.Outcome)) (sweep.Result, error) {
			return e.Purge(ctx, req, emit)
		})
	})
	return cmd
}
