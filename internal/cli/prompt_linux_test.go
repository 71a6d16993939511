package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// terminalPair opens a pseudo-terminal: what the person types and sees, and
// what the program has.
func terminalPair(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudo-terminals here: ", err)
	}
	t.Cleanup(func() { person.Close() })
	if err := unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { program.Close() }) // a second time, where the test closed it
	return person, program
}

// onScreen returns all that stands on the screen after the program's end.
func onScreen(t *testing.T, person, program *os.File) string {
	t.Helper()
	if err := program.Close(); err != nil {
		t.Fatal(err)
	}
	seen, err := io.ReadAll(person)
	if err != nil && !errors.Is(err, unix.EIO) { // what a terminal says when nobody has it open any more
		t.Fatal(err)
	}
	return string(seen)
}

// On a terminal a delete asks, and only the whole word "yes" goes on.
func TestPrompt(t *testing.T) {
	for _, c := range []struct {
		typed, asks string
		args        []string
		status      int
	}{
		{"yes\n", "Delete 3 files, 1.5 KiB of t? Type yes to go on: ", []string{"vacuum", "t"}, 0},
		{"y\n", "Delete 3 files", []string{"vacuum", "t"}, 2},
		{"\n", "Delete 3 files", []string{"clean", "t"}, 2},
		{"no\n", "Move to quarantine 3 files", []string{"vacuum", "t", "--quarantine", "/q"}, 2},
		{"yes\n", "Delete for good what j moved into quarantine?", []string{"purge", "j"}, 0},
		{"no\n", "Delete for good", []string{"purge", "j"}, 2},
	} {
		person, program := terminalPair(t)
		if _, err := person.WriteString(c.typed); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		status := Main(t.Context(), Process{Args: append(c.args, "--progress", "none"), Stdin: program, Stdout: &out, Stderr: program,
			Now: func() time.Time { return at("2026-01-31T00:00:00Z") }, engine: func(s session) (engine, error) { return &fakeEngine{session: s}, nil }})
		if seen := onScreen(t, person, program); status != c.status || !strings.Contains(seen, c.asks) {
			t.Errorf("%v, typed %q: status %d, seen %q", c.args, c.typed, status, seen)
		}
		if deleted := strings.Contains(out.String(), "ED: 3 files") || strings.Contains(out.String(), "PURGED: 1 file"); deleted != (c.status == 0) {
			t.Errorf("%v, typed %q: %s", c.args, c.typed, out.String())
		}
	}
}

// A signal ends a command that waits for an answer.
func TestSignalAtThePrompt(t *testing.T) {
	person, program := terminalPair(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	read := make(chan error, 1)
	go func() {
		var seen []byte
		for piece := make([]byte, 256); !bytes.Contains(seen, []byte("Type yes")); {
			n, err := person.Read(piece)
			if seen = append(seen, piece[:n]...); err != nil {
				read <- err
				return
			}
		}
		cancel(Interrupt(unix.SIGINT))
		read <- nil
	}()
	var out bytes.Buffer
	status := Main(ctx, Process{Args: []string{"vacuum", "t", "--progress", "none"}, Stdin: program, Stdout: &out, Stderr: program,
		Now: func() time.Time { return at("2026-01-31T00:00:00Z") }, engine: func(s session) (engine, error) { return &fakeEngine{session: s}, nil }})
	if err := <-read; err != nil || status != 130 || strings.Contains(out.String(), "ED: 3 files") {
		t.Errorf("status %d, %v: %s", status, err, out.String())
	}
	if _, err := person.WriteString("\n"); err != nil { // so that nobody waits for it any more
		t.Fatal(err)
	}
}

// A terminal gets colours and a bar, unless it is told not to.
func TestTerminalColours(t *testing.T) {
	for _, c := range []struct {
		env, args []string
		want      bool
	}{{nil, nil, true}, {[]string{"NO_COLOR=1"}, nil, false}, {nil, []string{"--no-color"}, false}} {
		person, program := terminalPair(t)
		if status := Main(t.Context(), Process{Args: append([]string{"plan", "t", "-q"}, c.args...), Env: c.env, Stdin: program, Stdout: program, Stderr: program,
			Now: func() time.Time { return at("2026-01-31T00:00:00Z") }, engine: func(s session) (engine, error) { return &fakeEngine{session: s}, nil }}); status != 0 {
			t.Fatalf("status %d", status)
		}
		seen := onScreen(t, person, program)
		if !strings.HasSuffix(seen, "DRY RUN: nothing was deleted\r\n") {
			t.Errorf("seen %q", seen)
		}
		if got := strings.Contains(seen, "\x1b["); got != c.want {
			t.Errorf("%v %v: colours %v", c.env, c.args, got)
		}
	}
}
