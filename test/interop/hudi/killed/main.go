// Killed plans a clean of a Hudi table and carries it out, but ends like a
// killed process before the n-th call that changes the table.
//
//	killed -n N [-versions N] TABLE
//
// Exit code 137 says that it was killed, 0 that fewer calls were needed.
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/local"
	"github.com/lakesweep/lakesweep/sweep"
)

func main() {
	n := flag.Int64("n", 1, "end before this call that changes the table")
	versions := flag.Int("versions", 1, "slices to keep of each file group")
	flag.Parse()
	if err := run(*n, *versions, flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "killed:", err)
		os.Exit(1)
	}
}

func run(n int64, versions int, table string) error {
	at, err := lake.ParseRoot(table)
	if err != nil {
		return err
	}
	state, err := os.MkdirTemp("", "killed-")
	if err != nil {
		return err
	}
	var left atomic.Int64
	left.Store(n)
	engine := &sweep.Engine{
		Stores: store.Registry{
			Classes: map[string]store.OpenFunc{"file": local.Open},
			Wrap: func(root lake.Root, s store.Store) store.Store {
				if !root.Same(at) {
					return s // journals and the like
				}
				return mortal{s, &left}
			},
		},
		Now: time.Now, Log: slog.New(slog.DiscardHandler), StateDir: state, Tool: "lakesweep killed", Getwd: os.Getwd,
	}
	ctx := context.Background()
	p, err := engine.Plan(ctx, sweep.PlanRequest{Table: table, Unsafe: sweep.Unsafe{MostlyDead: table},
		Hudi: sweep.HudiRequest{RetainVersions: versions, TimelineZone: "UTC", NoOtherWriters: true}}, "")
	if err != nil {
		return err
	}
	if _, err := engine.Apply(ctx, p, sweep.ApplyRequest{Tuning: sweep.Tuning{Workers: 1}}, nil); err != nil {
		return err
	}
	return p.Close()
}

// mortal is a store whose user dies when its calls are used up.
type mortal struct {
	store.Store
	left *atomic.Int64
}

func (m mortal) spend() {
	if m.left.Add(-1) <= 0 {
		os.Exit(137)
	}
}

func (m mortal) PutIfAbsent(ctx context.Context, name string, data []byte) error {
	m.spend()
	return m.Store.PutIfAbsent(ctx, name, data)
}

func (m mortal) Replace(ctx context.Context, name string, data []byte, ifMatch string) (string, error) {
	m.spend()
	return m.Store.Replace(ctx, name, data, ifMatch)
}

func (m mortal) Remove(ctx context.Context, name, ifMatch string) error {
	m.spend()
	return m.Store.Remove(ctx, name, ifMatch)
}

// Delete spends a call for each target, so that a request can end halfway.
func (m mortal) Delete(ctx context.Context, targets []store.Target) ([]store.Outcome, error) {
	var out []store.Outcome
	for _, t := range targets {
		m.spend()
		one, err := m.Store.Delete(ctx, []store.Target{t})
		if err != nil {
			return nil, err
		}
		out = append(out, one...)
	}
	return out, nil
}

func (m mortal) DeleteDir(ctx context.Context, name string) error {
	m.spend()
	return m.Store.DeleteDir(ctx, name)
}
