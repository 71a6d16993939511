package delta

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table"
	"github.com/lakesweep/lakesweep/table/delta/logdir"
	"github.com/lakesweep/lakesweep/table/delta/logfault"
	"github.com/lakesweep/lakesweep/table/delta/logline"
	"github.com/lakesweep/lakesweep/table/delta/txlog"
)

// Explain says what the log knows about key: every version and action that
// names it under any spelling, with the rule. The verdict is live, history,
// hidden, or "" where the log doesn't protect it and the storage time decides.
//
// Errors: as Protect.
func (t *Table) Explain(ctx context.Context, key lake.Key, cutoff time.Time) (table.Explanation, error) {
	e := table.Explanation{Path: string(key)}
	var found []mention
	err := t.log.WithCheckpoint(func(base *logdir.Checkpoint) (err error) {
		found, err = t.mentions(ctx, key, cutoff, base)
		return err
	})
	if err != nil {
		return e, t.wrap("explain", err)
	}
	slices.SortStableFunc(found, func(a, b mention) int { return cmp.Compare(a.version, b.version) })
	for _, m := range found {
		version := m.version
		b := table.Because{Version: &version, Action: m.action, Rule: m.rule}
		if m.checkpoint {
			b.Rule += fmt.Sprintf(" (checkpoint %d)", m.version)
		}
		e.Because = append(e.Because, b)
		if rank[m.verdict] > rank[e.Verdict] {
			e.Verdict = m.verdict
		}
	}
	if e.Verdict == "" && !t.Rules().Visible(key) {
		e.Verdict = "hidden"
		e.Because = append(e.Because, table.Because{Action: "hidden", Rule: "a component of its path begins with '_' or '.', or belongs to another format: never a candidate"})
	}
	return e, nil
}

// rank orders verdicts: the strongest one counts.
var rank = map[string]int{"": 0, "history": 1, "live": 2}

// mention is one action that names a key.
type mention struct {
	version    int64
	checkpoint bool
	action     string
	verdict    string
	rule       string
}

// mentions gathers all actions that name key. Sinks may run in parallel.
func (t *Table) mentions(ctx context.Context, key lake.Key, cutoff time.Time, base *logdir.Checkpoint) ([]mention, error) {
	g := &protector{t: t, req: ProtectRequest{Cutoff: cutoff}}
	gap, err := t.historyGap(ctx, cutoff)
	if err != nil {
		return nil, err
	}
	if gap != "" {
		g.bound = t.o.Now().UnixMilli()
	}
	var mu sync.Mutex
	var found []mention
	note := func(m mention) {
		mu.Lock()
		defer mu.Unlock()
		found = append(found, m)
	}
	start := func() txlog.Sink { return &explainSink{g: g, key: key, base: base, note: note} }
	none := func(logdir.File, txlog.Batch) error { return nil }
	if err := t.log.Replay(ctx, t.log.Segment.Version, base, txlog.Commits{Log: t.log}, start, none); err != nil || base == nil {
		return found, err
	}
	out := start()
	err = txlog.Commits{Log: t.log}.Each(ctx, t.log.Segment.Below(base.Version), func(c logdir.File, b txlog.Batch) error {
		for i := range b.Files {
			if err := out.Gone(&b.Files[i], &c); err != nil {
				return logfault.LineError(c.Name, err)
			}
		}
		return nil
	})
	return found, err
}

type explainSink struct {
	g    *protector
	key  lake.Key
	base *logdir.Checkpoint
	note func(mention)
}

func (s *explainSink) names(p lake.Paths) bool {
	return !p.Outside && (p.Key == s.key || slices.Contains(p.Protect, s.key))
}

// which says how an action names the key: as its file, as its deletion
// vector, or not at all.
func (s *explainSink) which(a *logline.Action) (string, error) {
	p, err := s.g.t.logPath(a.Path)
	if err != nil {
		return "", err
	}
	if s.names(p) {
		return map[logline.Op]string{logline.Add: "add", logline.Remove: "remove", logline.CDC: "cdc"}[a.Op], nil
	}
	dv, onDisk, err := s.g.dv(a)
	if err != nil || !onDisk || !s.names(dv) {
		return "", err
	}
	return "deletion_vector", nil
}

// Live also stands for checkpoint rows, whose version is the checkpoint's:
// the commit that wrote them isn't known there.
func (s *explainSink) Live(a *logline.Action, _ *logdir.File) error {
	what, err := s.which(a)
	if err != nil || what == "" {
		return err
	}
	s.note(mention{version: s.g.t.log.Segment.Version, action: what, verdict: "live", rule: fmt.Sprintf("live in version %d: needed", s.g.t.log.Segment.Version)})
	return nil
}

func (s *explainSink) Gone(a *logline.Action, c *logdir.File) error {
	what, err := s.which(a)
	if err != nil || what == "" {
		return err
	}
	m := mention{action: what, checkpoint: c == nil}
	if c != nil {
		m.version = c.Version
	} else {
		m.version = s.base.Version
	}
	if a.Op == logline.Add {
		m.rule = "added; a later action decides"
		s.note(m)
		return nil
	}
	at := time.UnixMilli(s.g.removalTime(a, c)).UTC()
	verb := map[logline.Op]string{logline.Remove: "removed", logline.CDC: "change data written"}[a.Op]
	if at.Before(s.g.req.Cutoff.Truncate(time.Millisecond)) {
		m.rule = fmt.Sprintf("%s at %s, before the cutoff: not needed", verb, at.Format(time.RFC3339))
	} else {
		m.verdict = "history"
		m.rule = fmt.Sprintf("%s at %s, not before the cutoff: needed by retained versions", verb, at.Format(time.RFC3339))
	}
	s.note(m)
	return nil
}
