package delta

import (
	"strings"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/keyset"
	"github.com/lakesweep/lakesweep/table/delta/logdir"
	"github.com/lakesweep/lakesweep/table/delta/logline"
)

// protectSink is the part of a protector that one goroutine uses.
type protectSink struct {
	g       *protector
	adds    *keyset.Batch // to g.set
	primary bool
	n       liveCounts
	sampler sampler
	dirs    *dirCache

	asked  bool     // the following hold
	dir    lake.Key // of the file before
	listed bool     // what ExpectIn says of it
	isLink bool     // it is a symlink to the folder real
	real   lake.Key
}

// liveCounts counts what is live at the version opened.
type liveCounts struct {
	files, bytes int64
	unsized      bool // bytes lacks files whose size the log doesn't say
	outside      int64
	dvs          int64
}

// Live protects a live file and its deletion vector.
func (s *protectSink) Live(a *logline.Action, _ *logdir.File) error {
	g := s.g
	p, err := s.logPath(a.Path)
	if err != nil {
		return err
	}
	dv, onDisk, err := g.dv(a)
	if err != nil {
		return err
	}
	if s.primary {
		s.n.files++
		s.n.bytes += max(a.Size, 0)
		s.n.unsized = s.n.unsized || a.Size < 0
		if p.Outside {
			s.n.outside++
		}
	}
	if !p.Outside {
		if in := s.within(p.Key); in || !g.narrow() {
			s.protect(p, in && s.primary && (g.req.Expect == nil || g.req.Expect(p.Key)))
		} else {
			s.protectAll(p.Protect)
		}
		if s.g.parts != nil && a.Values != 0 {
			s.note(p.Key, a.Values)
		}
		if s.primary {
			s.sampler.add(p.Key)
		}
	} else {
		s.protect(p, false)
	}
	if !onDisk {
		return nil
	}
	s.protect(dv, !dv.Outside && s.primary && (g.req.Expect == nil || g.req.Expect(dv.Key)) && s.within(dv.Key))
	if s.primary && !dv.Outside && g.dvs.Add(string(dv.Key)) {
		s.n.dvs++
	}
	return nil
}

// logPath is Table.logPath. Neighbours mostly lie in one directory, about which
// is asked once.
func (s *protectSink) logPath(path string) (lake.Paths, error) {
	p, err := s.g.t.unlinkedPath(path)
	if err != nil || p.Outside || s.g.t.o.Linked == nil {
		return p, err
	}
	if s.at(p.Key); s.isLink {
		return through(p, s.real), nil
	}
	return p, nil
}

// within reports whether a key lies where a complete listing shows it.
func (s *protectSink) within(k lake.Key) bool {
	if s.g.req.ExpectIn == nil {
		return true
	}
	s.at(k)
	return s.listed
}

// at makes dir the directory of k.
func (s *protectSink) at(k lake.Key) {
	if s.asked && liesIn(k, s.dir) {
		return
	}
	s.dir, s.asked = lake.Key(strings.Clone(string(k.Dir()))), true // not the whole page that it is a part of
	s.listed = s.g.req.ExpectIn == nil || s.g.req.ExpectIn(s.dir)
	if linked := s.g.t.o.Linked; linked != nil {
		s.real, s.isLink = linked(s.dir)
	}
}

// liesIn reports whether dir is the directory of k.
func liesIn(k, dir lake.Key) bool {
	if dir != "" {
		if !k.Below(dir) {
			return false
		}
		k = k[len(dir)+1:]
	}
	return strings.IndexByte(string(k), '/') < 0
}

// dv resolves the deletion vector of an action; onDisk is false without one.
func (g *protector) dv(a *logline.Action) (p lake.Paths, onDisk bool, err error) {
	if a.DV == nil {
		return p, false, nil
	}
	return g.t.dvPaths(a.DV)
}

// narrow reports whether Set lacks keys on purpose.
func (g *protector) narrow() bool {
	return g.req.Narrow && g.req.ExpectIn != nil && !g.req.CaseFold
}

// protect adds every spelling of a path. Only its key can be expected.
func (s *protectSink) protect(p lake.Paths, expected bool) {
	switch {
	case p.Outside:
	case expected:
		s.adds.AddExpected(p.Key)
		if s.g.req.CaseFold {
			s.adds.Add(p.Key.Fold())
		}
	default:
		s.add(p.Key)
	}
	s.protectAll(p.Protect)
}

func (s *protectSink) protectAll(keys []lake.Key) {
	for _, k := range keys {
		s.add(k)
	}
}

// add protects one key, unless it lies where nothing is asked for.
func (s *protectSink) add(k lake.Key) {
	if s.g.narrow() && !s.within(k) {
		return
	}
	s.adds.Add(k)
	if s.g.req.CaseFold {
		s.adds.Add(k.Fold())
	}
}

func (s *protectSink) note(k lake.Key, values int32) {
	if s.dirs != nil {
		s.dirs.add(values, k)
	}
}

// Gone protects what was live, or had its change data written, at the cutoff
// or later, and remembers the rest.
func (s *protectSink) Gone(a *logline.Action, c *logdir.File) error {
	g := s.g
	p, err := s.logPath(a.Path)
	if err != nil {
		return err
	}
	if p.Outside {
		if a.Op != logline.Add && g.removalTime(a, c) >= g.req.Cutoff.UnixMilli() {
			s.protect(p, false)
		}
		return s.goneDV(a, c)
	}
	s.note(p.Key, a.Values)
	if a.Op == logline.Add { // replaced by a later action, which came first
		if g.parts != nil {
			g.removed.merge(p.Key, a.Values)
		}
		return nil
	}
	at := g.removalTime(a, c)
	if at >= g.req.Cutoff.UnixMilli() {
		s.protect(p, false)
		return s.goneDV(a, c)
	}
	reason := byRemove
	switch base := p.Key.Base(); {
	case a.Op == logline.CDC:
		reason = byFeed
	case strings.HasPrefix(base, "deletion_vector_") && strings.HasSuffix(base, ".bin"):
		reason = byDV // a tombstone of the file itself, left when the feature was dropped
	}
	g.remember(p, removal{time: at, size: a.Size, values: a.Values, reason: reason})
	return s.goneDV(a, c)
}

// goneDV does for the deletion vector of a removed file what gone does for the
// file.
func (s *protectSink) goneDV(a *logline.Action, c *logdir.File) error {
	p, onDisk, err := s.g.dv(a)
	if err != nil || !onDisk || a.Op == logline.Add {
		return err
	}
	if at := s.g.removalTime(a, c); at < s.g.req.Cutoff.UnixMilli() {
		if p.Outside {
			return nil
		}
		s.g.remember(p, removal{time: at, size: -1, values: a.Values, reason: byDV})
		return nil
	}
	s.protect(p, false)
	return nil
}

func (g *protector) remember(p lake.Paths, r removal) {
	g.removed.add(p.Key, r)
	for _, k := range p.Protect {
		g.removed.add(k, r)
	}
}

// secondsBelow is the deletionTimestamp under which a value must be seconds:
// as milliseconds it would lie before March 1973.
const secondsBelow = 100_000_000_000

// removalTime is the effective removal time, in ms: the later of the
// deletionTimestamp and the time of the commit. Of a checkpoint's tombstone
// the commit's time is unknown; where it may have been after the cutoff, the
// latest possible time stands for it.
//
// Source: spec/delta-vacuum.md 1.5 (OURS), section 10 trap 7.
func (g *protector) removalTime(a *logline.Action, c *logdir.File) int64 {
	at := a.Removed
	if at > 0 && at < secondsBelow {
		at *= 1000
	}
	if c == nil {
		return max(at, g.bound)
	}
	return max(at, g.t.log.CommitTimeKnown(*c).UnixMilli())
}

// keepSink protects what one version needs, with the change data it wrote.
type keepSink struct {
	*protectSink
	version int64
}

func (s keepSink) Gone(a *logline.Action, c *logdir.File) error {
	if a.Op != logline.CDC || c == nil || c.Version != s.version {
		return nil
	}
	p, err := s.g.t.logPath(a.Path)
	if err == nil {
		s.protect(p, false)
	}
	return err
}
