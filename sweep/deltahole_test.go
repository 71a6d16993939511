package sweep

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table/delta/deltatest"
)

// contentTags makes a disk answer as S3 does: the ETag of an object is the sum
// of its bytes, so that one written anew with the same bytes keeps it, and
// deletes depend on it.
type contentTags struct{ store.Store }

func (s *contentTags) Unwrap() store.Store { return s.Store }

func (s *contentTags) Traits() store.Traits {
	t := s.Store.Traits()
	t.IfMatch = true
	return t
}

func (s *contentTags) Stat(ctx context.Context, name string) (store.Info, error) {
	info, err := s.Store.Stat(ctx, name)
	if err == nil && info.Kind == store.File {
		info.ETag, err = s.sum(ctx, name)
	}
	return info, err
}

func (s *contentTags) sum(ctx context.Context, name string) (string, error) {
	rc, err := s.Store.Open(ctx, name, 0, -1)
	if err != nil {
		return "", err
	}
	defer rc.Close()
	data, err := io.ReadAll(rc)
	sum := md5.Sum(data)
	return hex.EncodeToString(sum[:]), err
}

func (s *contentTags) Delete(ctx context.Context, targets []store.Target) ([]store.Outcome, error) {
	outcomes := make([]store.Outcome, len(targets))
	for i, t := range targets {
		outcomes[i].Target = t
		if t.IfMatch != "" {
			if now, err := s.sum(ctx, t.Name); err != nil || now != t.IfMatch {
				outcomes[i].Err = store.ErrChanged
				continue
			}
		}
		done, err := s.Store.Delete(ctx, []store.Target{{Name: t.Name}})
		if err != nil {
			return nil, err
		}
		outcomes[i].Err = done[0].Err
	}
	return outcomes, nil
}

func tagged(s store.Store) store.Store { return &contentTags{s} }

// A name that the log let go long ago may have been written again since, by
// somebody who is about to commit it. LITE's plan goes by the log's times, as
// Spark's does; its apply spares what is young.
func TestLiteSparesWhatWasWrittenAgain(t *testing.T) {
	for name, wrap := range map[string]func(store.Store) store.Store{"plain": nil, "conditional": tagged} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.wrap = wrap
			w.live("stays", old)
			w.live("again", old)
			w.live("gone", old)
			w.removed("again", 20*24*hour)
			w.removed("gone", 20*24*hour)
			w.file("again", hour)
			w.wants(w.request(week, "lite"), "again", "gone")
			w.vacuum(w.request(week, "lite"))
			w.has("stays", "again", "!gone")
		})
	}
}

// A table inside the table that adopted some of its files needs them, whatever
// the log says.
func TestLiteLeavesTablesInsideAlone(t *testing.T) {
	w := newWorld(t)
	w.live("stays", old)
	w.live("inner/adopted", old)
	w.live("plain/gone", old)
	w.removed("inner/adopted", 20*24*hour)
	w.removed("plain/gone", 20*24*hour)
	inner := deltatest.New(t, deltatest.Dir(filepath.Join(w.dir, "inner")))
	inner.Commit(w.ago(old), deltatest.NewAdd("adopted", 9))
	w.wants(w.request(week, "full"), "plain/gone")
	w.wants(w.request(week, "lite"), "plain/gone")
	w.vacuum(w.request(week, "lite"))
	w.has("stays", "inner/adopted", "!plain/gone")
}

// An inventory of data files only shows no mark of the tables inside.
func TestAnInventoryWithoutLogsSparesTablesInside(t *testing.T) {
	w := newWorld(t)
	w.live("live", old)
	w.file("orphan", old)
	w.file("inner/theirs", old)
	w.file("deep/iceberg/data/theirs", old)
	inner := deltatest.New(t, deltatest.Dir(filepath.Join(w.dir, "inner")))
	inner.Commit(w.ago(old), deltatest.NewAdd("theirs", 9))
	w.file("deep/iceberg/metadata/v1.metadata.json", old)
	text := "path,size,modified\n"
	for _, n := range []string{"live", "orphan", "inner/theirs", "deep/iceberg/data/theirs"} {
		text += fmt.Sprintf("\"%s/%s\",9,%s\n", w.dir, n, w.ago(old).Format(time.RFC3339))
	}
	req := w.request(week, "full")
	req.Inventory = InventoryRequest{Source: inventoryFile(t, text), Taken: w.now}
	w.wants(req, "orphan")
	w.vacuum(req)
	w.has("live", "inner/theirs", "deep/iceberg/data/theirs", "!orphan")
}

// What --protect names in a list is kept by whatever name it stands there. A
// folder is no file's name: passing it over would lose what lies in it.
func TestProtectListsByOtherNames(t *testing.T) {
	w := newWorld(t)
	w.live("live", old)
	for _, n := range []string{"a", "dir/b", "d"} {
		w.file(n, old)
	}
	up := filepath.Join(t.TempDir(), "up")
	if err := os.Symlink(filepath.Dir(w.dir), up); err != nil {
		t.Skip(err)
	}
	list := filepath.Join(t.TempDir(), "list")
	put(t, list, []byte(up+"/t/a\r\nfile://"+w.dir+"/d\n"))
	req := w.request(week, "full")
	req.Protect = []string{list}
	w.wants(req, "dir/b")
	put(t, list, []byte(up+"/t/a\ndir/\n"))
	w.fails(req, lake.Invalid, "folder")
}

// Folders that a renamed partition column left behind are hidden: FULL leaves
// them alone, and so does LITE.
func TestLiteLeavesHiddenNamesAlone(t *testing.T) {
	w := newWorld(t)
	w.live("live", old)
	w.live("_p=1/f", old)
	w.live("gone", old)
	w.removed("_p=1/f", 20*24*hour)
	w.removed("gone", 20*24*hour)
	w.wants(w.request(week, "full"), "gone")
	w.wants(w.request(week, "lite"), "gone")
	w.vacuum(w.request(week, "lite"))
	w.has("live", "_p=1/f", "!gone")
}

// Whatever Iceberg calls its metadata, the folder around it is a table.
func TestIcebergTablesInside(t *testing.T) {
	w := newWorld(t)
	w.live("live", old)
	w.file("orphan", old)
	for i, name := range []string{"v1.metadata.json", "00000-a.gz.metadata.json", "v1.metadata.json.gz"} {
		w.file(fmt.Sprintf("%d/metadata/%s", i, name), old)
		w.file(fmt.Sprintf("%d/data/f", i), old)
	}
	w.wants(w.request(week, "full"), "orphan")
}

// A file may be known by a symlink inside the table, its own or its folder's.
// A listing shows it by its real name.
func TestFilesBehindSymlinksInside(t *testing.T) {
	w := newWorld(t)
	w.live("live", old)
	for _, n := range []string{"real/removed", "real/sub/removed", "real/orphan", "plain", "copy", "self"} {
		w.file(n, old)
	}
	for link, target := range map[string]string{"link": "real", "one": "plain", "twin": filepath.Join(w.dir, "copy"), "me": ".", "dangling": "nothing"} {
		if err := os.Symlink(target, filepath.Join(w.dir, link)); err != nil {
			t.Skip(err)
		}
	}
	names := []string{"link/removed", "link/sub/removed", "one", "me/self"}
	var adds []deltatest.Action
	for _, n := range names {
		adds = append(adds, deltatest.NewAdd(n, 9))
	}
	w.commit(old, append(adds, deltatest.NewAdd("twin", 9))...)
	for _, n := range names {
		w.removed(n, hour)
	}
	p := w.wants(w.request(week, "full"), "real/orphan")
	if _, err := w.apply(p, ApplyRequest{}); err != nil {
		t.Fatal(err)
	}
	w.has("live", "real/removed", "real/sub/removed", "plain", "copy", "self", "!real/orphan")
}
