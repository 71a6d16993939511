package blobqueue

import (
	"context"
	"errors"
	"io/fs"

	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// Conflict is a blob that a write refers to and a clean or drain deletes.
type Conflict struct {
	Path    string `json:"path"`    // as the sidecar or intent spells it
	Instant string `json:"instant"` // of the clean or drain
	What    string `json:"what"`    // "clean" or "drain"
	State   string `json:"state"`   // "requested", "inflight", "completed"
	File    string `json:"file"`    // relative to the table's root
}

// Answer is the answer to a writer's question.
type Answer struct {
	Conflicts []Conflict
	More      bool // there are others: the first hundred are named
	Files     int  // sidecars and intents that were read
}

const conflictsKept = 100

// Check tells which of the blobs that a write refers to are being deleted: by
// a clean that is requested or inflight, by a drain that is under way, or by
// one of either that ended since the write began. A write must not commit with
// any conflict; to be sure it asks while it holds the table's lock.
//
// write is the instant of the write, "" if it isn't known: then all that is
// still there counts. refers returns what is asked about each path of a file, for how
// its paths are spelled.
//
// Errors: those of the store, Damaged: the write must not commit either.
// Source: RFC-100 part 2, "Writer-side conflict check".
func Check(ctx context.Context, r store.Reader, t *timeline.Timeline, write string, refers func(Spelling) (func(path string) bool, error)) (Answer, error) {
	var answer Answer
	all, err := artifacts(ctx, r)
	if err != nil {
		return answer, err
	}
	ends := make(map[string]string)
	for _, a := range all {
		if a.kind == endedExt {
			ends[a.time] = a.end
		}
	}
	for _, a := range all {
		c := Conflict{Instant: a.time, File: a.Name, What: "drain", State: "inflight"}
		end, ended := ends[a.time]
		switch a.kind {
		case endedExt:
			continue
		case sidecarExt:
			c.What = "clean"
			if c.State, end, err = cleanState(ctx, r, t, a.time, write); err != nil {
				return answer, err
			}
			ended = c.State == "completed"
		}
		if ended {
			c.State = "completed"
			if write != "" && end < write {
				continue
			}
		}
		answer.Files++
		err := paths(ctx, r, a.Name, func(s Spelling) (func(string) bool, error) {
			has, err := refers(s)
			return func(p string) bool {
				if has(p) {
					c.Path = p
					if answer.More = len(answer.Conflicts) == conflictsKept; !answer.More {
						answer.Conflicts = append(answer.Conflicts, c)
					}
				}
				return !answer.More
			}, err
		})
		if errors.Is(err, fs.ErrNotExist) {
			continue // swept meanwhile: its time was over
		}
		if err != nil {
			return answer, err
		}
		if answer.More {
			break
		}
	}
	return answer, nil
}

// cleanState returns how far a clean is, and when it ended. One that isn't on
// the timeline was rolled back, archived, or is about to be published: it
// counts as ended when it was planned.
func cleanState(ctx context.Context, r store.Reader, t *timeline.Timeline, at, write string) (state, end string, err error) {
	i, ok := t.Find(at, timeline.Clean)
	switch {
	case !ok:
		return "completed", at, nil
	case i.State == timeline.Requested:
		return "requested", "", nil
	case i.State == timeline.Inflight:
		return "inflight", "", nil
	case i.Completion != "":
		return "completed", i.Completion, nil
	}
	// Layout 1 doesn't say when a clean ended. The store's times of its last file and of the write's first one do.
	w, ok := findWrite(t, write)
	if !ok || w.Files[timeline.Requested] == "" {
		return "completed", max(at, write), nil
	}
	ended, err := r.Stat(ctx, t.Dir+"/"+i.Files[timeline.Completed])
	if err != nil {
		return "", "", err
	}
	began, err := r.Stat(ctx, t.Dir+"/"+w.Files[timeline.Requested])
	if err != nil {
		return "", "", err
	}
	if ended.Modified.Before(began.Modified) {
		return "completed", at, nil
	}
	return "completed", max(at, write), nil
}

func findWrite(t *timeline.Timeline, at string) (timeline.Instant, bool) {
	for _, i := range t.Instants {
		if i.Time == at && timeline.IsWrite(i.Action) {
			return i, true
		}
	}
	return timeline.Instant{}, false
}
