package delta

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/keyset"
	"github.com/lakesweep/lakesweep/table"
	"github.com/lakesweep/lakesweep/table/delta/logdir"
	"github.com/lakesweep/lakesweep/table/delta/logfault"
	"github.com/lakesweep/lakesweep/table/delta/logline"
	"github.com/lakesweep/lakesweep/table/delta/meta"
	"github.com/lakesweep/lakesweep/table/delta/txlog"
)

// guardian replays the commits that come after a plan.
type guardian struct {
	t         *Table
	state     map[string]string
	version   int64 // the newest one read
	caseFold  bool
	protected *keyset.Exact
	checked   bool // the table is the plan's
	protocol  meta.Protocol
}

// Guardian watches the log from the version that state names on. state is what
// State gave when the plan was made; caseFold as in ProtectRequest. The first
// Refresh compares the table's identity too.
//
// Errors: Invalid for a state that State didn't write.
// Source: spec/delta-vacuum.md section 10 trap 12, section 11 steps 11 and 12.
func (t *Table) Guardian(state map[string]string, caseFold bool) (table.Guardian, error) {
	version, err := strconv.ParseInt(state[stateVersion], 10, 64)
	if err != nil || version < 0 {
		return nil, &lake.Error{Op: "watch log", Table: t.root.String(), Kind: lake.Invalid, Err: errors.New("the plan doesn't say on which version it was made"),
			Hint: "Make a new plan."}
	}
	return &guardian{t: t, state: state, version: version, caseFold: caseFold, protected: keyset.NewExact(), protocol: t.log.Protocol}, nil
}

// Protected reports whether a commit after the plan names k.
func (g *guardian) Protected(k lake.Key) bool {
	return g.protected.Has(string(k)) || g.caseFold && g.protected.Has(string(k.Fold()))
}

// Refresh reads the commits after the last one known and protects all that
// they name: what they add, what they remove (it was live in between), change
// data and deletion vectors.
func (g *guardian) Refresh(ctx context.Context) error {
	return g.t.wrap("watch log", g.refresh(ctx))
}

func (g *guardian) stale(format string, args ...any) error {
	return &lake.Error{Op: "watch log", Table: g.t.root.String(), Kind: lake.Stale, Err: fmt.Errorf(format, args...), Hint: "Make a new plan."}
}

func (g *guardian) refresh(ctx context.Context) error {
	if !g.checked {
		if err := g.identity(); err != nil {
			return err
		}
	}
	commits, err := g.newCommits(ctx)
	if err != nil {
		return err
	}
	reader := txlog.Commits{Log: g.t.log}
	err = reader.Each(ctx, commits, func(c logdir.File, b txlog.Batch) error {
		if err := g.others(c, b); err != nil {
			return err
		}
		for i := range b.Files {
			if err := g.protect(&b.Files[i]); err != nil {
				return logfault.LineError(c.Name, err)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(commits) > 0 {
		g.version = commits[len(commits)-1].Version
	}
	g.checked = true
	return nil
}

// identity compares the table as it was opened with the plan's.
func (g *guardian) identity() error {
	now := g.t.State()
	switch {
	case now[stateTable] != g.state[stateTable]:
		return g.stale("another table stands there now: its id is %s, the plan's %s", now[stateTable], g.state[stateTable])
	case now[stateMetadata] != g.state[stateMetadata]:
		return g.stale("the table's metadata changed")
	case now[stateProtocol] != g.state[stateProtocol]:
		return g.stale("the table's protocol changed")
	case g.t.log.Segment.Version < g.version:
		return g.stale("the log ends at version %d, before the plan's version %d", g.t.log.Segment.Version, g.version)
	}
	if c := g.t.log.Segment.Commit(g.version); c.Fingerprint() != g.state[stateCommit] {
		return g.stale("commit %d isn't the one that the plan was made on", g.version)
	}
	return nil
}

// newCommits lists the commits after the newest one known.
func (g *guardian) newCommits(ctx context.Context) ([]logdir.File, error) {
	entries, err := logdir.ListDir(ctx, g.t.r, meta.LogDir+"/", logdir.CommitName(g.version))
	if err != nil {
		return nil, err
	}
	fresh := entries[:0]
	for _, e := range entries {
		if v, rest, ok := logdir.CutVersion(e.Name[len(meta.LogDir)+1:]); ok && v > g.version && (rest == "json" || len(rest) > 10 && rest[:10] == "checkpoint") {
			fresh = append(fresh, e)
		}
	}
	if err := logdir.StatAll(ctx, g.t.r, g.t.log.Dir.Workers(), fresh); err != nil {
		return nil, err
	}
	n, err := logdir.Classify(fresh)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(n.Commits, func(a, b logdir.File) int { return int(a.Version - b.Version) })
	for i, c := range n.Commits {
		if c.Version != g.version+1+int64(i) {
			return nil, g.stale("commit %d is gone, a later one is there", g.version+1+int64(i))
		}
		if c.Size == 0 {
			return nil, logfault.Damaged(c.Name, errors.New("the commit is empty"))
		}
		n.Commits[i].Time = c.Modified
	}
	for _, c := range n.Complete() {
		if c.Version > g.version+int64(len(n.Commits)) {
			return nil, g.stale("checkpoint %d is there, its commit is gone", c.Version)
		}
	}
	return n.Commits, nil
}

// others looks at what a commit says beside its files.
func (g *guardian) others(c logdir.File, b txlog.Batch) error {
	for _, a := range b.Others {
		switch a.Op {
		case logline.Protocol:
			p, err := meta.ParseProtocol(a.Raw)
			if err != nil {
				return logfault.Damaged(c.Name, err)
			}
			if err := p.Gate(); err != nil {
				return err
			}
			if !p.Same(g.protocol) {
				return g.stale("version %d changed the protocol", c.Version)
			}
		case logline.Metadata:
			m, err := meta.ParseMetadata(a.Raw)
			if err != nil {
				return logfault.Damaged(c.Name, err)
			}
			if m.Fingerprint != g.t.log.Metadata.Fingerprint {
				return g.stale("version %d changed the metadata", c.Version)
			}
		case logline.CommitInfo:
			info, err := txlog.ParseCommitInfo(a.Raw)
			if err != nil {
				return logfault.Damaged(c.Name, err)
			}
			if info.Operation == "RESTORE" {
				return g.stale("version %d restored an older one", c.Version)
			}
		}
	}
	return nil
}

func (g *guardian) protect(a *logline.Action) error {
	p, err := g.t.logPath(a.Path)
	if err != nil {
		return err
	}
	g.add(p)
	if a.DV == nil {
		return nil
	}
	dv, onDisk, err := g.t.dvPaths(a.DV)
	if err == nil && onDisk {
		g.add(dv)
	}
	return err
}

func (g *guardian) add(p lake.Paths) {
	for _, k := range append([]lake.Key{p.Key}, p.Protect...) { // no key of something outside: no object has the name ""
		g.protected.Add(string(k))
		if g.caseFold {
			g.protected.Add(string(k.Fold()))
		}
	}
}
