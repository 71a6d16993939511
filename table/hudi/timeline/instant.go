package timeline

import (
	"cmp"
	"strings"
)

// Action is what an instant does.
type Action string

// The actions. A compaction completes as a commit, a log compaction as a delta
// commit, and a clustering as a replace commit.
const (
	Commit        Action = "commit"
	DeltaCommit   Action = "deltacommit"
	ReplaceCommit Action = "replacecommit"
	Compaction    Action = "compaction"
	LogCompaction Action = "logcompaction"
	Clustering    Action = "clustering"
	Clean         Action = "clean"
	Rollback      Action = "rollback"
	Restore       Action = "restore"
	Savepoint     Action = "savepoint"
	Indexing      Action = "indexing"
	SchemaCommit  Action = "schemacommit"
)

// Comparable returns the action that a completes as.
func (a Action) Comparable() Action {
	switch a {
	case Compaction:
		return Commit
	case LogCompaction:
		return DeltaCommit
	case Clustering:
		return ReplaceCommit
	}
	return a
}

// State is how far an instant is. Higher states win.
type State uint8

// The states.
const (
	Requested State = iota
	Inflight
	Completed
)

// String returns the name that Avro plans use.
func (s State) String() string { return [...]string{"REQUESTED", "INFLIGHT", "COMPLETED"}[s] }

// Instant is one action on the timeline.
type Instant struct {
	Time       string // requested time
	Action     Action // as the file of the highest state names it
	State      State
	Completion string    // completion time, only of a Completed instant in layout 2
	Files      [3]string // file name for each State, "" if there is none
	Legacy     bool      // a completed name of layout 2 without completion time
	Empty      bool      // the file of the highest state is known to have no bytes
}

// Compare orders instants by time, action and state, as Hudi does.
func (i Instant) Compare(o Instant) int {
	return cmp.Or(strings.Compare(i.Time, o.Time), strings.Compare(string(i.Action.Comparable()), string(o.Action.Comparable())), cmp.Compare(i.State, o.State))
}

// Layout is the version of a timeline's layout.
type Layout int

// The layouts.
const (
	Layout1 Layout = 1
	Layout2 Layout = 2
)

// ParseName reads the name of a timeline file. ok is false for names that are
// none: temporary files, folders, archives.
//
// Source: spec/hudi-clean.md section 2.1.
func ParseName(layout Layout, name string) (i Instant, ok bool) {
	stamp, rest, ok := strings.Cut(name, ".")
	if !ok {
		return Instant{}, false
	}
	time, completion, completed := strings.Cut(stamp, "_")
	if !digits(time) || completed && (layout == Layout1 || !digits(completion)) {
		return Instant{}, false
	}
	word, state, more := strings.Cut(rest, ".")
	i = Instant{Time: time, Action: Action(word), State: Completed, Completion: completion}
	switch {
	case !more && word == "inflight":
		i.Action, i.State = Commit, Inflight
	case state == "inflight":
		i.State = Inflight
	case state == "requested":
		i.State = Requested
	case more:
		return Instant{}, false
	}
	if completed && i.State != Completed || !stateAllowed(layout, i.Action, i.State, rest) {
		return Instant{}, false
	}
	i.Legacy = layout == Layout2 && i.State == Completed && !completed
	i.Files[i.State] = name
	return i, true
}

func stateAllowed(layout Layout, a Action, s State, rest string) bool {
	switch a {
	case Commit:
		return rest != "commit.inflight"
	case Savepoint:
		return s != Requested
	case DeltaCommit, Clean, Rollback, Restore, ReplaceCommit, Indexing, SchemaCommit:
		return true
	case Compaction, LogCompaction:
		return s != Completed
	case Clustering:
		return layout == Layout2 && s != Completed
	}
	return false
}

// Name returns the name of a timeline file.
func Name(layout Layout, time string, a Action, s State, completion string) string {
	switch {
	case s == Completed && layout == Layout2:
		return time + "_" + completion + "." + string(a.Comparable())
	case s == Completed:
		return time + "." + string(a.Comparable())
	case s == Inflight && a == Commit:
		return time + ".inflight"
	case s == Inflight:
		return time + "." + string(a) + ".inflight"
	}
	return time + "." + string(a) + ".requested"
}

func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
