package cli

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"

	"github.com/lakesweep/lakesweep/internal/cli/internal/talk"
	"github.com/lakesweep/lakesweep/lake"
)

// Each command explains itself: a short and a long text and an example.
func TestEveryCommandHasHelp(t *testing.T) {
	a := &app{Process: Process{Stdin: strings.NewReader(""), Stdout: &bytes.Buffer{}}, talk: talk.New(&bytes.Buffer{})}
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Name() == "help" || c.HasParent() && !c.Runnable() && !c.HasSubCommands() {
			return
		}
		if c.Short == "" || c.Long == "" || !strings.Contains(c.Example, "lakesweep") || strings.HasSuffix(c.Short, ".") {
			t.Errorf("%s: short %q, long %d bytes, example %q", c.CommandPath(), c.Short, len(c.Long), c.Example)
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	root := a.root()
	walk(root)
	for _, name := range []string{"plan", "apply", "vacuum", "clean", "sql", "explain", "verify", "usage", "inspect", "doctor",
		"restore", "purge", "inventory make", "inventory convert", "bench list", "version", "completion", "man"} {
		if c, _, err := root.Find(strings.Fields(name)); err != nil || c.CommandPath() != "lakesweep "+name {
			t.Errorf("there is no command %s", name)
		}
	}
}

// Every kind has a status of docs/exit-codes.md, and a hint.
func TestEveryKindHasAStatusAndAHint(t *testing.T) {
	meanings := map[int]bool{}
	for _, m := range exitMeanings() {
		meanings[m.status] = true
	}
	for k := lake.Internal; k <= lake.Interrupted; k++ {
		err := fmt.Errorf("wrapped: %w", &lake.Error{Kind: k})
		if s := exitStatus(t.Context(), err); s == 0 || !meanings[s] {
			t.Errorf("%v has the status %d", k, s)
		}
		if !strings.HasSuffix(hint(err), ".") {
			t.Errorf("%v has the hint %q", k, hint(err))
		}
	}
	if got := hint(&lake.Error{Kind: lake.Stale, Hint: "Do this."}); got != "Do this." {
		t.Errorf("the hint of an error is lost for %q", got)
	}
}

// The gravest status wins whatever the order, and an interrupt before all.
func TestWorstStatus(t *testing.T) {
	for _, c := range []struct{ a, b, want int }{{0, 20, 20}, {20, 4, 4}, {6, 3, 3}, {12, 1, 1}, {1, 130, 130}, {0, 0, 0}, {11, 10, 10}} {
		if worst(c.a, c.b) != c.want || worst(c.b, c.a) != c.want {
			t.Errorf("worst(%d, %d) is %d, want %d", c.a, c.b, worst(c.a, c.b), c.want)
		}
	}
}

// A signal gives 130 or 143 whatever error the run ended with, unless that one says more.
func TestSignals(t *testing.T) {
	for _, c := range []struct {
		signal syscall.Signal
		err    error
		want   int
	}{
		{syscall.SIGINT, context.Canceled, 130},
		{syscall.SIGTERM, context.Canceled, 143},
		{syscall.SIGTERM, &lake.Error{Kind: lake.Interrupted}, 143},
		{syscall.SIGTERM, &lake.Error{Kind: lake.Transient, Err: context.Canceled}, 143},
		{syscall.SIGINT, &lake.Error{Kind: lake.Damaged}, 10},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(Interrupt(c.signal))
		a := &app{Process: Process{Stdout: &bytes.Buffer{}}, talk: talk.New(&bytes.Buffer{}), out: &documents{w: &bytes.Buffer{}}}
		if got := a.fail(ctx, c.err); got != c.want {
			t.Errorf("%v with %v: status %d, want %d", c.signal, c.err, got, c.want)
		}
	}
}
