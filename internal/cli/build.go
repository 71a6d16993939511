package cli

import (
	"context"
	"log/slog"
	"os"
	"sync"

	"github.com/lakesweep/lakesweep/inventory/duckdb"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/azure"
	"github.com/lakesweep/lakesweep/store/gcs"
	"github.com/lakesweep/lakesweep/store/hdfs"
	"github.com/lakesweep/lakesweep/store/local"
	"github.com/lakesweep/lakesweep/store/s3"
	"github.com/lakesweep/lakesweep/sweep"
)

// newEngine makes the engine of a run. Each store is one line here.
//
// Errors: Invalid for a setting of a store.
func newEngine(s session) (engine, error) {
	buckets, err := s3.FromEnv(s.setting)
	if err != nil {
		return nil, err
	}
	google, err := gcs.FromEnv(s.setting)
	if err != nil {
		return nil, err
	}
	containers, err := azure.FromEnv(s.setting)
	if err != nil {
		return nil, err
	}
	hadoop, err := hdfs.FromEnv(s.setting)
	if err != nil {
		return nil, err
	}
	pacers := pacers{opt: store.PaceOptions{ListRate: s.tuning.ListRate, DeleteRate: s.tuning.DeleteRate}}
	return &sweep.Engine{
		Stores: store.Registry{
			Classes: map[string]store.OpenFunc{
				"file": local.Open,
				"s3":   s3.New(buckets).Open,
				"gs":   gcs.New(google).Open,
				"az":   azure.New(containers).Open,
				"hdfs": hdfs.New(hadoop).Open,
			},
			Wrap: func(root lake.Root, st store.Store) store.Store {
				if s.log.Enabled(context.Background(), slog.LevelDebug) {
					st = store.Trace(st, s.log.With("place", root.String()))
				}
				return store.Retry(pacers.of(root).Pace(st), store.RetryOptions{})
			},
		},
		Now: s.now, Observe: s.observe, Log: s.log, StateDir: s.stateDir, Tool: s.tool, Getwd: os.Getwd, Query: duckdb.Program{},
	}, nil
}

// pacers holds one pace a bucket, whichever of its tables is worked on. Safe
// for concurrent use.
type pacers struct {
	opt store.PaceOptions
	mu  sync.Mutex
	all map[string]*store.Pacer
}

func (p *pacers) of(root lake.Root) *store.Pacer {
	p.mu.Lock()
	defer p.mu.Unlock()
	bucket := root.Class() + "://" + root.Authority
	if p.all == nil {
		p.all = map[string]*store.Pacer{}
	}
	if p.all[bucket] == nil {
		p.all[bucket] = store.NewPacer(p.opt)
	}
	return p.all[bucket]
}
