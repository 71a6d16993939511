package delta

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
)

// logFile is a file of the log.
type logFile struct {
	name     string // below the root
	version  int64
	size     int64
	modified time.Time
	time     time.Time // a commit's: when it was made, without in-commit timestamps
}

// fingerprint tells a commit's file from another one of the same version. A
// nil one has none.
func (f *logFile) fingerprint() string {
	if f == nil {
		return ""
	}
	return fmt.Sprintf("%d@%d", f.size, f.modified.UnixMilli())
}

// checkpoint is a complete checkpoint: one file, or all of its parts.
type checkpoint struct {
	version int64
	kind    checkpointKind
	parts   []logFile
}

type checkpointKind uint8

// The kinds, the later preferred among those of one version.
const (
	classic checkpointKind = iota
	multipart
	v2
)

// segment is what a listing of _delta_log holds.
type segment struct {
	commits     []logFile    // ascending, contiguous, the newest last; those before a gap are left out
	checkpoints []checkpoint // usable: complete, and every commit after it is there; the best first
	fromZero    bool         // the commits alone give the state
	version     int64        // the newest
	crc         *logFile     // of version
	info        bool         // there is a _last_vacuum_info
	staged      []string     // folders of commits that may not be ratified
	tmp         bool         // there is a folder of unfinished commits
}

// first returns the oldest contiguous commit's version, version+1 if there is none.
func (s *segment) first() int64 { return s.version + 1 - int64(len(s.commits)) }

// commitsFrom returns the commits v, v+1, … up to the newest.
func (s *segment) commitsFrom(v int64) []logFile { return s.commits[max(v-s.first(), 0):] }

// below returns the commits up to v, ascending.
func (s *segment) below(v int64) []logFile { return s.commits[:max(v+1-s.first(), 0)] }

// commit returns one commit, nil if it isn't there.
func (s *segment) commit(v int64) *logFile {
	if v < s.first() || v > s.version || len(s.commits) == 0 {
		return nil
	}
	return &s.commits[v-s.first()]
}

// listDir lists one level of a folder of the table, completely.
func listDir(ctx context.Context, r store.Reader, dir, after string) ([]store.Info, error) {
	var all []store.Info
	req := store.PageRequest{Prefix: dir, Dirs: true}
	if after != "" && r.Traits().StartAfter {
		req.After = after
	}
	for {
		page, err := r.List(ctx, req)
		if errors.Is(err, fs.ErrNotExist) {
			return all, nil
		}
		if err != nil {
			return nil, &lake.Error{Op: "list log", Key: lake.Key(dir), Kind: kindOf(err), Err: err}
		}
		all = append(all, page.Entries...)
		if page.Next == "" {
			return all, nil
		}
		req.Token, req.After = page.Next, ""
	}
}

// names is a listing of _delta_log by the meaning of its names.
type names struct {
	commits    []logFile
	singles    []checkpoint
	parts      map[[2]int64][]logFile // (version, number of parts) → part of each ordinal
	crcs       []logFile
	staged     []string // folders of commits that may not be ratified
	tmp        bool
	vacuumInfo bool
}

// classify sorts entries of _delta_log by name. Whatever has no meaning here
// is ignored, for the protocol lets the log grow.
//
// Source: Delta PROTOCOL.md "File Types"; spec/delta-vacuum.md 1.1.
func classify(entries []store.Info) (names, error) {
	n := names{parts: map[[2]int64][]logFile{}}
	for _, e := range entries {
		base := strings.TrimPrefix(e.Name, LogDir+"/")
		if e.Kind == store.Dir || e.Kind == store.Marker {
			switch base {
			case "_staged_commits", "_commits":
				n.staged = append(n.staged, e.Name)
			case ".tmp":
				n.tmp = true
			}
			continue
		}
		if e.Kind == store.Symlink && len(base) > 20 && strings.Trim(base[:20], "0123456789") == "" {
			return n, damaged(e.Name, errors.New("a file of the log is a symbolic link"))
		}
		if e.Kind == store.File {
			n.file(e, base)
		}
	}
	return n, nil
}

func (n *names) file(e store.Info, base string) {
	if base == "_last_vacuum_info" {
		n.vacuumInfo = true
		return
	}
	version, rest, ok := cutVersion(base)
	if !ok {
		return
	}
	f := logFile{name: e.Name, version: version, size: e.Size, modified: e.Modified}
	words := strings.Split(rest, ".")
	switch {
	case rest == "json":
		n.commits = append(n.commits, f)
	case rest == "crc":
		n.crcs = append(n.crcs, f)
	case rest == "checkpoint.parquet":
		n.singles = append(n.singles, checkpoint{version, classic, []logFile{f}})
	case len(words) == 4 && words[0] == "checkpoint" && words[3] == "parquet":
		part, ok1 := number(words[1], 10)
		of, ok2 := number(words[2], 10)
		if ok1 && ok2 && part >= 1 && part <= of {
			key := [2]int64{version, of}
			n.parts[key] = append(n.parts[key], f)
		}
	case len(words) == 3 && words[0] == "checkpoint" && words[1] != "" && (words[2] == "parquet" || words[2] == "json"):
		n.singles = append(n.singles, checkpoint{version, v2, []logFile{f}})
	}
}

// cutVersion splits "<20 digits>.rest".
func cutVersion(base string) (int64, string, bool) {
	if len(base) < 22 || base[20] != '.' {
		return 0, "", false
	}
	v, ok := number(base[:20], 20)
	return v, base[21:], ok
}

func number(s string, digits int) (int64, bool) {
	if len(s) != digits || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}

// commitName is the name of a commit below the root.
func commitName(v int64) string { return fmt.Sprintf("%s/%020d.json", LogDir, v) }

// buildSegment makes the segment of a listing.
//
// Errors: NotTable for a log without any version; Damaged for a gap that no
// checkpoint covers.
// Source: spec/delta-vacuum.md 1.2.
func buildSegment(n names) (*segment, error) {
	s := &segment{version: -1, info: n.vacuumInfo, staged: n.staged, tmp: n.tmp}
	checkpoints := n.complete()
	if len(n.commits) == 0 {
		if len(checkpoints) == 0 {
			return nil, &lake.Error{Op: "read log", Kind: lake.NotTable, Err: errors.New("_delta_log holds no version"),
				Hint: "Is this the root of a Delta table? Nothing was deleted."}
		}
		return nil, damaged(LogDir, errors.New("checkpoints only, no commit at all"))
	}
	slices.SortFunc(n.commits, func(a, b logFile) int { return cmp.Compare(a.version, b.version) })
	s.version = n.commits[len(n.commits)-1].version
	if len(checkpoints) > 0 {
		s.version = max(s.version, checkpoints[0].version)
	}
	s.commits = contiguous(n.commits, s.version)
	s.fromZero = s.first() == 0
	for _, c := range checkpoints {
		if c.version+1 >= s.first() {
			s.checkpoints = append(s.checkpoints, c)
		}
	}
	if !s.fromZero && len(s.checkpoints) == 0 {
		if gap := s.first() - 1; gap > n.commits[0].version {
			return nil, damaged(commitName(gap), fmt.Errorf("commit %d is missing and no complete checkpoint covers it", gap))
		}
		return nil, damaged(commitName(0), fmt.Errorf("the log is incomplete at 0 to %d and no complete checkpoint covers it", s.first()-1))
	}
	for _, c := range n.crcs {
		if c.version == s.version {
			s.crc = &c
		}
	}
	return s, s.commitTimes()
}

// contiguous returns the commits without a gap before version.
func contiguous(commits []logFile, version int64) []logFile {
	i := len(commits)
	for i > 0 && commits[i-1].version == version-int64(len(commits)-i) {
		i--
	}
	return commits[i:]
}

// complete returns the complete checkpoints, the best first.
func (n *names) complete() []checkpoint {
	all := slices.DeleteFunc(n.singles, func(c checkpoint) bool { return c.parts[0].size == 0 })
	for key, parts := range n.parts {
		slices.SortFunc(parts, func(a, b logFile) int { return strings.Compare(a.name, b.name) })
		if int64(len(parts)) == key[1] && !slices.ContainsFunc(parts, func(f logFile) bool { return f.size == 0 }) {
			all = append(all, checkpoint{key[0], multipart, parts})
		}
	}
	slices.SortFunc(all, func(a, b checkpoint) int {
		return cmp.Or(cmp.Compare(b.version, a.version), cmp.Compare(b.kind, a.kind),
			cmp.Compare(len(b.parts), len(a.parts)), strings.Compare(b.parts[0].name, a.parts[0].name))
	})
	return all
}

// commitTimes sets the time of each commit from its modification time, made
// strictly rising, and refuses empty commits.
func (s *segment) commitTimes() error {
	last := time.Time{}
	for i := range s.commits {
		c := &s.commits[i]
		if c.size == 0 {
			return damaged(c.name, errors.New("the commit is empty"))
		}
		c.time = c.modified
		if !c.time.After(last) {
			c.time = last.Add(time.Millisecond)
		}
		last = c.time
	}
	return nil
}

// load lists the log and builds its segment.
//
// Errors: as buildSegment; those of the store.
func (d *logDir) load(ctx context.Context) (*segment, error) {
	entries, err := listDir(ctx, d.r, LogDir+"/", "")
	if err != nil {
		return nil, err
	}
	if err := statAll(ctx, d.r, d.workers(), entries); err != nil {
		return nil, err
	}
	n, err := classify(entries)
	if err != nil {
		return nil, err
	}
	return buildSegment(n)
}

// statAll fills in sizes and times where listings give names only.
func statAll(ctx context.Context, r store.Reader, workers int, entries []store.Info) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(workers)
	for i := range entries {
		e := &entries[i]
		if e.Kind != store.File || e.Size >= 0 && !e.Modified.IsZero() {
			continue
		}
		g.Go(func() error {
			info, err := r.Stat(ctx, e.Name)
			if errors.Is(err, fs.ErrNotExist) {
				e.Kind = store.Other // cleaned up since; a hole that this makes is seen later
				return nil
			}
			if err != nil {
				return &lake.Error{Op: "stat log", Key: lake.Key(e.Name), Kind: kindOf(err), Err: err}
			}
			*e = info
			return nil
		})
	}
	return g.Wait()
}

// checkUnfinished refuses logs whose newest commits may stand elsewhere: staged
// commits ("<version>.<uuid>.json") above the newest version, or the body of a
// commit ("<version>.json.<uuid>") that a DynamoDB log store has recorded and
// not yet copied.
//
// Source: spec/delta-vacuum.md 1.1, 1.2.
func (d *logDir) checkUnfinished(ctx context.Context, s *segment) error {
	for _, dir := range s.staged {
		if err := d.checkNewer(ctx, s.version, dir, func(rest string) bool { return strings.HasSuffix(rest, ".json") }); err != nil {
			return err
		}
	}
	if !s.tmp {
		return nil
	}
	return d.checkNewer(ctx, s.version, LogDir+"/.tmp", func(rest string) bool { return strings.HasPrefix(rest, "json.") })
}

func (d *logDir) checkNewer(ctx context.Context, version int64, dir string, isCommit func(rest string) bool) error {
	entries, err := listDir(ctx, d.r, dir+"/", "")
	if err != nil {
		return err
	}
	for _, e := range entries {
		base := e.Name[strings.LastIndexByte(e.Name, '/')+1:]
		if v, rest, ok := cutVersion(base); ok && isCommit(rest) && v > version {
			return &lake.Error{Op: "read log", Key: lake.Key(e.Name), Kind: lake.Damaged, Code: "unfinished_commit",
				Err:  fmt.Errorf("commit %d is staged and may be committed elsewhere", v),
				Hint: "Nothing was deleted. Let the engine that wrote it finish or read the table once; remove this file only if that commit never happened."}
		}
	}
	return nil
}
