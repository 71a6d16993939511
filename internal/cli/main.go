package cli

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/lakesweep/lakesweep/internal/cli/internal/talk"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/report"
)

// Process is what a run sees of the operating system.
type Process struct {
	Args   []string // without the program's name
	Env    []string // "NAME=value"
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	Now    func() time.Time
	// engine makes the engine of a run; tests put another in its place.
	engine func(session) (engine, error)
}

// Main runs one command and returns the exit status. When ctx ends by an
// Interrupt, the run finishes what it has begun and returns that status.
func Main(ctx context.Context, p Process) int {
	if p.engine == nil {
		p.engine = newEngine
	}
	a := &app{Process: p, flags: globals{output: report.Text, progress: "auto", logFormat: "text"}}
	a.talk = talk.New(p.Stderr)
	a.out = &documents{w: a.talk.Beside(p.Stdout)}
	a.log = slog.New(slog.NewTextHandler(a.talk, nil))
	root := a.root()
	root.SetArgs(p.Args)
	err := root.ExecuteContext(ctx)
	if a.progress != nil {
		a.progress.Close()
	}
	if a.cancel != nil {
		a.cancel()
	}
	if err == nil {
		err = a.out.seal()
	}
	if err == nil {
		return a.status
	}
	if _, ours := errors.AsType[*lake.Error](err); !ours && !a.running {
		text := strings.NewReplacer("\n\nDid you mean this?\n\t", "; did you mean ", "\n\t", " or ").Replace(err.Error()) // cobra's own
		err = usageError(errors.New(strings.TrimSpace(text)))
	}
	return a.fail(ctx, err)
}

// fail tells err and returns its exit status.
func (a *app) fail(ctx context.Context, err error) int {
	err = a.named(ctx, err)
	status := max(exitStatus(ctx, err), 1)
	if _, told := errors.AsType[toldError](err); !told {
		a.tell(err)
	}
	return worst(a.status, status)
}

// named gives cancellations and time-outs of our own making their kind.
func (a *app) named(ctx context.Context, err error) error {
	if _, ok := errors.AsType[interruptError](context.Cause(ctx)); ok {
		if k := lake.KindOf(err); k == lake.Internal || k == lake.Transient || k == lake.Interrupted {
			return &lake.Error{Kind: lake.Interrupted, Err: context.Cause(ctx), Hint: "Run the same command again: it goes on from here."}
		}
	}
	if errors.Is(err, context.DeadlineExceeded) && a.flags.timeout > 0 {
		return &lake.Error{Kind: lake.Limit, Err: errors.New("--timeout " + a.flags.timeout.String() + " was reached"),
			Hint: "Run the same command again, or give it more time."}
	}
	return err
}

// tell prints err on standard error and, with JSON, on standard output: last,
// or in the document that it is of.
func (a *app) tell(err error) {
	row := report.ErrorRow{Kind: lake.KindOf(err).String(), Message: err.Error(), Hint: hint(err)}
	if e, ok := errors.AsType[*lake.Error](err); ok {
		row.Op, row.Table, row.Code = e.Op, e.Table, e.Code
	}
	// Where an error can't be told, the exit status still tells it.
	if a.flags.logFormat == "json" {
		_ = report.New(a.talk, report.Options{Format: report.JSONL}).Error(row)
	} else {
		_, _ = io.WriteString(a.talk, "lakesweep: "+printableLines(row.Message)+"\n  "+printableLines(row.Hint)+"\n")
	}
	if a.flags.output == report.JSON {
		_ = a.out.fail(row)
		return
	}
	_ = report.New(a.out.w, report.Options{Format: a.flags.output}).Error(row)
}

// printableLines is report.Printable line by line: messages with a caret under
// the place of a fault have several.
func printableLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = report.Printable(l)
	}
	return strings.Join(lines, "\n")
}

// getenv looks a variable up in the process's environment.
func (p Process) getenv(name string) (string, bool) {
	for i := len(p.Env) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(p.Env[i], name+"="); ok {
			return v, true
		}
	}
	return "", false
}

// terminal reports whether a stream is a terminal.
func terminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
