package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/lakesweep/lakesweep/internal/sample"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		// lakesweep is the program itself.
		"lakesweep": func() { os.Exit(program(nil)) },
		// fakesweep is the program over fixed answers, at a fixed time; FAKE says what goes wrong.
		"fakesweep": func() {
			os.Exit(program(func(s session) (engine, error) { return &fakeEngine{s, os.Getenv("FAKE")}, nil }))
		},
		// sample writes the sample table.
		"sample": func() {
			if err := sample.Write(os.Args[1], time.Now()); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		},
	})
}

func program(engine func(session) (engine, error)) int {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() { cancel(Interrupt(<-signals)) }()
	p := Process{Args: os.Args[1:], Env: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Now: time.Now, engine: engine}
	if engine != nil {
		p.Now = func() time.Time { return at("2026-01-31T00:00:00Z") }
	}
	return Main(ctx, p)
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           filepath.Join("testdata", "script"),
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
		Cmds:          map[string]func(*testscript.TestScript, bool, []string){"status": status, "unmtime": unmtime},
	})
}

// status checks the exit status of a command: status 4 fakesweep plan t.
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N command [args...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if err != nil {
		exit, ok := errors.AsType[interface {
			error
			ExitCode() int
		}](err)
		if !ok {
			ts.Fatalf("%s: %v", args[1], err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("%v: exit status %d, want %d", args[1:], got, want)
	}
}

// unmtime replaces what differs from run to run in the output of a command:
// times, ids and the folder of the script.
func unmtime(ts *testscript.TestScript, _ bool, args []string) {
	for _, file := range args {
		text := ts.ReadFile(file)
		for pattern, by := range map[string]string{
			`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`: "TIME",
			`[\d.]+ (s|ms)\b`:                         "N s",
			regexp.QuoteMeta(ts.Getenv("WORK")):       "WORK",
		} {
			text = regexp.MustCompile(pattern).ReplaceAllString(text, by)
		}
		ts.Check(os.WriteFile(ts.MkAbs(file), []byte(text), 0o644))
	}
}
