package cli

import (
	"context"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lakesweep/lakesweep/internal/cli/internal/settings"
	"github.com/lakesweep/lakesweep/internal/cli/internal/talk"
	"github.com/lakesweep/lakesweep/internal/cli/internal/value"
	"github.com/lakesweep/lakesweep/report"
	"github.com/lakesweep/lakesweep/sweep"
)

// app is one run of the program.
type app struct {
	Process
	flags    globals
	talk     *talk.Stream // standard error, shared by log, progress and prompts
	out      *documents   // standard output of documents
	log      *slog.Logger
	progress *talk.Progress
	cancel   context.CancelFunc
	running  bool              // a command has begun: errors are no longer the command line's
	command  string            // its name
	typed    map[string]bool   // flags that stand on the command line
	wishes   map[string]string // those of a format
	status   int               // of tables that are done
}

// globals are the flags of every command.
type globals struct {
	output    report.Format
	nul       bool
	quiet     bool
	verbose   bool
	noColor   bool
	logFormat string
	progress  string
	settings  string
	stateDir  string
	timeout   time.Duration
	tuning    sweep.Tuning
	stores    storeFlags
}

const rootLong = `lakesweep gives back the storage that lake tables no longer need. It reads a
table's own log or timeline, works out which objects no retained version can
reach, shows them, and deletes them: Delta Lake's VACUUM and Hudi's clean,
without Spark and without a JVM.

Every flag can also be set as LAKESWEEP_FLAG_NAME in the environment or as
"flag = value" in the file that --settings names; the command line comes first,
then the environment, then the file. Durations are Go's plus d and w (168h, 7d,
1w), sizes carry a unit (512MiB, 10GB), times are RFC 3339.`

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "lakesweep",
		Short:         "Delete the files that lake tables no longer need, and only those",
		Long:          rootLong,
		Example:       "  lakesweep plan ./table\n  lakesweep vacuum s3://bucket/table --retain 14d --dry-run",
		SilenceErrors: true,
		SilenceUsage:  true,
		CompletionOptions: cobra.CompletionOptions{
			DisableDefaultCmd: true, // ours is documented like the others
		},
	}
	root.Version = version()
	root.SetIn(a.Stdin)
	root.SetOut(a.Stdout)
	root.SetErr(a.talk)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return invalid("See "+c.CommandPath()+" --help.", "%w", err)
	})
	a.bindGlobals(root)
	root.AddGroup(&cobra.Group{ID: "clean", Title: "Planning and cleaning:"},
		&cobra.Group{ID: "look", Title: "Looking at a table:"},
		&cobra.Group{ID: "more", Title: "Inventories and the rest:"})
	add := func(group string, commands ...*cobra.Command) {
		for _, c := range commands {
			c.GroupID = group
			root.AddCommand(c)
		}
	}
	add("clean", a.planCommand(), a.applyCommand(), a.vacuumCommand("vacuum"), a.vacuumCommand("clean"), a.sqlCommand(),
		a.restoreCommand(), a.purgeCommand())
	add("look", a.explainCommand(), a.verifyCommand(), a.usageCommand(), a.inspectCommand(), a.doctorCommand(), a.hudiCommand())
	add("more", a.inventoryCommand(), a.benchCommand(), a.versionCommand(), a.completionCommand(), a.manCommand(), storesTopic())
	root.SetHelpCommandGroupID("more")
	completeValues(root)
	return root
}

// completeValues lets the shell complete the values of flags that take one of a
// few words, in c and below.
func completeValues(c *cobra.Command) {
	for flag, words := range map[string][]string{
		"output": {"text", "json", "jsonl", "csv", "paths"}, "log-format": {"text", "json"}, "progress": {"auto", "bar", "plain", "json", "none"},
		"format": {"delta", "hudi"}, "mode": {"auto", "full", "lite"}, "policy": {"latest-commits", "latest-hours", "latest-versions"},
		"commit-log": {"auto", "on", "off"},
	} {
		if c.Flags().Lookup(flag) == nil && c.PersistentFlags().Lookup(flag) == nil {
			continue
		}
		// It fails only for a flag that isn't there, or comes twice.
		_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	}
	for _, sub := range c.Commands() {
		completeValues(sub)
	}
}

func (a *app) bindGlobals(root *cobra.Command) {
	fs := root.PersistentFlags()
	g := &a.flags
	fs.VarP(value.Default(&g.output, "FORM", string(report.Text), report.ParseFormat), "output", "o", "form of the output: text, json, jsonl, csv or paths")
	fs.BoolVarP(&g.nul, "nul", "0", false, "end each path with NUL instead of a line break (with -o paths)")
	fs.BoolVarP(&g.quiet, "quiet", "q", false, "tell only errors on standard error")
	fs.BoolVarP(&g.verbose, "verbose", "v", false, "show every object, and tell each request to the store")
	fs.Var(value.Default(&g.logFormat, "FORM", "text", value.OneOf("text", "json")), "log-format", "form of the talk on standard error: text or json")
	fs.Var(value.Default(&g.progress, "FORM", "auto", value.OneOf("auto", "bar", "plain", "json", "none")), "progress", "progress on standard error: auto, bar, plain, json or none")
	fs.BoolVar(&g.noColor, "no-color", false, "no colours on terminals (as NO_COLOR does)")
	fs.Var(value.New(&g.settings, "FILE", value.LocalFile), "settings", "file with flags, one \"flag = value\" a line")
	fs.Var(value.New(&g.stateDir, "DIR", value.LocalFile), "state-dir", "folder for journals of one-shot runs, locks and ledgers (default: lakesweep in XDG_STATE_HOME, or in ~/.local/state)")
	fs.Var(value.New(&g.timeout, "DURATION", value.Duration), "timeout", "give up after so long")
	fs.Var(value.New(&g.tuning.Workers, "N", value.Count), "workers", "requests at a time (default: as many as help)")
	fs.Var(value.New(&g.tuning.ListRate, "N", value.Rate), "list-rate", "list requests a second, at most")
	fs.Var(value.New(&g.tuning.DeleteRate, "N", value.Rate), "delete-rate", "objects deleted a second, at most")
	g.stores.bind(fs)
	fs.Var(value.New(&g.tuning.Memory, "SIZE", value.Size), "memory", "memory for sets of paths; more goes to temporary files")
}

// run wraps the body of a command: settings, time-out, talk and the engine.
func (a *app) run(body func(ctx context.Context, e engine, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		a.typed = map[string]bool{}
		cmd.Flags().Visit(func(f *pflag.Flag) { a.typed[f.Name] = true })
		a.wishes = wishes(cmd.Flags())
		if err := settings.Fill(cmd, a.Env); err != nil {
			return err
		}
		a.running, a.command = true, cmd.Name()
		ctx := cmd.Context()
		if a.flags.timeout > 0 {
			ctx, a.cancel = context.WithTimeout(ctx, a.flags.timeout)
		}
		a.startTalk()
		e, err := a.engine(session{now: a.Now, observe: a.progress.Observe, log: a.log, stateDir: a.stateDir(),
			tool: "lakesweep " + version(), tuning: a.flags.tuning, setting: a.flags.stores.lookup})
		if err != nil {
			return err
		}
		return body(ctx, e, args)
	}
}

// startTalk sets up log and progress as the flags say.
func (a *app) startTalk() {
	level := slog.LevelInfo
	switch {
	case a.flags.quiet:
		level = slog.LevelError
	case a.flags.verbose:
		level = slog.LevelDebug
	}
	opt := &slog.HandlerOptions{Level: level}
	if a.flags.logFormat == "json" {
		a.log = slog.New(slog.NewJSONHandler(a.talk, opt))
	} else {
		a.log = slog.New(slog.NewTextHandler(a.talk, opt))
	}
	style := a.flags.progress
	if style == "auto" { // without a terminal, only what takes its time is told
		switch {
		case a.flags.quiet:
			style = "none"
		case terminal(a.Stderr):
			style = "bar"
		default:
			style = "slow"
		}
	}
	a.progress = talk.NewProgress(a.talk, style, a.Now)
}

// printer returns a printer on standard output.
func (a *app) printer(opt report.Options) *report.Printer {
	opt.Format, opt.NUL, opt.Verbose, opt.Now = a.flags.output, a.flags.nul, a.flags.verbose, a.Now()
	opt.Color = a.color(a.Stdout)
	if a.flags.output == report.JSON {
		return report.New(a.out, opt)
	}
	return report.New(a.out.w, opt)
}

// color reports whether a stream gets colours. Source: no-color.org.
func (a *app) color(stream any) bool {
	no, _ := a.getenv("NO_COLOR")
	return !a.flags.noColor && no == "" && terminal(stream)
}

// stateDir is where the journals of one-shot runs lie.
// Source: XDG Base Directory Specification 0.8, XDG_STATE_HOME.
func (a *app) stateDir() string {
	if a.flags.stateDir != "" {
		return a.flags.stateDir
	}
	if dir, _ := a.getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "lakesweep")
	}
	if home, _ := a.getenv("HOME"); home != "" {
		return filepath.Join(home, ".local", "state", "lakesweep")
	}
	return ""
}

// oneTable refuses several tables of a command that deletes, and says how then.
func oneTable(c *cobra.Command, args []string) error {
	if len(args) > 1 {
		return invalid("Loop over the tables, or plan them with lakesweep plan TABLE... --out DIR and apply each plan.", "%s takes one TABLE", c.CommandPath())
	}
	return exactly(1, "one TABLE")(c, args)
}

// exactly and atLeast are cobra's argument checks with our words.
func exactly(n int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != n {
			return invalid("See "+c.CommandPath()+" --help.", "%s takes %s", c.CommandPath(), what)
		}
		return nil
	}
}

func atLeast(n int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) < n {
			return invalid("See "+c.CommandPath()+" --help.", "%s takes %s", c.CommandPath(), what)
		}
		return nil
	}
}
