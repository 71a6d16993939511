package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lakesweep/lakesweep/internal/cli/internal/value"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/plan"
	"github.com/lakesweep/lakesweep/report"
	"github.com/lakesweep/lakesweep/sweep"
)

// The first and last lines of a text that tells of no delete.
const (
	dryRun  = "DRY RUN: nothing was deleted"
	nothing = "NOTHING DELETED: a guard refused"
)

func (a *app) planCommand() *cobra.Command {
	var f planFlags
	var out string
	var detailed bool
	cmd := &cobra.Command{
		Use:   "plan TABLE...",
		Short: "Show which files of a table are dead, and why; change nothing",
		Long: `Plan reads a table's log and its storage, shows the objects that no retained
version can reach and that are older than the cutoff, with the reason for each,
and writes nothing but the plan file that --out names. A guard that refuses
makes it exit with 4, and such a plan can't be applied.

With several tables --out names a directory. They may share one --inventory,
which is then read once. The gravest exit status wins.`,
		Example: `  lakesweep plan ./table
  lakesweep plan s3://bucket/events --where "day < '2026-01-01'" --out events.plan
  lakesweep plan s3://bucket/a s3://bucket/b --inventory s3://inv/manifest.json --out plans/
  lakesweep plan ./table -o paths -0 | xargs -0 ls -l`,
		Args: atLeast(1, "at least one TABLE"),
	}
	f.bindTable(cmd.Flags())
	f.bindSelection(cmd.Flags())
	f.bindRetention(cmd.Flags())
	f.bindTuning(cmd.Flags())
	cmd.Flags().Var(value.New(&out, "FILE|DIR", value.LocalFile), "out", "write the plan to this file (a directory for several tables)")
	cmd.Flags().BoolVar(&detailed, "detailed-exitcode", false, "exit with 20 if the plan isn't empty")
	cmd.RunE = a.run(func(ctx context.Context, e engine, args []string) error {
		reqs, err := f.requests(a, args)
		if err != nil {
			return err
		}
		return a.plan(ctx, e, reqs, planOutput{out: out, detailed: detailed, many: len(reqs) > 1})
	})
	return cmd
}

// planOutput is where plans go.
type planOutput struct {
	out      string // file or directory; "" for none
	detailed bool
	many     bool
}

// plan makes and prints the plan of each table. Tables that share an inventory
// are planned in one pass, and one's error is the error of all; of others every
// one is tried, each error is told, and the last one returned.
func (a *app) plan(ctx context.Context, e engine, reqs []sweep.PlanRequest, o planOutput) error {
	taken := map[string]bool{}
	files := make([]string, len(reqs))
	for i, req := range reqs {
		var err error
		if files[i], err = planFile(o, req.Table, taken); err != nil {
			return err
		}
	}
	if len(reqs) > 1 && reqs[0].Inventory.Given() {
		a.progress.Begin(report.Plural(int64(len(reqs)), "table"))
		plans, err := e.PlanMany(ctx, reqs, files)
		for i, p := range plans {
			err = a.another(ctx, err, errors.Join(a.out.seal(), a.planned(p, files[i], o), p.Close()))
		}
		return err
	}
	var last error
	for i, req := range reqs {
		a.progress.Begin(req.Table)
		p, err := e.Plan(ctx, req, files[i])
		if sealed := a.out.seal(); sealed != nil {
			return sealed
		}
		if err == nil {
			err = errors.Join(a.planned(p, files[i], o), p.Close())
		}
		last = a.another(ctx, last, err)
		if ctx.Err() != nil {
			break
		}
	}
	return last
}

// another tells err and returns it, or if there is none the error before it.
func (a *app) another(ctx context.Context, before, err error) error {
	if err == nil {
		return before
	}
	err = a.named(ctx, err)
	a.status = worst(a.status, exitStatus(ctx, err))
	a.tell(err)
	return toldError{err}
}

// planned prints a plan that lies in file, if it isn't "".
func (a *app) planned(p *plan.Plan, file string, o planOutput) error {
	head := p.Head()
	view := planView(p)
	view.First, view.Last = dryRun, dryRun
	some := head.Totals.Dead+head.Totals.DeadDirectories > 0
	switch {
	case view.Refused() || !some:
	case !sweep.Carries(&head):
		view.Next = a.withBlobsDeleted(file != "")
	case file != "":
		view.Next = []string{"lakesweep apply " + shellQuote(file)}
	case o.many:
		view.Next = []string{commandLine(slices.Concat(a.Args, []string{"--out", "plans/"}))}
	default:
		view.Next = a.withoutDryRun(head.Format)
	}
	if err := a.show(view, o.many); err != nil {
		return err
	}
	if o.detailed && some {
		a.status = worst(a.status, exitNotEmpty)
	}
	return nil
}

// planView is what is printed of any plan.
func planView(p *plan.Plan) report.Plan {
	view := report.Plan{Head: p.Head(), Rows: p.Rows()}
	view.Oldest, view.Youngest = p.Times()
	return view
}

// show prints a plan; its error is that of the guard that refused, if one did.
func (a *app) show(view report.Plan, many bool) error {
	a.progress.Flushed()
	opt := report.Options{Many: many}
	if root, err := lake.ParsePlace(view.Head.Table); err == nil {
		opt.Prices = report.PricesOf(root.Class())
	}
	if err := a.printer(opt).Plan(view); err != nil {
		return err
	}
	for _, g := range view.Head.Guards {
		if g.Outcome == filelist.Warned {
			a.log.Warn(g.Detail, "table", view.Head.Table, "guard", g.Code)
		}
	}
	err := refusal(view.Head)
	if err == nil {
		return nil
	}
	if a.flags.output == report.Paths || a.flags.output == report.CSV {
		err.Hint += " (-o text and -o jsonl show what the plan holds.)"
	}
	return err
}

// refusal is the error of the guards that refused, nil if none did: its hint is
// what to do about each. What is wrong with a list comes first, for the other
// refusals may follow from it.
func refusal(h filelist.Head) *lake.Error {
	var refused []filelist.Guard
	for _, g := range h.Guards {
		if g.Outcome == filelist.Refused {
			refused = append(refused, g)
		}
	}
	if len(refused) == 0 {
		return nil
	}
	slices.SortStableFunc(refused, func(a, b filelist.Guard) int {
		return cmp.Compare(rank(a.Code), rank(b.Code))
	})
	var texts, fixes []string
	for _, g := range refused {
		texts = append(texts, g.Code+": "+g.Detail)
		if g.Fix != "" && !slices.Contains(fixes, g.Fix) {
			fixes = append(fixes, g.Fix)
		}
	}
	return &lake.Error{Op: "guard", Table: h.Table, Kind: lake.Refused, Code: refused[0].Code, Err: errors.New(strings.Join(texts, "; ")), Hint: strings.Join(fixes, " ")}
}

func rank(code string) int {
	if strings.HasPrefix(code, "inventory") {
		return 0
	}
	return 1
}

// planFile names the file of a table's plan: out itself, or in out as a directory
// the last component of the table's name, numbered if it comes again.
func planFile(o planOutput, table string, taken map[string]bool) (string, error) {
	if o.out == "" {
		return "", nil
	}
	stat, err := os.Stat(o.out)
	isDir := err == nil && stat.IsDir()
	if !o.many && !isDir && !strings.HasSuffix(o.out, "/") {
		return o.out, nil
	}
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return "", invalid("Name a directory that can be written.", "--out: %w", err)
	}
	base := strings.TrimRight(table, "/")
	base = base[strings.LastIndexByte(base, '/')+1:]
	file := filepath.Join(o.out, base+".plan")
	for n := 2; taken[file]; n++ {
		file = filepath.Join(o.out, fmt.Sprintf("%s-%d.plan", base, n))
	}
	taken[file] = true
	return file, nil
}

// withoutDryRun is this command line with vacuum (of Hudi: clean) in place of plan, or without
// its --dry-run; nothing if the dry run wasn't asked for there in so many words.
func (a *app) withoutDryRun(format string) []string {
	if a.command == "sql" {
		return []string{"the same statement without DRY RUN"}
	}
	var words []string
	verb, changed := "vacuum", false
	if format == "hudi" {
		verb = "clean"
	}
	for _, arg := range a.Args {
		name, _, _ := strings.Cut(arg, "=")
		switch {
		case !changed && a.command == "plan" && arg == "plan":
			words, changed = append(words, verb), true
		case name == "--detailed-exitcode":
		case a.command != "plan" && (name == "--dry-run" || arg == "-n"):
			changed = true
		default:
			words = append(words, arg)
		}
	}
	if !changed {
		return nil
	}
	return []string{commandLine(words)}
}

// withBlobsDeleted is this command line with --blobs delete, since a plan that
// only shows blobs isn't carried out: as it stands where it writes a plan file,
// else the one that deletes.
func (a *app) withBlobsDeleted(again bool) []string {
	b := *a
	b.Args = nil
	for i := 0; i < len(a.Args); i++ {
		switch arg := a.Args[i]; {
		case arg == "--blobs":
			i++
		case strings.HasPrefix(arg, "--blobs="):
		default:
			b.Args = append(b.Args, arg)
		}
	}
	b.Args = append(b.Args, "--blobs", "delete")
	if again {
		return []string{commandLine(b.Args)}
	}
	return b.withoutDryRun("hudi")
}

// commandLine spells a command for a POSIX shell.
func commandLine(args []string) string {
	words := []string{"lakesweep"}
	for _, arg := range args {
		words = append(words, shellQuote(arg))
	}
	return strings.Join(words, " ")
}

// shellQuote spells a word for a POSIX shell.
func shellQuote(s string) string {
	plain := strings.IndexFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_./:=@%+,", r)
	}) < 0
	if plain && s != "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
