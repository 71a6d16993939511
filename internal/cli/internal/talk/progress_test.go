package talk

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lakesweep/lakesweep/lake"
)

// Plain progress tells a long stage at least every 10 seconds, with the table,
// how far it is and how long it still takes (B091).
func TestPlainProgressOfALongStage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p := NewProgress(New(&out), "plain", time.Now)
		time.Sleep(time.Second / 2) // so that ticks and events don't fall together
		p.Begin("s3://b/t")
		for i := range 35 {
			p.Observe(lake.Event{Stage: "list", Done: int64(i+1) * 1000, Expected: 70000})
			time.Sleep(time.Second)
		}
		p.Observe(lake.Event{Stage: "list", Done: 70000, Expected: 70000, Finished: true})
		p.Close()
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
		shared := New(&out)
		p := NewProgress(shared, "bar", time.Now)
		p.Begin("t")
		p.Observe(lake.Event{Stage: "list", Done: 5, Expected: 10})
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
		p.Observe(lake.Event{Stage: "list", Done: 6, Expected: 10})
		time.Sleep(time.Second)
		synctest.Wait()
		out.Reset()
		if _, err := shared.Beside(&out).Write([]byte("a row\n")); err != nil {
			t.Fatal(err)
		}
		p.Observe(lake.Event{Stage: "list", Done: 10, Finished: true})
		if got := out.String(); !strings.HasPrefix(got, "\x1b[1A\x1b[2Ka row\n[####") {
			t.Errorf("data and bar: %q", got)
		}
		p.Observe(lake.Event{Stage: "list", Done: 1, Expected: 2})
		p.Close()
		if !strings.Contains(out.String(), "list: 10, 5/s, took 2.0 s\n") || !strings.Contains(out.String(), "list: 1 of 2") {
			t.Errorf("not two lines: %q", out.String())
		}
	})
}
