package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/lakesweep/lakesweep/internal/cli/internal/talk"
	"github.com/lakesweep/lakesweep/internal/sample"
	"github.com/lakesweep/lakesweep/report"
)

// pages returns README.md, CONTRIBUTING.md and docs/*.md.
func pages(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(all) < 5 {
		t.Fatalf("pages: %v, %v", all, err)
	}
	return append(all, "../../README.md", "../../CONTRIBUTING.md")
}

// blocks returns the fenced blocks of a page in a language.
func blocks(t *testing.T, page, language string) []string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, m := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(string(text), -1) {
		all = append(all, m[1])
	}
	return all
}

// step is a command of a console block with the output that the page shows.
type step struct{ command, want string }

func steps(block string) []step {
	var all []step
	for line := range strings.Lines(block) {
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			all = append(all, step{command: strings.TrimSuffix(command, "\n")})
		} else if len(all) > 0 {
			all[len(all)-1].want += line
		}
	}
	return all
}

// TestConsoleBlocks runs the commands of every page's console blocks, each page
// in a folder of its own with the sample table in it, and compares the output
// with what the page shows; "..." stands for anything. `cat FILE` makes the file.
func TestConsoleBlocks(t *testing.T) {
	ran := 0
	for _, page := range pages(t) {
		t.Run(filepath.Base(page), func(t *testing.T) {
			dir := t.TempDir()
			if err := sample.Write(filepath.Join(dir, "sample-table"), time.Now()); err != nil {
				t.Fatal(err)
			}
			for _, block := range blocks(t, page, "console") {
				for _, s := range steps(block) {
					ran++
					if file, ok := strings.CutPrefix(s.command, "cat "); ok {
						if err := os.WriteFile(filepath.Join(dir, file), []byte(s.want), 0o644); err != nil {
							t.Fatal(err)
						}
						continue
					}
					got := bash(t, dir, s.command)
					if !matches(s.want, got) {
						t.Errorf("$ %s\n%s\nthe page shows:\n%s", s.command, got, s.want)
					}
				}
			}
		})
	}
	if ran < 10 {
		t.Errorf("only %d commands were found", ran)
	}
}

// bash runs a command and returns what it prints on both streams, and its exit
// status if it isn't 0, as the pages show them.
func bash(t *testing.T, dir, command string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-c", command)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LAKESWEEP_PROGRESS=none", "HOME="+dir, "XDG_STATE_HOME=")
	out, err := cmd.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		out = fmt.Appendf(out, "[exit status %d]\n", exit.ExitCode())
	} else if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// matches compares but for times, durations and sizes, which differ from run to run.
func matches(want, got string) bool {
	clean := func(s string) string {
		for _, pattern := range []string{`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`, `\b\d+(\.\d+)? (s|min|h|B|KiB)\b`} {
			s = regexp.MustCompile(" *"+pattern).ReplaceAllString(s, " #")
		}
		return s
	}
	pattern := regexp.QuoteMeta(clean(want))
	pattern = strings.ReplaceAll(pattern, `\.\.\.`+"\n", "(?s:.*)\n")
	pattern = strings.ReplaceAll(pattern, `\.\.\.`, ".*")
	return regexp.MustCompile("^" + pattern + "$").MatchString(clean(got))
}

// TestShellBlocks reads every lakesweep command of the pages' sh blocks and of
// the commands' own examples as the program would: flags and arguments fit.
func TestShellBlocks(t *testing.T) {
	var lines []string
	for _, page := range pages(t) {
		for _, block := range blocks(t, page, "sh") {
			lines = append(lines, strings.Split(block, "\n")...)
		}
	}
	inPages := len(lines)
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		lines = append(lines, strings.Split(c.Example, "\n")...)
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newTree())
	if inPages < 5 || len(lines) < inPages+20 {
		t.Fatalf("only %d lines in pages, %d in all", inPages, len(lines))
	}
	for _, line := range lines {
		line, _, _ = strings.Cut(strings.TrimSpace(line), " | ")
		line, _, _ = strings.Cut(line, " > ")
		if !strings.HasPrefix(line, "lakesweep ") {
			continue
		}
		args, err := splitShell(line)
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		c, rest, err := newTree().Find(args[1:])
		if err == nil && !c.Runnable() {
			err = errors.New("no such command")
		}
		if err == nil {
			err = c.ParseFlags(rest)
		}
		if err == nil {
			err = c.ValidateArgs(c.Flags().Args())
		}
		if err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
}

func newTree() *cobra.Command {
	a := &app{Process: Process{Stdin: strings.NewReader(""), Stdout: io.Discard}, talk: talk.New(io.Discard)}
	return a.root()
}

// splitShell splits a line as bash does, with bash.
func splitShell(line string) ([]string, error) {
	if strings.Contains(strings.ReplaceAll(line, "\\`", ""), "`") && !strings.Contains(line, "'VACUUM delta.`") {
		return nil, errors.New("a backtick that bash would run")
	}
	out, err := exec.Command("bash", "-c", "printf '%s\\0' "+strings.ReplaceAll(line, "...", "…")).Output()
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"), err
}

// docs/exit-codes.md has each status, docs/prices.md each price.
func TestTablesInPages(t *testing.T) {
	codes, err := os.ReadFile("../../docs/exit-codes.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range exitMeanings() {
		if !bytes.Contains(codes, fmt.Appendf(nil, "\n| %d |", m.status)) {
			t.Errorf("docs/exit-codes.md lacks %d", m.status)
		}
	}
	prices, err := os.ReadFile("../../docs/prices.md")
	if err != nil {
		t.Fatal(err)
	}
	for class, name := range map[string]string{"s3": "S3", "gs": "Google Cloud Storage", "az": "Azure Blob Storage"} {
		p := report.PricesOf(class)
		row := fmt.Sprintf("| %s | %g | %g | %.3f |", name, p.ListPer1000, p.DelPer1000, p.GiBMonth)
		if !bytes.Contains(prices, []byte(row)) {
			t.Errorf("docs/prices.md lacks %q", row)
		}
	}
}

// Every link between the pages leads somewhere.
func TestLinksInPages(t *testing.T) {
	n := 0
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`).FindAllStringSubmatch(string(text), -1) {
			n++
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s links to %s: %v", page, m[1], err)
			}
		}
	}
	if n < 10 {
		t.Errorf("only %d links were found", n)
	}
}
