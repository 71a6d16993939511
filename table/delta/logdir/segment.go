package logdir

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
	"github.com/lakesweep/lakesweep/table/delta/logfault"
	"github.com/lakesweep/lakesweep/table/delta/meta"
)

// File is a file of the log.
type File struct {
	Name     string // below the root
	Version  int64
	Size     int64
	Modified time.Time
	Time     time.Time // a commit's: when it was made, without in-commit timestamps
}

// Fingerprint tells a commit's file from another one of the same version. A
// nil one has none.
func (f *File) Fingerprint() string {
	if f == nil {
		return ""
	}
	return fmt.Sprintf("%d@%d", f.Size, f.Modified.UnixMilli())
}

// Checkpoint is a complete checkpoint: one file, or all of its parts.
type Checkpoint struct {
	Version int64
	Kind    checkpointKind
	Parts   []File
}

type checkpointKind uint8

// The kinds, the later preferred among those of one version.
const (
	classic checkpointKind = iota
	Multipart
	v2
)

// Segment is what a listing of _delta_log holds.
type Segment struct {
	Commits     []File       // ascending, contiguous, the newest last; those before a gap are left out
	Checkpoints []Checkpoint // usable: complete, and every commit after it is there; the best first
	FromZero    bool         // the commits alone give the state
	Version     int64        // the newest
	Checksum    *File        // of version
	Info        bool         // there is a _last_vacuum_info
	staged      []string     // folders of commits that may not be ratified
	tmp         bool         // there is a folder of unfinished commits
}

// First returns the oldest contiguous commit's version, version+1 if there is none.
func (s *Segment) First() int64 { return s.Version + 1 - int64(len(s.Commits)) }

// CommitsFrom returns the commits v, v+1, … up to the newest.
func (s *Segment) CommitsFrom(v int64) []File { return s.Commits[max(v-s.First(), 0):] }

// Below returns the commits up to v, ascending.
func (s *Segment) Below(v int64) []File { return s.Commits[:max(v+1-s.First(), 0)] }

// Commit returns one commit, nil if it isn't there.
func (s *Segment) Commit(v int64) *File {
	if v < s.First() || v > s.Version || len(s.Commits) == 0 {
		return nil
	}
	return &s.Commits[v-s.First()]
}

// ListDir lists one level of a folder of the table, completely.
func ListDir(ctx context.Context, r store.Reader, dir, after string) ([]store.Info, error) {
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
			return nil, &lake.Error{Op: "list log", Key: lake.Key(dir), Kind: logfault.KindOf(err), Err: err}
		}
		all = append(all, page.Entries...)
		if page.Next == "" {
			return all, nil
		}
		req.Token, req.After = page.Next, ""
	}
}

// Names is a listing of _delta_log by the meaning of its names.
type Names struct {
	Commits    []File
	singles    []Checkpoint
	parts      map[[2]int64][]File // (version, number of parts) → part of each ordinal
	crcs       []File
	staged     []string // folders of commits that may not be ratified
	tmp        bool
	vacuumInfo bool
}

// Classify sorts entries of _delta_log by name. Whatever has no meaning here
// is ignored, for the protocol lets the log grow.
//
// Source: Delta PROTOCOL.md "File Types"; spec/delta-vacuum.md 1.1.
func Classify(entries []store.Info) (Names, error) {
	n := Names{parts: map[[2]int64][]File{}}
	for _, e := range entries {
		base := strings.TrimPrefix(e.Name, meta.LogDir+"/")
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
			return n, logfault.Damaged(e.Name, errors.New("a file of the log is a symbolic link"))
		}
		if e.Kind == store.File {
			n.file(e, base)
		}
	}
	return n, nil
}

func (n *Names) file(e store.Info, base string) {
	if base == "_last_vacuum_info" {
		n.vacuumInfo = true
		return
	}
	version, rest, ok := CutVersion(base)
	if !ok {
		return
	}
	f := File{Name: e.Name, Version: version, Size: e.Size, Modified: e.Modified}
	words := strings.Split(rest, ".")
	switch {
	case rest == "json":
		n.Commits = append(n.Commits, f)
	case rest == "crc":
		n.crcs = append(n.crcs, f)
	case rest == "checkpoint.parquet":
		n.singles = append(n.singles, Checkpoint{version, classic, []File{f}})
	case len(words) == 4 && words[0] == "checkpoint" && words[3] == "parquet":
		part, ok1 := number(words[1], 10)
		of, ok2 := number(words[2], 10)
		if ok1 && ok2 && part >= 1 && part <= of {
			key := [2]int64{version, of}
			n.parts[key] = append(n.parts[key], f)
		}
	case len(words) == 3 && words[0] == "checkpoint" && words[1] != "" && (words[2] == "parquet" || words[2] == "json"):
		n.singles = append(n.singles, Checkpoint{version, v2, []File{f}})
	}
}

// CutVersion splits "<20 digits>.rest".
func CutVersion(base string) (int64, string, bool) {
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

// CommitName is the name of a commit below the root.
func CommitName(v int64) string { return fmt.Sprintf("%s/%020d.json", meta.LogDir, v) }

// buildSegment makes the segment of a listing.
//
// Errors: NotTable for a log without any version; Damaged for a gap that no
// checkpoint covers.
// Source: spec/delta-vacuum.md 1.2.
func buildSegment(n Names) (*Segment, error) {
	s := &Segment{Version: -1, Info: n.vacuumInfo, staged: n.staged, tmp: n.tmp}
	checkpoints := n.Complete()
	if len(n.Commits) == 0 {
		if len(checkpoints) == 0 {
			return nil, &lake.Error{Op: "read log", Kind: lake.NotTable, Err: errors.New("_delta_log holds no version"),
				Hint: "Is this the root of a Delta table? Nothing was deleted."}
		}
		return nil, logfault.Damaged(meta.LogDir, errors.New("checkpoints only, no commit at all"))
	}
	slices.SortFunc(n.Commits, func(a, b File) int { return cmp.Compare(a.Version, b.Version) })
	s.Version = n.Commits[len(n.Commits)-1].Version
	if len(checkpoints) > 0 {
		s.Version = max(s.Version, checkpoints[0].Version)
	}
	s.Commits = contiguous(n.Commits, s.Version)
	s.FromZero = s.First() == 0
	for _, c := range checkpoints {
		if c.Version+1 >= s.First() {
			s.Checkpoints = append(s.Checkpoints, c)
		}
	}
	if !s.FromZero && len(s.Checkpoints) == 0 {
		if gap := s.First() - 1; gap > n.Commits[0].Version {
			return nil, logfault.Damaged(CommitName(gap), fmt.Errorf("commit %d is missing and no complete checkpoint covers it", gap))
		}
		return nil, logfault.Damaged(CommitName(0), fmt.Errorf("the log is incomplete at 0 to %d and no complete checkpoint covers it", s.First()-1))
	}
	for _, c := range n.crcs {
		if c.Version == s.Version {
			s.Checksum = &c
		}
	}
	return s, s.commitTimes()
}

// contiguous returns the commits without a gap before version.
func contiguous(commits []File, version int64) []File {
	i := len(commits)
	for i > 0 && commits[i-1].Version == version-int64(len(commits)-i) {
		i--
	}
	return commits[i:]
}

// Complete returns the complete checkpoints, the best first.
func (n *Names) Complete() []Checkpoint {
	all := slices.DeleteFunc(n.singles, func(c Checkpoint) bool { return c.Parts[0].Size == 0 })
	for key, parts := range n.parts {
		slices.SortFunc(parts, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
		if int64(len(parts)) == key[1] && !slices.ContainsFunc(parts, func(f File) bool { return f.Size == 0 }) {
			all = append(all, Checkpoint{key[0], Multipart, parts})
		}
	}
	slices.SortFunc(all, func(a, b Checkpoint) int {
		return cmp.Or(cmp.Compare(b.Version, a.Version), cmp.Compare(b.Kind, a.Kind),
			cmp.Compare(len(b.Parts), len(a.Parts)), strings.Compare(b.Parts[0].Name, a.Parts[0].Name))
	})
	return all
}

// commitTimes sets the time of each commit from its modification time, made
// strictly rising, and refuses empty commits.
func (s *Segment) commitTimes() error {
	last := time.Time{}
	for i := range s.Commits {
		c := &s.Commits[i]
		if c.Size == 0 {
			return logfault.Damaged(c.Name, errors.New("the commit is empty"))
		}
		c.Time = c.Modified
		if !c.Time.After(last) {
			c.Time = last.Add(time.Millisecond)
		}
		last = c.Time
	}
	return nil
}

// Load builds the segment of the log from what ListDir gave of its folder just
// now; nil entries are listed first.
//
// Errors: as buildSegment; those of the store.
func (d *Dir) Load(ctx context.Context, entries []store.Info) (*Segment, error) {
	if entries == nil {
		var err error
		if entries, err = ListDir(ctx, d.Store, meta.LogDir+"/", ""); err != nil {
			return nil, err
		}
	}
	if err := StatAll(ctx, d.Store, d.Workers(), entries); err != nil {
		return nil, err
	}
	n, err := Classify(entries)
	if err != nil {
		return nil, err
	}
	return buildSegment(n)
}

// StatAll fills in sizes and times where listings give names only.
func StatAll(ctx context.Context, r store.Reader, workers int, entries []store.Info) error {
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
				return &lake.Error{Op: "stat log", Key: lake.Key(e.Name), Kind: logfault.KindOf(err), Err: err}
			}
			*e = info
			return nil
		})
	}
	return g.Wait()
}

// CheckUnfinished refuses logs whose newest commits may stand elsewhere: staged
// commits ("<version>.<uuid>.json") above the newest version, or the body of a
// commit ("<version>.json.<uuid>") that a DynamoDB log store has recorded and
// not yet copied.
//
// Source: spec/delta-vacuum.md 1.1, 1.2.
func (d *Dir) CheckUnfinished(ctx context.Context, s *Segment) error {
	for _, dir := range s.staged {
		if err := d.checkNewer(ctx, s.Version, dir, func(rest string) bool { return strings.HasSuffix(rest, ".json") }); err != nil {
			return err
		}
	}
	if !s.tmp {
		return nil
	}
	return d.checkNewer(ctx, s.Version, meta.LogDir+"/.tmp", func(rest string) bool { return strings.HasPrefix(rest, "json.") })
}

func (d *Dir) checkNewer(ctx context.Context, version int64, dir string, isCommit func(rest string) bool) error {
	entries, err := ListDir(ctx, d.Store, dir+"/", "")
	if err != nil {
		return err
	}
	for _, e := range entries {
		base := e.Name[strings.LastIndexByte(e.Name, '/')+1:]
		if v, rest, ok := CutVersion(base); ok && isCommit(rest) && v > version {
			return &lake.Error{Op: "read log", Key: lake.Key(e.Name), Kind: lake.Damaged, Code: "unfinished_commit",
				Err:  fmt.Errorf("commit %d is staged and may be committed elsewhere", v),
				Hint: "Nothing was deleted. Let the engine that wrote it finish or read the table once; remove this file only if that commit never happened."}
		}
	}
	return nil
}
