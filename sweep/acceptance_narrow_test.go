package sweep

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table/delta/deltatest"
)

// narrowed is what predicates and inventories may not get wrong.
func narrowed() []scenario {
	return []scenario{
		{"B007", "an empty value and NULL share a directory", func(t *testing.T, w *world) {
			w.Partition("d")
			const dir = "d=__HIVE_DEFAULT_PARTITION__/"
			for _, f := range []string{"empty", "null", "orphan"} {
				w.file(dir+f, old)
			}
			w.live("d=1/f", old)
			w.file("d=1/orphan", old)
			w.commit(old, deltatest.NewAdd(dir+"empty", 9).WithValues(map[string]*string{"d": deltatest.Value("")}))
			w.commit(old, deltatest.NewAdd(dir+"null", 9).WithValues(map[string]*string{"d": nil}))
			req := w.request(week, "full")
			for where, want := range map[string][]string{"d IS NULL": {dir + "orphan"}, "d = ''": nil, "d = '1'": {"d=1/orphan"}} {
				req.Where = where
				w.wants(req, want...)
			}
			req.Where = "d IS NULL"
			w.vacuum(req)
			w.has(dir+"empty", dir+"null", "!"+dir+"orphan", "d=1/orphan")
		}},
		{"B050", "placeholders of directories are no files, empty files are", func(t *testing.T, w *world) {
			w.Partition("p")
			w.live("p=1/live", old)
			w.Data("p=1/x.parquet", 0, w.ago(old))
			w.folder("p=2", old)
			req := w.request(week, "full")
			var rows []string
			for _, r := range []string{"\"%s/p=1/\",0,false", "\"%s/p=2\",0,true", "\"%s/p=1/live\",9,false", "\"%s/p=1/x.parquet\",0,false"} {
				rows = append(rows, fmt.Sprintf(r, w.dir)+","+w.ago(old).Format(time.RFC3339))
			}
			req.Inventory.Source = inventoryFile(t, "path,length,hdi_isfolder,modified\n"+strings.Join(rows, "\n")+"\n")
			w.vacuum(req)
			w.has("p=1/live", "!p=1/x.parquet", "p=2")
		}},
		{"B056", "a weekly inventory serves daily runs", weekly},
		{"B058", "a report of a versioned bucket", func(t *testing.T, w *world) {
			w.Partition("p")
			for _, f := range []string{"live", "f 1", "old version", "back from the dead", "soft+plus"} {
				w.file("p=1/"+f, old)
			}
			w.commit(old, deltatest.NewAdd("p=1/live", 9))
			at := w.ago(old).Format("2006-01-02T15:04:05.000Z")
			req := w.request(week, "full")
			req.Inventory.Source = s3Report(t, w.ago(old-hour),
				"lake,t/p%3D1/live,v,true,false,9,"+at,
				"lake,t/p%3D1/f+1,v,true,false,9,"+at,
				"lake,t/p%3D1/old+version,v,false,false,9,"+at,
				"lake,t/p%3D1/back+from+the+dead,v,true,true,0,"+at,
				"lake,t/p%3D1/back+from+the+dead,v,false,false,9,"+at,
				"lake,t/p%3D1/soft%2Bplus,v,true,false,9,"+at)
			req.Inventory.Maps = []Map{{From: "s3://lake/t", To: w.dir}}
			w.wants(req, "p=1/f 1", "p=1/soft+plus")
			req.Inventory.Columns = map[string]string{"encoding": "percent"} // 'f+1' isn't there
			w.vacuum(req)
			w.has("p=1/live", "p=1/f 1", "p=1/old version", "p=1/back from the dead", "!p=1/soft+plus")
		}},
		{"B060", "one list in many forms", func(t *testing.T, w *world) {
			w.live("live", old)
			w.file("a b", old)
			w.file("é,%41", old)
			w.file("young", hour)
			names := []string{"live", "a b", "é,%41", "young"}
			at := func(name string) string {
				if name == "young" {
					return w.ago(hour).Format(time.RFC3339)
				}
				return w.ago(old).Format(time.RFC3339)
			}
			text := "path,length,isDir,modificationTime\n"
			var paths, records []string
			for _, n := range names {
				text += fmt.Sprintf("\"file://%s/%s\",9,false,%s\n", w.dir, n, at(n))
				paths = append(paths, filepath.Join(w.dir, n))
				key := strings.NewReplacer("é", "%C3%A9", ",", "%2C", "%", "%25", " ", "+").Replace(n)
				records = append(records, fmt.Sprintf("lake,t/%s,,true,false,9,%s", key, at(n)))
			}
			csv := inventoryFile(t, text)
			dir := t.TempDir()
			packed, parquet, plain := filepath.Join(dir, "l.csv.gz"), filepath.Join(dir, "l.parquet"), filepath.Join(dir, "l")
			put(t, packed, gzipped(text))
			put(t, plain, []byte(strings.Join(paths, "\n")+"\n"))
			if _, err := w.e.ConvertInventory(t.Context(), InventoryRequest{Source: csv}, parquet); err != nil {
				t.Fatal(err)
			}
			for _, source := range []string{csv, packed, parquet, plain, s3Report(t, w.now, records...)} {
				req := w.request(week, "full")
				req.Inventory = InventoryRequest{Source: source, Taken: w.now, Maps: []Map{{From: "s3://lake/t", To: w.dir}}}
				if p := w.wants(req, "a b", "é,%41"); p.Head().Totals.TooYoung != 1 || p.Head().Totals.Protected != 1 {
					t.Errorf("%s: %+v", source, p.Head().Totals)
				}
			}
		}},
		{"B062", "a directory says less than the log", func(t *testing.T, w *world) {
			w.Partition("date")
			for _, f := range []string{"date=2023-09-26/live", "date=2023-09-26/orphan", "date=2023-09-25/orphan"} {
				w.file(f, old)
			}
			w.commit(old, deltatest.NewAdd("date=2023-09-26/live", 9).WithValues(map[string]*string{"date": deltatest.Value("2023-09-25")}))
			req := w.request(week, "full")
			for date, want := range map[string]string{"2023-09-26": "date=2023-09-26/orphan", "2023-09-25": "date=2023-09-25/orphan"} {
				req.Where = fmt.Sprintf("date = '%s'", date)
				w.wants(req, want)
			}
			w.removed("date=2023-09-26/live", 20*24*hour) // now it is dead, and still of the 25th
			req.Where = "date = '2023-09-26'"
			w.wants(req, "date=2023-09-26/orphan")
			req.Where = "date = '2023-09-25'"
			w.vacuum(req)
			w.has("!date=2023-09-26/live", "date=2023-09-26/orphan", "!date=2023-09-25/orphan")
		}},
		{"B066", "of a thousand partitions one is listed", func(t *testing.T, w *world) {
			w.Partition("d")
			var adds []deltatest.Action
			for n := range 1000 {
				name := fmt.Sprintf("d=%d/f", n)
				w.file(name, old)
				adds = append(adds, deltatest.NewAdd(name, 9))
			}
			w.file("odd/g", old) // of the same partition, whatever its folder's name
			w.commit(old, append(adds, deltatest.NewAdd("odd/g", 9).WithValues(map[string]*string{"d": deltatest.Value("7")}))...)
			w.file("d=7/orphan", old)
			w.file("d=70/orphan", old)
			listed := &listings{seen: map[string]bool{}}
			w.wrap = listed.wrap
			req := w.request(week, "full")
			req.Where = "d = '7'"
			w.wants(req, "d=7/orphan")
			if got := listed.dirs(); !slices.Equal(got, []string{"", "d=7/", "odd/"}) {
				t.Errorf("listed %q", got)
			}
		}},
	}
}

// weekly is five orphans of which three go by other hands, run after run over
// one inventory.
func weekly(t *testing.T, w *world) {
	w.live("live", old)
	var rows strings.Builder
	rows.WriteString("path,size,modified\n")
	for _, n := range []string{"live", "o1", "o2", "o3", "o4", "o5"} {
		if n != "live" {
			w.file(n, old)
		}
		fmt.Fprintf(&rows, "\"%s/%s\",9,%s\n", w.dir, n, w.ago(old).Format(time.RFC3339))
	}
	req := w.request(week, "full")
	req.Inventory.Source, req.Inventory.Taken = inventoryFile(t, rows.String()), w.now
	p := w.wants(req, "o1", "o2", "o3", "o4", "o5")
	w.file("new", 0)
	for _, n := range []string{"o1", "o2", "o3"} {
		if err := os.Remove(filepath.Join(w.dir, n)); err != nil {
			t.Fatal(err)
		}
	}
	r, err := w.apply(p, ApplyRequest{})
	if err != nil || r.Deleted != 2 || r.Gone != 3 {
		t.Errorf("%+v, %v", r, err)
	}
	w.has("live", "new", "!o1", "!o4")

	w.now = w.now.Add(24 * hour)
	w.file("o4", 0) // the name comes again
	listed := &listings{seen: map[string]bool{}}
	w.wrap = listed.wrap
	r = w.vacuum(req)
	if r.Deleted+r.Gone+r.Spared != 0 {
		t.Errorf("the journal wasn't heeded: %+v", r)
	}
	if got := listed.stats(); slices.ContainsFunc(got, func(n string) bool { return strings.HasPrefix(n, "o") }) {
		t.Errorf("requests for what is gone: %q", got)
	}
	w.has("live", "new", "o4")

	w.e.StateDir = t.TempDir() // nobody remembers: a fresh look spares it
	p = w.plan(req)
	w.now = w.now.Add(hour) // an old plan is looked at again
	r, err = w.apply(p, ApplyRequest{})
	if err != nil || r.Deleted != 0 || r.Gone != 4 || r.Spared != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	w.has("live", "new", "o4")
}

// An inventory that can't be of the table, or is too old, is refused by name.
func TestInventoryGuards(t *testing.T) {
	for name, c := range map[string]struct {
		rows  []string // names below the table, or whole
		taken time.Duration
		max   time.Duration
		code  string // "" for a plan that may be applied
	}{
		"whole":                                {rows: []string{"live", "orphan"}},
		"of another place":                     {rows: []string{"s3://elsewhere/live"}, code: "inventory_unmatched"},
		"without a live file that is there":    {rows: []string{"orphan", "live2"}, code: "live_unread"},
		"too old":                              {rows: []string{"live", "orphan"}, taken: 3 * 24 * hour, max: 24 * hour, code: "inventory_age"},
		"old, and any age will do":             {rows: []string{"live", "orphan"}, taken: 3 * 24 * hour},
		"without files that are younger":       {rows: []string{"live", "orphan"}, taken: 3 * 24 * hour},
		"that claims to be younger than it is": {rows: []string{"orphan"}, code: "live_none_seen"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.live("live", old)
			if strings.HasPrefix(name, "without a live") {
				w.live("live2", old)
			}
			w.file("orphan", old)
			if c.taken > 0 {
				w.live("young", c.taken-hour)
			}
			text := "path,size,modified\n"
			for _, r := range c.rows {
				if !strings.Contains(r, ":") {
					r = w.dir + "/" + r
				}
				text += "\"" + r + "\",9," + w.ago(old).Format(time.RFC3339) + "\n"
			}
			req := w.request(0, "full")
			req.Inventory = InventoryRequest{Source: inventoryFile(t, text), Taken: w.ago(c.taken), MaxAge: c.max}
			if c.code == "" {
				w.wants(req, "orphan")
				return
			}
			w.fails(req, lake.Refused)
			h := w.plan(req).Head()
			i := slices.IndexFunc(h.Guards, func(g filelist.Guard) bool { return g.Outcome == filelist.Refused && g.Code == c.code })
			if i < 0 || h.Guards[i].Fix == "" {
				t.Errorf("%s isn't refused: %+v", c.code, h.Guards)
			}
			w.has("live", "orphan")
		})
	}
}

// listings notes what a store is asked to list and to look at.
type listings struct {
	mu   sync.Mutex
	seen map[string]bool // prefixes, and names after a '?'
}

func (l *listings) wrap(s store.Store) store.Store { return &listed{s, l} }

func (l *listings) names(of func(string) (string, bool)) (out []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for name := range l.seen {
		if n, ok := of(name); ok {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out
}

// dirs returns the directories that were listed, without those that tell formats apart.
func (l *listings) dirs() []string {
	return l.names(func(n string) (string, bool) {
		return n, !strings.HasPrefix(n, "?") && !strings.HasPrefix(n, "_delta_log") && n != ".hoodie/" && n != "metadata/"
	})
}

func (l *listings) stats() []string {
	return l.names(func(n string) (string, bool) { return strings.CutPrefix(n, "?") })
}

func (l *listings) note(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen[name] = true
}

type listed struct {
	store.Store
	l *listings
}

func (s *listed) Unwrap() store.Store { return s.Store }

func (s *listed) List(ctx context.Context, req store.PageRequest) (store.Page, error) {
	s.l.note(req.Prefix)
	return s.Store.List(ctx, req)
}

func (s *listed) Stat(ctx context.Context, name string) (store.Info, error) {
	s.l.note("?" + name)
	return s.Store.Stat(ctx, name)
}

func put(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func gzipped(text string) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	z.Write([]byte(text)) //nolint:errcheck // into memory
	z.Close()             //nolint:errcheck // into memory
	return out.Bytes()
}

// s3Report writes an S3 Inventory report as CSV and returns its manifest.
func s3Report(t *testing.T, taken time.Time, records ...string) string {
	t.Helper()
	dir := t.TempDir()
	data := gzipped(strings.Join(records, "\n") + "\n")
	sum := md5.Sum(data)
	put(t, filepath.Join(dir, "data.csv.gz"), data)
	manifest := filepath.Join(dir, "manifest.json")
	put(t, manifest, fmt.Appendf(nil, `{"sourceBucket":"lake","destinationBucket":"arn:aws:s3:::inv","version":"2016-11-30","creationTimestamp":"%d","fileFormat":"CSV",`+
		`"fileSchema":"Bucket, Key, VersionId, IsLatest, IsDeleteMarker, Size, LastModifiedDate","files":[{"key":"data.csv.gz","size":%d,"MD5checksum":"%s"}]}`,
		taken.UnixMilli(), len(data), hex.EncodeToString(sum[:])))
	return manifest
}
