package delta_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table/delta"
	"github.com/lakesweep/lakesweep/table/delta/deltatest"
)

// raw is a line as it stands.
func raw(line string) deltatest.Action { return deltatest.Action{Raw: line} }

// eleven commits files f0 … f10, one a version and day.
func eleven(t testing.TB) *fixture {
	f := newFixture(t)
	for v := range 11 {
		f.Commit(day(float64(v)), deltatest.NewAdd(fmt.Sprintf("f%d", v), 1))
	}
	return f
}

// allLive checks that f0 … f10 are all live.
func allLive(t testing.TB, f *fixture) *delta.Protection {
	t.Helper()
	p := f.protect(t, delta.ProtectRequest{Cutoff: f.now})
	if all, _ := p.Set.Expected(); p.LiveFiles != 11 || all != 11 {
		t.Errorf("%d live files, %d expected; want 11", p.LiveFiles, all)
	}
	return p
}

func (f *fixture) remove(t testing.TB, names ...string) {
	t.Helper()
	for _, n := range names {
		if err := f.s.Remove(t.Context(), n, ""); err != nil {
			t.Fatal(err)
		}
	}
}

func (f *fixture) read(t testing.TB, name string) []byte {
	t.Helper()
	rc, err := f.s.Open(t.Context(), name, 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer rc.Close()
	var b strings.Builder
	buf := make([]byte, 4096)
	for {
		n, err := rc.Read(buf)
		b.Write(buf[:n])
		if err != nil {
			return []byte(b.String())
		}
	}
}

func commitsTo(v int64) (names []string) {
	for i := range v + 1 {
		names = append(names, deltatest.Name(i))
	}
	return names
}

func TestCheckpointsOfEveryKindGiveTheState(t *testing.T) {
	for kind, name := range []string{"classic", "multipart", "v2 parquet", "v2 json"} {
		for _, rows := range []int{1, 3, 1000} {
			t.Run(fmt.Sprint(name, " ", rows), func(t *testing.T) {
				f := eleven(t)
				f.Checkpoint(9, day(9.5), deltatest.Checkpoint{Kind: deltatest.Kind(kind), RowGroup: rows, Parts: 3})
				f.remove(t, commitsTo(8)...)
				allLive(t, f)
			})
		}
	}
}

// B018: the hint is no authority, in whatever state.
func TestB018HintInAnyState(t *testing.T) {
	for _, hint := range []string{"", "garbage", `{"version":20,"size":1}`, `{"version":-1}`, "\xff\x00", `{"version":3,"v2Checkpoint":{"path":"../x"}}`, "[]"} {
		f := eleven(t)
		f.Checkpoint(5, day(5.5), deltatest.Checkpoint{})
		f.remove(t, commitsTo(4)...)
		f.Put("_delta_log/_last_checkpoint", []byte(hint), day(6))
		allLive(t, f)
	}
	f := eleven(t)
	f.remove(t, commitsTo(4)...)
	f.refused(t, lake.Damaged, f.now)
}

// B019: a corrupt newest checkpoint gives way to an older one or the commits, with a warning.
func TestB019CorruptCheckpoint(t *testing.T) {
	for kind, name := range []string{"classic", "multipart", "v2 parquet", "v2 json"} {
		for _, damage := range []struct {
			name string
			do   func([]byte) []byte
		}{
			{"cut to 4 bytes", func(b []byte) []byte { return b[:4] }},
			{"half", func(b []byte) []byte { return b[:len(b)/2] }},
			{"footer only", func(b []byte) []byte { return append([]byte("PAR1"), b[len(b)/2:]...) }},
			{"no bytes", func([]byte) []byte { return nil }},
			{"a footer that claims 2^28 columns", func([]byte) []byte {
				return []byte("PAR1\x15\x04\x19\xfc\xff\xff\xff\x7f\x00\x09\x00\x00\x00PAR1")
			}},
		} {
			t.Run(name+" "+damage.name, func(t *testing.T) {
				f := eleven(t)
				f.Checkpoint(4, day(4.5), deltatest.Checkpoint{})
				for _, n := range f.Checkpoint(8, day(8.5), deltatest.Checkpoint{Kind: deltatest.Kind(kind)}) {
					f.Put(n, damage.do(f.read(t, n)), day(8.5))
				}
				f.remove(t, commitsTo(3)...)
				tab := f.mustOpen(t)
				p, err := tab.Protect(t.Context(), delta.ProtectRequest{Cutoff: f.now})
				if err != nil || p.LiveFiles != 11 {
					t.Fatalf("%d live files, %v", p.LiveFiles, err)
				}
				if damage.name != "no bytes" && len(tab.Warnings()) == 0 {
					t.Error("no warning")
				}
				f.remove(t, "_delta_log/00000000000000000004.checkpoint.parquet")
				f.refused(t, lake.Damaged, f.now)
			})
		}
	}
}

// O3, B022: a missing part or sidecar is no smaller state.
func TestO3MissingPartOrSidecar(t *testing.T) {
	for _, kind := range []deltatest.Kind{deltatest.Multipart, deltatest.V2Parquet, deltatest.V2JSON} {
		f := eleven(t)
		names := f.Checkpoint(8, day(8.5), deltatest.Checkpoint{Kind: kind, Parts: 3})
		f.remove(t, names[1])
		allLive(t, f) // from the commits
		f.remove(t, commitsTo(7)...)
		f.refused(t, lake.Damaged, f.now)
	}
}

// O3: what is damaged in a commit ends the run.
func TestO3DamagedCommits(t *testing.T) {
	for name, body := range map[string]string{
		"zero bytes": "", "newline only": "\n", "cut line": `{"add":{"path":"x","size":`, "cut string": `{"add":{"path":"x`,
		"two values": `{"add":{"path":"x","size":1}} {}`, "not an object": `[]`, "add without path": `{"add":{"size":1}}`,
		"empty path": `{"add":{"path":"","size":1}}`, "path twice": `{"add":{"path":"x","path":"y","size":1}}`,
		"two actions": `{"add":{"path":"x"},"remove":{"path":"y"}}`, "number as path": `{"add":{"path":7}}`,
		"size as string": `{"add":{"path":"x","size":"1"}}`, "fraction": `{"remove":{"path":"x","deletionTimestamp":1.5}}`,
		"sidecar": `{"sidecar":{"path":"x"}}`, "binary": "\x00\x01", "bad escape": `{"add":{"path":"\x"}}`,
		"lone surrogate": `{"add":{"path":"\ud800"}}`, "bad percent": `{"add":{"path":"100%"}}`, "raw space": `{"add":{"path":"a b"}}`,
		"opaque": `{"add":{"path":"ab:c"}}`, "vector without path": `{"add":{"path":"x","deletionVector":{"storageType":"u"}}}`,
		"invalid UTF-8": "{\"add\":{\"path\":\"a\xff\"}}", "trailing comma": `{"add":{"path":"x",}}`,
	} {
		t.Run(name, func(t *testing.T) {
			f := eleven(t)
			f.Put(deltatest.Name(11), []byte(body), day(11))
			f.refused(t, lake.Damaged, f.now)
		})
	}
}

func TestUnknownActionsAndMembersAreIgnored(t *testing.T) {
	f := eleven(t)
	f.Commit(day(11), raw(`{"txn":{"appId":"a","version":1}}`), raw(`{"domainMetadata":{"domain":"d","configuration":"{}","removed":false}}`),
		raw(`{"commitInfo":{"operation":"WRITE","timestamp":1,"timestamp":"twice"}}`), raw(`{"future":{"path":"x"}}`), raw(`{"Add":{"path":"y"}}`), raw(`{"add":null,"remove":null}`), raw("   "),
		raw(`{"add":{"path":"f11","size":1,"Path":"z","tags":{"a":[1,2.5e-3,true,null,{"b":"\u00e9\n"}]},"stats":"{\"numRecords\":1}"}}`))
	p := f.protect(t, delta.ProtectRequest{Cutoff: f.now})
	kept(t, p, keys("f11"), "x", "y", "z")
	if p.LiveFiles != 12 {
		t.Errorf("%d live files", p.LiveFiles)
	}
}

func TestLogWithoutItsBeginningOrMiddle(t *testing.T) {
	t.Run("B025 empty", func(t *testing.T) {
		f := newFixture(t)
		f.Put("_delta_log/README", []byte("x"), day0)
		f.Put("part-0.parquet", []byte("x"), day0)
		f.refused(t, lake.NotTable, f.now)
	})
	t.Run("nothing", func(t *testing.T) {
		f := newFixture(t)
		f.refused(t, lake.NotTable, f.now)
	})
	t.Run("B026 beginning gone", func(t *testing.T) {
		f := eleven(t)
		f.remove(t, commitsTo(8)...)
		if err := f.refused(t, lake.Damaged, f.now); err != nil && !strings.Contains(err.Error(), "0 to 8") {
			t.Error(err)
		}
	})
	t.Run("B026 checkpoint covers", func(t *testing.T) {
		f := eleven(t)
		f.Checkpoint(9, day(9.5), deltatest.Checkpoint{})
		f.remove(t, commitsTo(8)...)
		allLive(t, f)
	})
	t.Run("O3 gap", func(t *testing.T) {
		f := eleven(t)
		f.remove(t, deltatest.Name(7))
		f.refused(t, lake.Damaged, f.now)
	})
	t.Run("gap above the checkpoint", func(t *testing.T) {
		f := eleven(t)
		f.Checkpoint(5, day(5.5), deltatest.Checkpoint{})
		f.remove(t, deltatest.Name(7))
		f.refused(t, lake.Damaged, f.now)
	})
	t.Run("gap below the checkpoint", func(t *testing.T) {
		f := eleven(t)
		f.Checkpoint(7, day(7.5), deltatest.Checkpoint{})
		f.remove(t, deltatest.Name(3))
		allLive(t, f)
	})
	t.Run("checkpoints only", func(t *testing.T) {
		f := eleven(t)
		f.Checkpoint(10, day(10.5), deltatest.Checkpoint{})
		f.remove(t, commitsTo(10)...)
		f.refused(t, lake.Damaged, f.now)
	})
}

// B023 and the DynamoDB log store: commits that stand elsewhere.
func TestB023StagedCommits(t *testing.T) {
	for name, refused := range map[string]bool{
		"_delta_log/_staged_commits/00000000000000000011.5d1f0000-0000-4000-8000-000000000000.json": true,
		"_delta_log/_commits/00000000000000000011.5d1f0000-0000-4000-8000-000000000000.json":        true,
		"_delta_log/_staged_commits/00000000000000000010.5d1f0000-0000-4000-8000-000000000000.json": false,
		"_delta_log/.tmp/00000000000000000011.json.5d1f0000-0000-4000-8000-000000000000":            true,
		"_delta_log/.tmp/00000000000000000010.json.5d1f0000-0000-4000-8000-000000000000":            false,
	} {
		f := eleven(t)
		f.Put(name, []byte("{}"), day(11))
		if !refused {
			allLive(t, f)
		} else if err := f.refused(t, lake.Damaged, f.now); err != nil && !strings.Contains(err.Error(), "commit 11") {
			t.Error(err)
		}
	}
}

// B054: names that mean nothing are ignored.
func TestB054JunkInTheLog(t *testing.T) {
	f := eleven(t)
	for _, n := range []string{"README.txt", "00000000000000000012.json.tmp", ".DS_Store", "00000000000000000012 (1).json", ".00000000000000000012.json.crc",
		"00000000000000000012.json.d41d8cd9", "00000000000000000003.00000000000000000005.compacted.json", "00000000000000000020.checkpoint..json",
		"00000000000000000020.checkpoint.0000000001.0000000002.parquet", "00000000000000000020.crc", "_sidecars/orphan.parquet", "99.json", "12.json"} {
		f.Put("_delta_log/"+n, []byte("junk"), day(11))
	}
	f.Put("_delta_log/00000000000000000020.checkpoint.parquet", nil, day(11)) // a zero-length checkpoint is dropped
	allLive(t, f)
}

func TestChecksumFile(t *testing.T) {
	f := eleven(t)
	f.Checksum(10, day(10.5))
	allLive(t, f)
	if i := f.mustOpen(t).Info(); i.ActiveFiles != 11 || i.ActiveBytes != 11 {
		t.Errorf("%d files, %d bytes", i.ActiveFiles, i.ActiveBytes)
	}
	good := string(f.read(t, "_delta_log/00000000000000000010.crc"))
	for name, bad := range map[string]string{
		"files":    strings.Replace(good, `"numFiles":11`, `"numFiles":12`, 1),
		"bytes":    strings.Replace(good, `"tableSizeBytes":11`, `"tableSizeBytes":7`, 1),
		"protocol": strings.Replace(good, `"minWriterVersion":2`, `"minWriterVersion":4`, 1),
		"metadata": strings.Replace(good, `"id":"0000`, `"id":"1111`, 1),
	} {
		t.Run(name, func(t *testing.T) {
			if bad == good {
				t.Fatal("nothing replaced")
			}
			f.Put("_delta_log/00000000000000000010.crc", []byte(bad), day(10.5))
			f.refused(t, lake.Damaged, f.now)
		})
	}
	f.Put("_delta_log/00000000000000000010.crc", []byte("junk"), day(10.5))
	allLive(t, f)
	if len(f.mustOpen(t).Warnings()) == 0 {
		t.Error("no warning of an unreadable checksum file")
	}
}

func TestStoresThatListNamesOnlyOrByDirectory(t *testing.T) {
	f := eleven(t)
	f.Checkpoint(5, day(5.5), deltatest.Checkpoint{Kind: deltatest.V2Parquet})
	dir := t.TempDir()
	for _, n := range f.s.Names() {
		if err := (deltatest.Dir(dir)).Put(n, f.read(t, n), day(1)); err != nil {
			t.Fatal(err)
		}
	}
	tab, err := openLocal(t, dir, delta.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if p, err := tab.Protect(t.Context(), delta.ProtectRequest{Cutoff: time.Now()}); err != nil || p.LiveFiles != 11 {
		t.Errorf("%+v, %v", p, err)
	}
}

// Several goroutines may find the same checkpoint corrupt.
func TestTableIsSafeForConcurrentUse(t *testing.T) {
	f := eleven(t)
	for v := range int64(9) {
		for _, n := range f.Checkpoint(v, day(float64(v)+0.5), deltatest.Checkpoint{}) {
			body := f.read(t, n)
			f.Put(n, body[:len(body)-int(v%2)*9], day(1))
		}
	}
	tab := f.mustOpen(t)
	var g errgroup.Group
	for range 4 {
		g.Go(func() error {
			p, err := tab.Protect(t.Context(), delta.ProtectRequest{Cutoff: f.now})
			if err == nil && p.LiveFiles != 11 {
				t.Errorf("%d live files", p.LiveFiles)
			}
			tab.Info()
			tab.Warnings()
			return err
		})
	}
	if err := g.Wait(); err != nil {
		t.Error(err)
	}
}

func TestCountLive(t *testing.T) {
	f := eleven(t)
	f.Checkpoint(8, day(8.5), deltatest.Checkpoint{Kind: deltatest.V2JSON})
	f.Commit(day(12), deltatest.NewRemove("f3", day(12)), deltatest.NewAdd("big", 1000))
	tab := f.mustOpen(t)
	if i := tab.Info(); i.ActiveFiles != -1 || i.ActiveBytes != -1 {
		t.Errorf("%d files, %d bytes before the count", i.ActiveFiles, i.ActiveBytes)
	}
	if err := tab.CountLive(t.Context()); err != nil {
		t.Fatal(err)
	}
	if i := tab.Info(); i.ActiveFiles != 11 || i.ActiveBytes != 1010 {
		t.Errorf("%d files, %d bytes", i.ActiveFiles, i.ActiveBytes)
	}
}

func TestDetect(t *testing.T) {
	f := newFixture(t)
	f.Put("x/_delta_log/0.json", []byte("x"), day0)
	if found, err := delta.Detect(t.Context(), f.s); found != nil || err != nil {
		t.Error("a table below the root taken for one", err)
	}
	f.Commit(day0)
	found, err := delta.Detect(t.Context(), f.s)
	if found == nil || err != nil {
		t.Fatal("not detected", err)
	}
	f.Commit(day0.Add(time.Hour))
	for _, c := range []struct {
		listing *delta.Listing
		version int64
	}{{nil, 1}, {found, 0}} {
		tab, err := delta.Open(t.Context(), f.s, f.root, delta.Options{Listing: c.listing})
		if err != nil || tab.Version() != c.version {
			t.Errorf("opened at %d, not at %d: %v", tab.Version(), c.version, err)
		}
	}
}
