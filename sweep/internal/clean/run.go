package clean

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/lakesweep/lakesweep/sweep/internal/place"
	"github.com/lakesweep/lakesweep/table/hudi"
	"github.com/lakesweep/lakesweep/table/hudi/retain"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// Run is a Hudi table with the configuration of a request.
type Run struct {
	*place.Place
	host   *Host
	req    Request
	table  *hudi.Table
	config retain.Config
	lock   timeline.Properties // the keys of the lock provider
}

// Open opens the table at p and reads what its clean is to retain: from
// the table, the file of --config and the flags, the later over the earlier.
func (host *Host) Open(ctx context.Context, p *place.Place, req Request) (*Run, error) {
	run := &Run{Place: p, host: host, req: req, config: retain.NewConfig()}
	o := hudi.Options{Now: host.now(p), Workers: req.Workers, Aliases: p.Aliases}
	if req.TimelineZone != "" {
		zone, err := time.LoadLocation(req.TimelineZone)
		if err != nil {
			return nil, p.Invalid(err.Error(), "Name a zone such as UTC or Europe/Berlin with --timeline-zone.")
		}
		o.Zone = zone
	}
	var err error
	if run.table, err = hudi.Open(ctx, p.Reader, p.Root, o); err != nil {
		return nil, err
	}
	return run, run.configure()
}

func (run *Run) configure() error {
	c, h := &run.config, run.req
	run.lock = timeline.Properties{}
	c.Orphans = h.Orphans
	if err := run.read(run.table.Properties()); err != nil {
		return err
	}
	if h.Config != "" {
		data, err := os.ReadFile(h.Config)
		if err != nil {
			return run.Invalid(err.Error(), "Name a properties file with --config.")
		}
		p, err := timeline.ParseProperties(data)
		if err != nil {
			return err
		}
		if err := run.read(p); err != nil {
			return err
		}
	}
	if h.Policy != "" {
		var err error
		if c.Policy, err = retain.ParsePolicy(h.Policy); err != nil {
			return err
		}
	}
	for _, f := range []struct {
		n      int
		to     *int
		policy retain.Policy
	}{{h.RetainCommits, &c.Commits, retain.LatestCommits}, {h.RetainHours, &c.Hours, retain.LatestHours}, {h.RetainVersions, &c.Versions, retain.LatestVersions}} {
		if f.n == 0 {
			continue
		}
		*f.to = f.n
		if h.Policy == "" {
			c.Policy = f.policy
		} else if c.Policy != f.policy {
			return run.Invalid(fmt.Sprintf("--policy %s and a number for %s", h.Policy, f.policy), "Give the number that belongs to the policy.")
		}
	}
	if !run.req.Cutoff.IsZero() {
		if h.Policy == "" {
			c.Policy = retain.LatestHours
		}
		if c.Policy != retain.LatestHours {
			return run.Invalid("--cutoff with a policy that doesn't count hours", "Use --policy latest-hours, or leave --cutoff out.")
		}
		c.Cutoff = run.req.Cutoff
	}
	return nil
}

// read takes Hudi's keys: what to retain, and which lock the writers use.
func (run *Run) read(p timeline.Properties) error {
	for k, v := range p {
		if strings.HasPrefix(k, lockPrefix) {
			run.lock[k] = v
		}
	}
	return run.config.Read(p)
}

// now is our clock, or the store's if that is behind, as it goes on.
func (host *Host) now(p *place.Place) func() time.Time {
	return func() time.Time { return host.Places.Now().Add(-max(p.Skew, 0)) }
}

// Table is the opened table.
func (run *Run) Table() *hudi.Table { return run.table }
