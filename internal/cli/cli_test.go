package cli

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/cobra"

	"github.com/lakesweep/lakesweep/lake"
)

// Each command explains itself: a short and a long text and an example.
func TestEveryCommandHasHelp(t *testing.T) {
	a := &app{Process: Process{Stdin: strings.NewReader(""), Stdout: &bytes.Buffer{}}, talk: &talk{w: &bytes.Buffer{}}}
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
		a := &app{Process: Process{Stdout: &bytes.Buffer{}}, talk: &talk{w: &bytes.Buffer{}}}
		if got := a.fail(ctx, c.err); got != c.want {
			t.Errorf("%v with %v: status %d, want %d", c.signal, c.err, got, c.want)
		}
	}
}

// Plain progress tells a long stage at least every 10 seconds, with the table,
// how far it is and how long it still takes (B091).
func TestPlainProgressOfALongStage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p := newProgress(&talk{w: &out}, "plain", time.Now)
		time.Sleep(time.Second / 2) // so that ticks and events don't fall together
		p.begin("s3://b/t")
		for i := range 35 {
			p.observe(lake.Event{Stage: "list", Done: int64(i+1) * 1000, Expected: 70000})
			time.Sleep(time.Second)
		}
		p.observe(lake.Event{Stage: "list", Done: 70000, Expected: 70000, Finished: true})
		p.close()
		lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		if len(lines) != 4 {
			t.Fatalf("%d lines:\n%s", len(lines), out.String())
		}
		if want := "lakesweep: s3://b/t list: 20,000 of 70,000 (29 %), 1,025/s, 49 s left"; lines[1] != want {
			t.Errorf("%q, want %q", lines[1], want)
		}
		if want := "lakesweep: s3://b/t list: 70,000, 2,000/s, took 35 s"; lines[3] != want {
			t.Errorf("%q, want %q", lines[3], want)
		}
	})
}

// The bar is wiped before other talk, and a stage that comes again is a new line.
func TestBarAndTalk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		shared := &talk{w: &out}
		p := newProgress(shared, "bar", time.Now)
		p.begin("t")
		p.observe(lake.Event{Stage: "list", Done: 5, Expected: 10})
		time.Sleep(time.Second)
		synctest.Wait()
		if !strings.Contains(out.String(), "[##########----------] t list: 5 of 10 (50 %)") {
			t.Errorf("no bar in %q", out.String())
		}
		out.Reset()
		if _, err := shared.Write([]byte("a warning\n")); err != nil {
			t.Fatal(err)
		}
		if got := out.String(); got != "\x1b[1A\x1b[2Ka warning\n" {
			t.Errorf("the bar isn't wiped: %q", got)
		}
		// Data on the same terminal wipes the bar too, and isn't wiped by it.
		p.observe(lake.Event{Stage: "list", Done: 6, Expected: 10})
		time.Sleep(time.Second)
		synctest.Wait()
		out.Reset()
		if _, err := shared.beside(&out).Write([]byte("a row\n")); err != nil {
			t.Fatal(err)
		}
		p.observe(lake.Event{Stage: "list", Done: 10, Finished: true})
		if got := out.String(); !strings.HasPrefix(got, "\x1b[1A\x1b[2Ka row\n[####") {
			t.Errorf("data and bar: %q", got)
		}
		p.observe(lake.Event{Stage: "list", Done: 1, Expected: 2})
		p.close()
		if !strings.Contains(out.String(), "list: 10, 5/s, took 2.0 s\n") || !strings.Contains(out.String(), "list: 1 of 2") {
			t.Errorf("not two lines: %q", out.String())
		}
	})
}
