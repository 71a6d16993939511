package blobqueue

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

const (
	sidecarExt = ".blob_deletes.parquet"
	intentExt  = ".blob_drain.parquet"
	endedExt   = ".blob_drain"
)

// ExtraPath is the key in a clean's extra metadata that names its sidecar,
// relative to the table's root.
const ExtraPath = "blobDeletesPath"

// pathRow is the one column of sidecars and intents.
type pathRow struct {
	Path string `parquet:"external_path"`
}

// EncodePaths returns a sidecar or intent: the paths, which rise strictly, and
// in the footer how they are spelled.
//
// Memory: the file, some 10 to 30 bytes a path.
func EncodePaths(spelling Spelling, paths iter.Seq2[lake.BlobID, error]) (data []byte, n int64, err error) {
	var buffer bytes.Buffer
	out, last := newWriter[pathRow](&buffer), lake.BlobID("")
	text, err := json.Marshal(&spelling)
	if err != nil {
		return nil, 0, err
	}
	out.SetKeyValueMetadata(spellingKey, string(text))
	for p, err := range paths {
		if err == nil && n > 0 && p <= last {
			err = &lake.Error{Op: "write sidecar", Kind: lake.Internal, Err: fmt.Errorf("%q after %q", p, last)}
		}
		if err == nil {
			_, err = out.Write([]pathRow{{string(p)}})
		}
		if err != nil {
			return nil, 0, err
		}
		last = p
		n++
	}
	err = out.Close()
	return buffer.Bytes(), n, err
}

// SidecarPath is where the sidecar of a clean lies, relative to the table's root.
func SidecarPath(clean string) string { return Dir + "/" + clean + sidecarExt }

// WriteSidecar makes the sidecar of a clean durable. One with the same bytes
// may be there already.
func WriteSidecar(ctx context.Context, r store.Reader, w store.Writer, clean string, data []byte) error {
	return writeFile(ctx, r, w, SidecarPath(clean), data)
}

func writeFile(ctx context.Context, r store.Reader, w store.Writer, name string, data []byte) error {
	if err := create(ctx, r, w, name, data); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// paths hands the paths of a sidecar or intent, in order, to what reader returns
// for how they are spelled, until that returns false.
//
// Memory: 4 MiB and one page.
// Errors: Damaged; fs.ErrNotExist.
func paths(ctx context.Context, r store.Reader, name string, reader func(Spelling) (func(string) bool, error)) error {
	info, err := r.Stat(ctx, name)
	if err != nil {
		return err
	}
	f, err := open(name, store.NewReaderAt(ctx, r, name, info.Size), info.Size, "external_path")
	if err != nil {
		return err
	}
	spelling, err := readSpelling(name, f)
	if err != nil {
		return err
	}
	each, err := reader(spelling)
	if err != nil {
		return err
	}
	stopped := false
	for _, group := range f.RowGroups() {
		err := rows(name, group, func(p *pathRow) bool {
			stopped = !each(p.Path)
			return !stopped
		})
		if err != nil || stopped {
			return err
		}
	}
	return nil
}

// artifact is a file in Dir whose name says what it is of.
type artifact struct {
	store.Info
	kind string // sidecarExt, intentExt, endedExt
	time string // of the clean or drain
	end  string // of an ended drain
}

// artifacts lists the sidecars and intents, by time.
func artifacts(ctx context.Context, r store.Reader) ([]artifact, error) {
	files, err := list(ctx, r, Dir)
	if err != nil {
		return nil, err
	}
	var out []artifact
	for _, e := range files {
		name := strings.TrimPrefix(e.Name, Dir+"/")
		for _, ext := range []string{sidecarExt, intentExt, endedExt} {
			stem, ok := strings.CutSuffix(name, ext)
			if !ok {
				continue
			}
			at, end, ended := strings.Cut(stem, "_")
			if digits(at) && ended == (ext == endedExt) && (!ended || digits(end)) {
				out = append(out, artifact{e, ext, at, end})
			}
			break
		}
	}
	return out, nil
}

// LastTime is the latest time of a sidecar, an intent or its end, "" for none.
//
// Errors: those of the store.
func LastTime(ctx context.Context, r store.Reader) (last string, err error) {
	all, err := artifacts(ctx, r)
	for _, a := range all {
		last = max(last, a.time, a.end)
	}
	return last, err
}

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// Sweep removes sidecars whose clean isn't on the timeline, archived, rolled
// back or never published, and intents of drains that are over, unless they are
// younger than keep or a write that is pending now began before they ended.
// young reports that sidecars without a clean were left for their age alone:
// Withdraw may remove them.
//
// Errors: those of the store.
func Sweep(ctx context.Context, r store.Reader, w store.Writer, t *timeline.Timeline, now time.Time, keep time.Duration) (removed int, young bool, err error) {
	stale, err := useless(ctx, r, t)
	for _, a := range stale {
		recent, err := younger(ctx, r, a.Info, now.Add(-keep))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return removed, young, err
		}
		if recent {
			young = young || a.kind == sidecarExt
			continue
		}
		if err := remove(ctx, w, a.Name); err != nil {
			return removed, young, err
		}
		removed++
	}
	return removed, young, err
}

// Withdraw removes the sidecars that Sweep does, of whatever age. t is the
// timeline as it is now, and the caller holds the table's lock: no clean is
// about to be published whose sidecar is there already. Nothing needs them: the
// queue holds their blobs, and those who delete one publish an intent first.
//
// Errors: those of the store.
func Withdraw(ctx context.Context, r store.Reader, w store.Writer, t *timeline.Timeline) (removed int, err error) {
	stale, err := useless(ctx, r, t)
	for _, a := range stale {
		if a.kind != sidecarExt {
			continue
		}
		if err := remove(ctx, w, a.Name); err != nil {
			return removed, err
		}
		removed++
	}
	return removed, err
}

// useless lists what no clean, drain or pending write has a use for.
func useless(ctx context.Context, r store.Reader, t *timeline.Timeline) ([]artifact, error) {
	all, err := artifacts(ctx, r)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	oldest := EarliestWrite(t)
	ends := make(map[string]string)
	for _, a := range all {
		if a.kind == endedExt {
			ends[a.time] = a.end
		}
	}
	var out []artifact
	for _, a := range all {
		last := a.time
		if a.kind != sidecarExt {
			last = max(last, ends[a.time])
		} else if _, ok := t.Find(a.time, timeline.Clean); ok {
			continue
		}
		if oldest == "" || oldest > last {
			out = append(out, a)
		}
	}
	return out, nil
}

// EarliestWrite is the time of the oldest write that may still bring new
// references, "" if there is none. Compaction and clustering only copy
// references whose files are kept until they are complete.
func EarliestWrite(t *timeline.Timeline) string {
	for _, i := range t.Instants {
		switch i.Action {
		case timeline.Commit, timeline.DeltaCommit, timeline.ReplaceCommit:
			if i.State != timeline.Completed {
				return i.Time
			}
		}
	}
	return ""
}
