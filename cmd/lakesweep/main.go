// Lakesweep deletes the files that lake tables no longer need, and only those.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"
	_ "time/tzdata" // --time-zone and --timeline-zone work where the system has no zones

	"github.com/lakesweep/lakesweep/internal/cli"
)

func main() {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		s := <-signals
		signal.Stop(signals) // a second one ends the process at once
		cancel(cli.Interrupt(s))
	}()
	// The collector runs when half as much garbage has gathered as is alive. A
	// plan holds little for long, and would be collected dozens of times a second.
	// Bytes that are never touched take no memory, and let half as much more gather.
	room := make([]byte, 96<<20)
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50)
	}
	status := cli.Main(ctx, cli.Process{
		Args:   os.Args[1:],
		Env:    os.Environ(),
		Stdin:  os.Stdin,
		Stdout: os.Stdout,
		Stderr: os.Stderr,
		Now:    time.Now,
	})
	runtime.KeepAlive(room)
	os.Exit(status)
}
