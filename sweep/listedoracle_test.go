package sweep

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store/local"
	"github.com/lakesweep/lakesweep/table/hudi/datafile"
	"github.com/lakesweep/lakesweep/table/hudi/mdt"
	"github.com/lakesweep/lakesweep/table/hudi/mdttest"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// trueSlice is a file slice as a reader sees it.
type trueSlice struct {
	instant string
	files   []string
	based   bool
}

// slicesAt builds the slices of each group, newest first, of the writes up to
// an instant, in the plainest way.
func (m *listedModel) slicesAt(at string) map[string][]trueSlice {
	type logFile struct{ slice, file string }
	out, logs := map[string][]trueSlice{}, map[string][]logFile{}
	for _, w := range m.done {
		if w.at > at {
			continue
		}
		for _, file := range w.files {
			f, _ := datafile.Parse(path.Base(file))
			id := partitionIn(file) + "/" + f.FileID
			switch {
			case !f.Log:
				out[id] = append(out[id], trueSlice{instant: f.Instant, files: []string{file}, based: true})
			case m.layout == timeline.Layout1:
				logs[id] = append(logs[id], logFile{f.Instant, file})
			default:
				logs[id] = append(logs[id], logFile{w.completion, file})
			}
		}
	}
	for _, s := range m.services {
		for _, p := range s.parts {
			if id := m.w.partitionOf(p.group) + "/" + p.group + "-0"; s.action == timeline.Compaction && s.at <= at {
				out[id] = append(out[id], trueSlice{instant: s.at})
			}
		}
	}
	for id, list := range logs {
		for _, l := range list {
			best := -1
			for i, s := range out[id] {
				if s.instant <= l.slice && (best < 0 || s.instant > out[id][best].instant) {
					best = i
				}
			}
			if best < 0 {
				m.w.t.Fatalf("the log %s has no slice", l.file)
			}
			out[id][best].files = append(out[id][best].files, l.file)
		}
	}
	for id := range out {
		slices.SortFunc(out[id], func(a, b trueSlice) int { return strings.Compare(b.instant, a.instant) })
	}
	for _, w := range m.done {
		for _, name := range w.replaced {
			if w.at <= at {
				delete(out, m.w.partitionOf(name)+"/"+name+"-0")
			}
		}
	}
	return out
}

// reads is what a reader as of an instant opens: of each group the newest slice,
// and the one before while a compaction between them is pending.
func (m *listedModel) reads(at string) (files []string) {
	for _, list := range m.slicesAt(at) {
		for _, s := range list {
			files = append(files, s.files...)
			if s.based {
				break
			}
		}
	}
	slices.Sort(files)
	return files
}

// writeBefore is the latest complete write before an instant.
func (m *listedModel) writeBefore(at string) (before string) {
	for other := range m.done {
		if other < at {
			before = max(before, other)
		}
	}
	return before
}

func (m *listedModel) mustStand(why string, files []string) {
	m.w.t.Helper()
	for _, f := range files {
		if !m.has(f) {
			m.w.t.Fatalf("%s is gone: %s", f, why)
		}
	}
}

// instantsNow reads the names of a timeline; each has to be one of an instant.
func (m *listedModel) instantsNow(dir string) (complete, begun map[string]timeline.Instant) {
	complete, begun = map[string]timeline.Instant{}, map[string]timeline.Instant{}
	names, err := m.List(strings.TrimPrefix(dir, "table/"))
	m.must(err)
	for _, name := range names {
		i, ok := timeline.ParseName(m.layout, name)
		switch {
		case ok:
		case strings.HasPrefix(name, "hoodie.properties") || name == "lock":
			continue
		default:
			m.w.t.Fatalf("%s%s is no instant", dir, name)
		}
		key := i.Time + string(i.Action.Comparable())
		if i.State != timeline.Completed {
			begun[key] = i
			continue
		}
		if have, twice := complete[key]; twice {
			m.w.t.Fatalf("%s%s and %v are complete", dir, name, have.Files)
		}
		if i.Completion != "" && i.Completion <= i.Time {
			m.w.t.Fatalf("%s%s was complete before it began", dir, name)
		}
		complete[key] = i
	}
	return complete, begun
}

// verify checks the whole table, whatever is under way on it: by a slow look at
// all files, both timelines and the model's own history.
func (m *listedModel) verify(policy HudiRequest, floor string) {
	m.w.t.Helper()
	m.learn()
	m.mustStand("a snapshot reads it", snapshot(m.groups))
	m.mustStand("a snapshot reads it", m.reads("9"))
	for at, files := range m.saved {
		m.mustStand("the savepoint "+at+" holds it", files)
	}
	for at := range m.done {
		if m.rolling[at] != "" {
			m.mustStand("the rollback of "+at+" comes back to it", m.reads(m.writeBefore(at)))
		}
		if floor != "" && at >= floor {
			m.mustStand("the retained commit "+at+" reads it", m.reads(at))
		}
	}
	for _, list := range m.slicesAt("9") {
		for n, s := range list[:min(policy.RetainVersions, len(list))] {
			if n == 0 || s.instant > m.back {
				m.mustStand("it is one of the latest versions", s.files)
			}
		}
	}
	complete, begun := m.instantsNow(m.dir())
	pending := map[string]bool{}
	for key, i := range begun {
		if _, ok := complete[key]; !ok {
			pending[i.Time] = true
		}
	}
	planned := m.verifyCleans(complete, begun)
	m.verifyListing(pending, planned)
	m.verifyReplaced()
}

// verifyCleans reads all cleans: a complete one has its three files, and deleted
// what it planned. It returns what pending ones name.
func (m *listedModel) verifyCleans(complete, begun map[string]timeline.Instant) (pending map[string]bool) {
	pending = map[string]bool{}
	for key, i := range begun {
		if i.Action != timeline.Clean {
			continue
		}
		plan := m.plan(i.Time)
		done, is := complete[key]
		names := 0
		for p, files := range plan.Files {
			for _, f := range files {
				names++
				file := path.Join(p, path.Base(*f.Path))
				if !is {
					pending[file] = true
				} else if m.has(file) && !m.againSince(file, i.Time) {
					m.w.t.Fatalf("the clean %s is complete, and %s stands", i.Time, file)
				}
			}
		}
		if !is {
			continue
		}
		clean := m.clean(done.Files[timeline.Completed])
		said := 0
		for _, p := range clean.Partitions {
			said += len(p.Succeeded)
		}
		if said != names || clean.StartTime != i.Time {
			m.w.t.Fatalf("the clean %s planned %d files and says %d of %s", i.Time, names, said, clean.StartTime)
		}
		earliest := ""
		if plan.Earliest != nil {
			earliest = plan.Earliest.Timestamp
		}
		if clean.Earliest != earliest {
			m.w.t.Fatalf("the clean %s claims %q, and its plan %q", i.Time, clean.Earliest, earliest)
		}
	}
	for key, i := range complete {
		if _, ok := begun[key]; !ok && i.Action == timeline.Clean {
			m.w.t.Fatalf("the clean %s has no plan", i.Time)
		}
	}
	return pending
}

// againSince reports whether a name was given anew after an instant, as version
// 6 does with those of logs after a restore.
func (m *listedModel) againSince(file, at string) bool {
	for later, files := range m.by {
		if later > at && slices.Contains(files, file) {
			return true
		}
	}
	return false
}

// verifyListing compares the metadata table, read slowly and by its package,
// with the model's and with the folders, but for what is pending on the data
// table.
func (m *listedModel) verifyListing(pending, planned map[string]bool) {
	m.w.t.Helper()
	done, _ := m.instantsNow(m.listingTimeline())
	for _, at := range m.cleans(true) {
		if i, ok := done[at[:17]+"deltacommit"]; ok && m.layout == timeline.Layout2 && len(m.clean(at).Partitions) > 0 && i.Completion >= at[18:35] {
			m.w.t.Fatalf("the metadata table's commit of the clean %s was complete at %s only", at, i.Completion)
		}
	}
	root := m.w.path("table/.hoodie/metadata")
	files := map[string][]byte{}
	m.must(filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files[filepath.ToSlash(strings.TrimPrefix(p, root+"/"))], err = os.ReadFile(p)
		}
		return err
	}))
	slow, err := mdttest.Read(m.version, files, func(at string) bool { return !pending[at] })
	m.must(err)
	if diff := cmp.Diff(filled(m.listing.Listing()), filled(slow)); diff != "" {
		m.w.t.Fatalf("the metadata table lists (-want): %s", diff)
	}
	if diff := cmp.Diff(filled(slow), filled(m.listedNow())); diff != "" {
		m.w.t.Fatalf("as lakesweep reads it (-want): %s", diff)
	}
	disk := m.onDisk()
	for p, names := range slow {
		for name := range names {
			if _, ok := disk[p][name]; !ok && !planned[path.Join(p, name)] && !m.given[path.Join(p, name)] {
				m.w.t.Fatalf("the metadata table lists %s/%s, and it is gone", p, name)
			}
		}
	}
	flight := map[string]bool{}
	for _, w := range m.pending() {
		for _, f := range m.by[w.at] {
			flight[f] = true
		}
	}
	for p, names := range disk {
		for name := range names {
			if _, ok := slow[p][name]; !ok && !flight[path.Join(p, name)] {
				m.w.t.Fatalf("%s/%s stands, and the metadata table doesn't list it", p, name)
			}
		}
	}
}

// filled leaves out partitions without files: Hudi goes on listing a dead one
// that both the metadata table's base file and its log named before.
func filled(files mdttest.Files) mdttest.Files {
	maps.DeleteFunc(files, func(_ string, names map[string]int64) bool { return len(names) == 0 })
	return files
}

func (m *listedModel) listingTimeline() string {
	if m.layout == timeline.Layout2 {
		return "table/.hoodie/metadata/.hoodie/timeline/"
	}
	return "table/.hoodie/metadata/.hoodie/"
}

// listedNow is the listing as package mdt reads it.
func (m *listedModel) listedNow() mdttest.Files {
	ctx := context.Background()
	root, err := lake.ParseRoot(m.w.table())
	m.must(err)
	disk, err := local.Open(ctx, root)
	m.must(err)
	p, err := timeline.ReadProperties(ctx, disk, ".hoodie")
	m.must(err)
	tl, err := timeline.Load(ctx, disk, strings.TrimSuffix(strings.TrimPrefix(m.dir(), "table/"), "/"), m.layout)
	m.must(err)
	t, err := mdt.Open(ctx, disk, mdt.Data{Properties: p, Timeline: tl})
	m.must(err)
	m.must(t.Trust())
	f, err := t.Files(ctx)
	m.must(err)
	partitions, err := f.Partitions()
	m.must(err)
	out := mdttest.Files{}
	for _, p := range partitions {
		out[p], err = f.Partition(p)
		m.must(err)
	}
	return out
}

// verifyReplaced checks that nothing is left of the groups that the archiver
// takes for cleaned, but for what savepoints hold: once their replace commit is
// archived, they would be alive again.
func (m *listedModel) verifyReplaced() {
	m.w.t.Helper()
	bound := m.bound()
	held := map[string]bool{}
	for _, files := range m.saved {
		for _, f := range files {
			d, _ := datafile.Parse(path.Base(f))
			held[d.FileID] = true
		}
	}
	for _, w := range m.done {
		if len(w.replaced) == 0 || w.at >= bound {
			continue
		}
		for _, name := range w.replaced {
			if !held[name+"-0"] && m.stands([]string{name}) {
				m.w.t.Fatalf("%s stands, a group that %s replaced; the archiver may archive what lies before %s", name, w.at, bound)
			}
		}
	}
}

// verifyDue checks that all is gone that the policy lets go, with nothing
// pending and no savepoint.
func (m *listedModel) verifyDue(policy HudiRequest, earliest string) {
	m.w.t.Helper()
	keep := map[string]bool{}
	for _, list := range m.slicesAt("9") {
		before := false
		for n, s := range list {
			if kept := n == 0 || n < policy.RetainVersions || earliest != "" && (s.instant >= earliest || !before); kept {
				for _, f := range s.files {
					keep[f] = true
				}
			}
			before = before || s.instant < earliest
		}
	}
	for _, w := range m.done {
		if earliest != "" && w.at >= earliest {
			for _, name := range w.replaced {
				for _, f := range m.filesOf(name) {
					keep[f] = true
				}
			}
		}
	}
	for p, names := range m.onDisk() {
		for name := range names {
			if f := path.Join(p, name); !keep[f] && !m.failedLog(f) {
				m.w.t.Fatalf("%s is due and stands; retained from %q", f, earliest)
			}
		}
	}
}

// failedLog reports a log that a rollback in version 6 left: it goes with its slice.
func (m *listedModel) failedLog(file string) bool {
	for at, files := range m.by {
		if _, ok := m.done[at]; !ok && slices.Contains(files, file) {
			return true
		}
	}
	return false
}

// retained is the first instant that a policy retains now, "" for none.
func (m *listedModel) retained(policy HudiRequest) string {
	var list []string
	for _, w := range m.written {
		list = append(list, w.at)
	}
	slices.Sort(list)
	switch {
	case policy.RetainCommits > 0 && len(list) > policy.RetainCommits:
		return list[len(list)-policy.RetainCommits]
	case policy.RetainHours > 0 && len(list) > 0:
		cutoff := timeline.FormatTime(m.w.now.Add(-time.Duration(policy.RetainHours)*time.Hour), time.UTC)
		for _, at := range list {
			if max(at, m.done[at].completion) >= cutoff {
				return at
			}
		}
		return list[len(list)-1] // the hours may have ended since a run planned
	}
	return ""
}
