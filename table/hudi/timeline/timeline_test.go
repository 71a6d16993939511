package timeline

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store/mem"
)

func TestParseProperties(t *testing.T) {
	got, err := ParseProperties([]byte("#note\n!note\n\n  a=1\nb : 2\r\nc\td\\\n   e\nk\\=\\:\\ x=\\u00e9\\ud83d\\ude00\\\\ \\t\nempty=\nlone\nurl=s3\\://b/t\n\xe9=\xe9\na=last"))
	want := Properties{"a": "last", "b": "2", "c": "de", "k=: x": "é😀\\ \t", "empty": "", "lone": "", "url": "s3://b/t", "é": "é"}
	if err != nil || !cmp.Equal(got, want) {
		t.Errorf("%v\n%s", err, cmp.Diff(want, got))
	}
	if _, err := ParseProperties([]byte(`a=\u12`)); lake.KindOf(err) != lake.Damaged {
		t.Errorf("malformed escape: %v", err)
	}
}

// Measured on a real table.
func TestChecksum(t *testing.T) {
	if got := Checksum("", "cow9"); got != 3987789233 {
		t.Errorf("got %d", got)
	}
	if got := Checksum("default", "cow_v9_replace"); got != 3960300998 {
		t.Errorf("got %d", got)
	}
}

func TestReadPropertiesFallsBackToTheBackup(t *testing.T) {
	good, bad := "hoodie.table.name=cow9\nhoodie.table.checksum=3987789233\n", "hoodie.table.name=cow9\nhoodie.table.checksum=1\n"
	for name, c := range map[string]struct {
		main, backup string
		kind         lake.Kind
		ok           bool
	}{
		"main":                      {good, "", 0, true},
		"being updated":             {"", good, 0, true},
		"torn main":                 {"hoodie.ta", good, 0, true},
		"wrong checksum and backup": {bad, good, 0, true},
		"wrong checksum, no backup": {bad, "", lake.Damaged, false},
		"neither":                   {"", "", lake.NotTable, false},
	} {
		s := mem.New(mem.Options{})
		for file, text := range map[string]string{propertiesName: c.main, backupName: c.backup} {
			if text != "" {
				if err := s.PutIfAbsent(t.Context(), ".hoodie/"+file, []byte(text)); err != nil {
					t.Fatal(err)
				}
			}
		}
		p, err := ReadProperties(t.Context(), s, ".hoodie")
		if c.ok && (err != nil || p["hoodie.table.name"] != "cow9") || !c.ok && (err == nil || lake.KindOf(err) != c.kind) {
			t.Errorf("%s: %v, %v", name, p, err)
		}
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string]string{
		"20260603060000687.commit.requested":     "commit REQUESTED",
		"20260603060000687.inflight":             "commit INFLIGHT",
		"20260603060000687.commit":               "commit COMPLETED",
		"20260603060000687.deltacommit.inflight": "deltacommit INFLIGHT",
		"20260603060000687.compaction.inflight":  "compaction INFLIGHT",
		"20260603060000687.clean":                "clean COMPLETED",
		"001.savepoint":                          "savepoint COMPLETED",
		"001.savepoint.inflight":                 "savepoint INFLIGHT",
		"001.replacecommit.requested":            "replacecommit REQUESTED",
		"001.schemacommit":                       "schemacommit COMPLETED",
		"001.savepoint.requested":                "",
		"001.compaction":                         "",
		"001.clustering.requested":               "",
		"001.commit.inflight":                    "",
		"001_002.commit":                         "",
		"hoodie.properties":                      "",
		"20260603080000688.clean.requested.0a0b0c0d-0e0f-1011-1213-141516171819": "",
		"x.commit": "", "1.": "", ".commit": "", "1.unknown": "", "1.clean.done": "", "1_.commit": "",
	} {
		check(t, Layout1, name, want)
	}
	for name, want := range map[string]string{
		"001_002.commit": "commit COMPLETED", "001.clustering.requested": "clustering REQUESTED", "001.commit": "commit COMPLETED legacy",
		"001_002.clean.requested": "", "001_002.inflight": "", "001_.clean": "",
	} {
		check(t, Layout2, name, want)
	}
}

func check(t *testing.T, layout Layout, name, want string) {
	t.Helper()
	i, ok := ParseName(layout, name)
	got := ""
	if ok {
		got = fmt.Sprintf("%s %s", i.Action, i.State)
		if i.Legacy {
			got += " legacy"
		} else if back := Name(layout, i.Time, i.Action, i.State, i.Completion); back != name {
			t.Errorf("%s is written %s", name, back)
		}
	}
	if got != want {
		t.Errorf("layout %d, %s: %q, want %q", layout, name, got, want)
	}
}

func FuzzParseName(f *testing.F) {
	f.Add("20260603060000687_20260603060000688.commit")
	f.Add("1.inflight")
	f.Fuzz(func(t *testing.T, name string) {
		for _, layout := range []Layout{Layout1, Layout2} {
			if i, ok := ParseName(layout, name); ok && !i.Legacy && Name(layout, i.Time, i.Action, i.State, i.Completion) != name {
				t.Fatalf("%q reads as %+v", name, i)
			}
		}
	})
}

func load(t *testing.T, layout Layout, names ...string) *Timeline {
	t.Helper()
	s := mem.New(mem.Options{})
	for _, n := range names {
		if err := s.PutIfAbsent(t.Context(), ".hoodie/"+n, []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	tl, err := Load(t.Context(), s, ".hoodie", layout)
	if err != nil {
		t.Fatal(err)
	}
	return tl
}

func TestLoad(t *testing.T) {
	tl := load(t, Layout2, "3.clean.requested", "3.clean.inflight", "3_5.clean", "3_4.clean", "1.compaction.requested", "1.compaction.inflight", "1_2.commit", "2.deltacommit.requested",
		"archived/x", "9.clean.requested.0a0b0c0d-0e0f-1011-1213-141516171819", "hoodie.properties", "2.savepoint.inflight", "2_6.savepoint")
	var got []string
	for _, i := range tl.Instants {
		got = append(got, fmt.Sprintf("%s %s %s %s", i.Time, i.Action, i.State, i.Completion))
	}
	want := []string{"1 commit COMPLETED 2", "2 deltacommit REQUESTED ", "2 savepoint COMPLETED 6", "3 clean COMPLETED 5"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if len(tl.Strays) != 1 || tl.Start() != "1" || tl.LastTime() != "6" {
		t.Errorf("strays %q, start %q, last %q", tl.Strays, tl.Start(), tl.LastTime())
	}
	if i, ok := tl.Find("1", Compaction); !ok || i.Files[Requested] != "1.compaction.requested" || i.Files[Inflight] != "1.compaction.inflight" {
		t.Errorf("found %+v", i)
	}
}

func TestStartSkipsSavepointedWrites(t *testing.T) {
	if s := load(t, Layout1, "1.commit", "1.savepoint", "5.commit", "6.commit").Start(); s != "5" {
		t.Errorf("got %q", s)
	}
}

func TestCleanFilesRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.String()
		p := CleanPlan{LastCompleted: text.Draw(rt, "last"), Policy: text.Draw(rt, "policy"), DeadPartitions: rapid.SliceOfN(text, 1, 3).Draw(rt, "dead"),
			Extra: rapid.MapOfN(text, text, 1, 3).Draw(rt, "extra"), FilesV1: map[string][]string{}, Files: map[string][]CleanFile{}, Version: version(2)}
		if rapid.Bool().Draw(rt, "earliest") {
			p.Earliest = &ActionInstant{text.Draw(rt, "time"), "commit", "COMPLETED"}
		}
		for part, names := range rapid.MapOf(text, rapid.SliceOfN(text, 1, 4)).Draw(rt, "files") {
			no := false
			for _, n := range names {
				p.Files[part] = append(p.Files[part], CleanFile{&n, &no})
			}
		}
		data, err := p.Encode()
		if err != nil {
			rt.Fatal(err)
		}
		back, err := DecodeCleanPlan(data)
		if err != nil || !cmp.Equal(back, p) {
			rt.Fatalf("%v\n%s", err, cmp.Diff(p, back))
		}
	})
}

func TestUnknownCleanVersionIsRefused(t *testing.T) {
	data, err := encode(cleanPlanSchema, &CleanPlan{Version: version(3), FilesV1: map[string][]string{}, Files: map[string][]CleanFile{}, DeadPartitions: []string{}, Extra: map[string]string{}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := DecodeCleanPlan(data); lake.KindOf(err) != lake.Unsupported {
		t.Errorf("got %v", err)
	}
}

func TestDecodeCommitReadsJSON(t *testing.T) {
	m, err := DecodeCommit([]byte(`{"partitionToWriteStats":{"p":[{"fileId":"f","path":"p/f_0_1.parquet","prevCommit":"null","cdcStats":null,"new":{}}]},"compacted":false,"operationType":"UPSERT","partitionToReplaceFileIds":null,"extraMetadata":{"schema":null}}`))
	if err != nil || m.Operation != "UPSERT" || !m.Stats["p"][0].New() {
		t.Errorf("%+v, %v", m, err)
	}
	if m, err := DecodeCommit(nil); err != nil || m.Stats != nil {
		t.Errorf("empty: %+v, %v", m, err)
	}
	for _, bad := range []string{"Obj\x01", "Ob", "{", " "} {
		if _, err := DecodeCommit([]byte(bad)); lake.KindOf(err) != lake.Damaged {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestTimes(t *testing.T) {
	zone := time.FixedZone("x", 9*3600)
	at := time.Date(2026, 6, 3, 6, 0, 0, 687e6, time.UTC)
	if s := FormatTime(at, zone); s != "20260603150000687" {
		t.Errorf("got %s", s)
	}
	if back, err := ParseTime("20260603150000687", zone); err != nil || !back.Equal(at) {
		t.Errorf("got %v, %v", back, err)
	}
	if old, err := ParseTime("20260603150000", zone); err != nil || old.Sub(at) != 312*time.Millisecond {
		t.Errorf("14 digits: %v, %v", old, err)
	}
	if _, err := ParseTime("001", zone); err == nil {
		t.Error("a short instant is a time")
	}
	if _, err := Zone(Properties{}, nil); lake.KindOf(err) != lake.Invalid {
		t.Errorf("LOCAL without a zone: %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	data, err := CleanPlan{Policy: "KEEP_LATEST_COMMITS"}.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"partitionToWriteStats":{}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := DecodeCleanPlan(data)
		if err == nil {
			if _, err := p.Encode(); err != nil && p.Version != nil && *p.Version == 2 {
				t.Fatal(err)
			}
		}
		_, _ = DecodeCommit(data)        // must not panic
		_, _ = DecodeCleanMetadata(data) // must not panic
	})
}

func FuzzParseProperties(f *testing.F) {
	f.Add([]byte("a=b\\\n c\nk\\u0041:v"))
	f.Fuzz(func(t *testing.T, data []byte) { _, _ = ParseProperties(data) })
}
