package guard_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/guard"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
)

const given = "./my table"

var created = time.Date(2026, 1, 10, 12, 0, 0, 0, time.UTC)

// sound is the head of a plan that no guard has anything against.
func sound() filelist.Head {
	return filelist.Head{Schema: 1, PlanID: "p1", Table: "/data/my table", Given: given, TableID: "id", Format: "delta", Mode: "full",
		Created: created, Cutoff: created.Add(-168 * time.Hour),
		Evidence: filelist.Evidence{Listed: true, LiveExpected: 10, LiveSeen: 10, LiveFiles: 9, Retain: 168 * time.Hour, RetainTable: 168 * time.Hour},
		Totals:   filelist.Totals{Candidates: 14, Protected: 10, Dead: 4, DeadBytes: 40}}
}

func TestGuards(t *testing.T) {
	names := func(n int) []string { return slices.Repeat([]string{"a"}, n) }
	for _, c := range []struct {
		rule string
		code string
		set  func(*filelist.Head)
		o    guard.Options
		want filelist.Outcome // "" for a guard that doesn't apply
	}{
		{"all live files seen", "live_unread", func(h *filelist.Head) {}, guard.Options{}, filelist.Passed},
		{"a live file that a stat finds", "live_unread", func(h *filelist.Head) { h.Evidence.LiveSeen, h.Evidence.LiveUnseen = 9, names(1) }, guard.Options{}, filelist.Refused},
		{"no override of it", "live_unread", func(h *filelist.Head) { h.Evidence.LiveSeen, h.Evidence.LiveUnseen = 9, names(1) },
			guard.Options{MissingLive: given, MostlyDead: given, RetainBelow: given}, filelist.Refused},
		{"unseen files that nobody looked for", "live_unread", func(h *filelist.Head) { h.Evidence.LiveSeen = 9 }, guard.Options{}, filelist.Refused},
		{"unseen files that are all absent", "live_unread", func(h *filelist.Head) { h.Evidence.LiveSeen, h.Evidence.MissingCount = 3, 7 }, guard.Options{}, filelist.Passed},
		{"LITE lists nothing", "live_unread", func(h *filelist.Head) { h.Evidence.Listed, h.Evidence.LiveSeen = false, 0 }, guard.Options{}, ""},

		{"no live file seen", "live_none_seen", func(h *filelist.Head) { h.Evidence.LiveSeen, h.Evidence.MissingCount = 0, 10 }, guard.Options{MissingLive: given}, filelist.Refused},
		{"the log has no live file below the root", "live_none_seen", func(h *filelist.Head) { h.Evidence.LiveSeen, h.Evidence.LiveExpected = 0, 0 }, guard.Options{}, ""},

		{"a live file absent", "live_missing", func(h *filelist.Head) { h.Evidence.LiveSeen, h.Evidence.LiveMissing = 9, names(1) }, guard.Options{}, filelist.Refused},
		{"a live file absent, known", "live_missing", func(h *filelist.Head) { h.Evidence.LiveSeen, h.Evidence.LiveMissing = 9, names(1) }, guard.Options{MissingLive: given}, filelist.Overridden},
		{"none absent, override given", "live_missing", func(h *filelist.Head) {}, guard.Options{MissingLive: given}, filelist.Passed},

		{"half dead", "mostly_dead", func(h *filelist.Head) { h.Totals.Dead, h.Evidence.LiveFiles = 9, 9 }, guard.Options{}, filelist.Passed},
		{"above half dead", "mostly_dead", func(h *filelist.Head) { h.Totals.Dead, h.Evidence.LiveFiles = 10, 9 }, guard.Options{}, filelist.Refused},
		{"directories don't count", "mostly_dead", func(h *filelist.Head) { h.Totals.DeadDirectories = 100 }, guard.Options{}, filelist.Passed},
		{"above half dead, known", "mostly_dead", func(h *filelist.Head) { h.Totals.Dead = 100 }, guard.Options{MostlyDead: given}, filelist.Overridden},
		{"all dead", "mostly_dead", func(h *filelist.Head) { h.Totals.Dead, h.Evidence.LiveFiles = 1, 0 }, guard.Options{}, filelist.Refused},
		{"an empty table without garbage", "mostly_dead", func(h *filelist.Head) { h.Totals.Dead, h.Evidence.LiveFiles = 0, 0 }, guard.Options{}, filelist.Passed},

		{"retention of the property", "retain_below_property", func(h *filelist.Head) {}, guard.Options{}, filelist.Passed},
		{"retention a nanosecond below", "retain_below_property", func(h *filelist.Head) { h.Evidence.Retain-- }, guard.Options{}, filelist.Refused},
		{"retention below, known", "retain_below_property", func(h *filelist.Head) { h.Evidence.Retain = 0 }, guard.Options{RetainBelow: given}, filelist.Overridden},
		{"a cutoff in the future", "cutoff_ahead", func(h *filelist.Head) { h.Cutoff, h.Evidence.Retain = created.Add(1), -1 }, guard.Options{RetainBelow: given}, filelist.Refused},
		{"a cutoff of now", "cutoff_ahead", func(h *filelist.Head) { h.Cutoff, h.Evidence.Retain = created, 0 }, guard.Options{}, ""},

		{"a gap in the history", "history_gap", func(h *filelist.Head) { h.Evidence.HistoryGap = "commit 7 is gone" }, guard.Options{}, filelist.Refused},
		{"clocks five minutes apart", "clock_skew", func(h *filelist.Head) { h.Evidence.ClockSkew = -5 * time.Minute }, guard.Options{}, filelist.Passed},
		{"our clock ahead", "clock_skew", func(h *filelist.Head) { h.Evidence.ClockSkew = 5*time.Minute + 1 }, guard.Options{}, filelist.Refused},
		{"our clock behind", "clock_skew", func(h *filelist.Head) { h.Evidence.ClockSkew = -5*time.Minute - 1 }, guard.Options{}, filelist.Refused},

		{"an inventory of any age", "inventory_age", func(h *filelist.Head) { h.Source, h.Evidence.InventoryAge = "i", 1e18 }, guard.Options{}, filelist.Passed},
		{"an inventory too old", "inventory_age", func(h *filelist.Head) { h.Source, h.Evidence.InventoryAge = "i", 25*time.Hour }, guard.Options{MaxInventoryAge: 24 * time.Hour}, filelist.Refused},
		{"a listing has no age", "inventory_age", func(h *filelist.Head) {}, guard.Options{MaxInventoryAge: 1}, ""},
		{"an inventory of another place", "inventory_unmatched", func(h *filelist.Head) {
			h.Source, h.Totals, h.Evidence.LiveSeen, h.Evidence.Outside = "i", filelist.Totals{}, 0, 1000
		}, guard.Options{}, filelist.Refused},
		{"a list without files of a table without files", "inventory_unmatched", func(h *filelist.Head) {
			h.Source, h.Totals, h.Evidence.LiveSeen, h.Evidence.LiveExpected = "i", filelist.Totals{}, 0, 0
		}, guard.Options{}, filelist.Warned},
		{"an inventory of this place", "inventory_unmatched", func(h *filelist.Head) { h.Source = "i" }, guard.Options{}, filelist.Passed},

		{"inside another table", "enclosed", func(h *filelist.Head) { h.Evidence.EnclosedBy = "/data" }, guard.Options{MostlyDead: given}, filelist.Refused},
		{"tables inside", "foreign_inside", func(h *filelist.Head) { h.Evidence.Foreign = []string{"x"} }, guard.Options{}, filelist.Warned},
		{"a versioned bucket", "held_by_store", func(h *filelist.Head) { h.Evidence.Versioned = true }, guard.Options{}, filelist.Warned},
		{"soft delete", "held_by_store", func(h *filelist.Head) { h.Evidence.SoftDelete = time.Hour }, guard.Options{}, filelist.Warned},
		{"no lock is known", "not_ready", func(h *filelist.Head) { h.Evidence.Blocked = []string{"no lock provider is known"} }, guard.Options{}, filelist.Warned},
		{"nothing stands in the way", "not_ready", func(h *filelist.Head) {}, guard.Options{}, ""},
		{"blobs that no queue remembers", "blobs_unqueued", func(h *filelist.Head) { h.Evidence.Unqueued = []string{"img"} }, guard.Options{}, filelist.Warned},
		{"no blobs, or asked about", "blobs_unqueued", func(h *filelist.Head) {}, guard.Options{}, ""},
		{"blobs below no root", "blobs_outside_roots", func(h *filelist.Head) { h.Totals.Blobs = &filelist.Blobs{OutsideRoots: 1} }, guard.Options{}, filelist.Warned},
		{"all blobs below roots", "blobs_outside_roots", func(h *filelist.Head) { h.Totals.Blobs = &filelist.Blobs{Candidates: 1} }, guard.Options{}, ""},
		{"a warning of the log", "note", func(h *filelist.Head) { h.Evidence.Warnings = []string{"checkpoint 6 is unreadable"} }, guard.Options{}, filelist.Warned},
		{"nothing to note", "note", func(h *filelist.Head) {}, guard.Options{}, ""},
	} {
		t.Run(c.rule, func(t *testing.T) {
			h := sound()
			c.set(&h)
			guards, err := guard.Check(h, c.o)
			if err != nil {
				t.Fatal(err)
			}
			var got filelist.Guard
			for _, g := range guards {
				if g.Code == c.code {
					got = g
				}
			}
			if got.Outcome != c.want {
				t.Errorf("%s: %q, want %q (%s)", c.code, got.Outcome, c.want, got.Detail)
			}
			if stops := got.Outcome == filelist.Refused || got.Outcome == filelist.Warned; stops != (got.Fix != "") {
				t.Errorf("%s %s with the fix %q", c.code, got.Outcome, got.Fix)
			}
			h.Guards = guards
			refusal := guard.Refusal(h)
			if refused := got.Outcome == filelist.Refused; refused && lake.KindOf(refusal) != lake.Refused {
				t.Errorf("refusal: %v", refusal)
			} else if refused && lake.HintOf(refusal) == "" {
				t.Errorf("no hint in %v", refusal)
			}
		})
	}
}

func TestASoundPlanPassesEveryGuard(t *testing.T) {
	h := sound()
	guards, err := guard.Check(h, guard.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range guards {
		if g.Outcome != filelist.Passed {
			t.Errorf("%+v", g)
		}
	}
	if h.Guards = guards; guard.Refusal(h) != nil {
		t.Error(guard.Refusal(h))
	}
}

func TestAnOverrideNamesTheTableAsGiven(t *testing.T) {
	for _, o := range []guard.Options{{RetainBelow: "/data/my table"}, {MostlyDead: "my table"}, {MissingLive: given + "/"}} {
		if _, err := guard.Check(sound(), o); lake.KindOf(err) != lake.Invalid || err == nil {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func TestTheFixNamesTheOverrideReadyToPaste(t *testing.T) {
	h := sound()
	h.Totals.Dead = 100
	guards, err := guard.Check(h, guard.Options{})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(guards, func(g filelist.Guard) bool { return g.Code == "mostly_dead" })
	if want := "--unsafe-mostly-dead './my table'"; !strings.Contains(guards[i].Fix, want) {
		t.Errorf("%q lacks %s", guards[i].Fix, want)
	}
}

func TestEveryCodeIsDocumented(t *testing.T) {
	text, err := os.ReadFile("../docs/guards.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range guard.Codes() {
		if !strings.Contains(string(text), "| `"+code+"` |") {
			t.Errorf("docs/guards.md has no row for %s", code)
		}
	}
}

// Also those of errors that are no guard's, wherever they are made.
func TestEveryCodeOfAnErrorIsDocumented(t *testing.T) {
	text, err := os.ReadFile("../docs/guards.md")
	if err != nil {
		t.Fatal(err)
	}
	made := regexp.MustCompile(`lake\.Error\{[^\n]*Code: "([a-z_]+)"|unwind\("([a-z_]+)"`)
	seen := 0
	err = filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, m := range made.FindAllStringSubmatch(string(source), -1) {
			seen++
			if code := m[1] + m[2]; code != "verify" && !strings.Contains(string(text), "`"+code+"`") {
				t.Errorf("%s: docs/guards.md has no word of %s", path, code)
			}
		}
		return err
	})
	if err != nil || seen < 10 {
		t.Errorf("%d codes, %v", seen, err)
	}
}
