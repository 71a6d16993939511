package cli

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/report"
)

// version is the module's version, for a build from a work tree "devel" with the
// commit and its time where the toolchain recorded them.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	return versionOf(info)
}

func versionOf(info *debug.BuildInfo) string {
	if info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	text := "devel"
	for _, name := range []string{"vcs.revision", "vcs.time"} {
		for _, s := range info.Settings {
			if s.Key == name && s.Value != "" {
				text += "-" + s.Value[:min(len(s.Value), 20)]
			}
		}
	}
	return text
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Show the version of this program",
		Long:    "Version shows the version of lakesweep, of the Go toolchain, and the platform.",
		Example: "  lakesweep version\n  lakesweep version -o json",
		Args:    exactly(0, "no arguments"),
		RunE: a.run(func(context.Context, engine, []string) error {
			doc := struct {
				Version  string `json:"version"`
				Go       string `json:"go"`
				Platform string `json:"platform"`
			}{version(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
			return a.printer(report.Options{}).Document("version", doc,
				[][2]string{{"lakesweep", doc.Version}, {"go", doc.Go}, {"platform", doc.Platform}})
		}),
	}
}

func (a *app) completionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:       "completion SHELL",
		Short:     "Print the completion script of a shell",
		Long:      "Completion prints a script that completes lakesweep's commands and flags in bash, zsh, fish or\npowershell.",
		Example:   "  source <(lakesweep completion bash)\n  lakesweep completion fish > ~/.config/fish/completions/lakesweep.fish",
		Args:      exactly(1, "bash, zsh, fish or powershell"),
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
	}
	cmd.RunE = a.run(func(_ context.Context, _ engine, args []string) error {
		root, w := cmd.Root(), a.Stdout
		switch args[0] {
		case "bash":
			return root.GenBashCompletionV2(w, true)
		case "zsh":
			return root.GenZshCompletion(w)
		case "fish":
			return root.GenFishCompletion(w, true)
		case "powershell":
			return root.GenPowerShellCompletionWithDesc(w)
		}
		return invalid("Name bash, zsh, fish or powershell.", "no completion for %q", args[0])
	})
	return cmd
}

func (a *app) manCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "man",
		Short:   "Print the manual page",
		Long:    "Man prints the manual of all commands as one page in roff, which man reads.",
		Example: "  lakesweep man | man -l -\n  lakesweep man > /usr/local/share/man/man1/lakesweep.1",
		Args:    exactly(0, "no arguments"),
	}
	cmd.RunE = a.run(func(context.Context, engine, []string) error {
		if _, err := io.WriteString(a.Stdout, manual(cmd.Root())); err != nil {
			return &lake.Error{Op: "print manual", Err: err}
		}
		return nil
	})
	return cmd
}

// manual renders all commands as one page. Source: man(7).
func manual(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString(".TH LAKESWEEP 1\n.SH NAME\nlakesweep \\- " + roff(root.Short) + "\n.SH SYNOPSIS\n.B lakesweep\nCOMMAND [FLAGS] [ARGUMENTS]\n")
	b.WriteString(".SH DESCRIPTION\n" + roff(root.Long) + "\n.SH GLOBAL FLAGS\n")
	manFlags(&b, root.PersistentFlags())
	b.WriteString(".SH COMMANDS\n")
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			if !sub.IsAvailableCommand() {
				continue
			}
			if sub.Runnable() && !sub.HasSubCommands() {
				b.WriteString(".SS " + roff(strings.TrimSuffix(sub.UseLine(), " [flags]")) + "\n" + roff(sub.Long) + "\n.PP\n.nf\n" + roff(sub.Example) + "\n.fi\n")
				manFlags(&b, sub.LocalNonPersistentFlags())
			}
			walk(sub)
		}
	}
	walk(root)
	b.WriteString(".SH ENVIRONMENT\n" + roff("Every flag may be set as LAKESWEEP_FLAG_NAME, such as LAKESWEEP_STATE_DIR. Stores take their vendors' own variables; lakesweep help stores names them. TMPDIR holds temporary files; NO_COLOR turns colours off.") +
		"\n.SH FILES\n" + roff("XDG_STATE_HOME/lakesweep, else ~/.local/state/lakesweep, or --state-dir: journals of one-shot runs, locks, ledgers of blobs.") + "\n")
	b.WriteString(".SH EXIT STATUS\n")
	for _, s := range exitMeanings() {
		fmt.Fprintf(&b, ".TP\n.B %d\n%s\n", s.status, roff(s.meaning))
	}
	return b.String()
}

func manFlags(b *strings.Builder, fs *pflag.FlagSet) {
	fs.VisitAll(func(f *pflag.Flag) {
		if f.Name == "help" {
			return
		}
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		if f.Value.Type() != "bool" {
			name += " " + f.Value.Type()
		}
		b.WriteString(".TP\n.B " + roff(name) + "\n" + roff(f.Usage) + "\n")
	})
}

// roff escapes text: backslashes, hyphens that must stay hyphens, and lines
// that would read as requests.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}

// exitMeaning is a row of docs/exit-codes.md.
type exitMeaning struct {
	status  int
	meaning string
}

func exitMeanings() []exitMeaning {
	return []exitMeaning{
		{0, "done"},
		{exitOther, "another error, or a store that didn't answer"},
		{exitUsage, "usage: a flag, the predicate, or --yes missing"},
		{exitPartial, "done, but some objects were not deleted"},
		{exitRefused, "a guard refused, LITE can't be proved, or verify found something"},
		{exitStale, "the plan no longer fits the table"},
		{exitLimit, "a limit was reached; the same command goes on"},
		{exitTable, "no table, a damaged log or timeline, or an unsupported feature"},
		{exitLocked, "locked, or no usable lock provider"},
		{exitDenied, "access denied"},
		{exitNotEmpty, "the plan isn't empty (--detailed-exitcode)"},
		{exitInterrupted, "interrupted; the same command goes on"},
		{exitTerminated, "terminated; the same command goes on"},
	}
}
