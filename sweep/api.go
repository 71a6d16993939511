// Package sweep strings the stations together: it is the library's front door.
package sweep

import (
	"fmt"
	"time"

	"github.com/lakesweep/lakesweep/lake"
)

// PlanRequest is a wish for a plan of one table. The zero value of each field
// but Table is a valid default.
type PlanRequest struct {
	Table  string // as given: a path or URI; relative local paths are resolved against the working directory
	Format string // "", "delta" or "hudi"; "" detects

	Where    string         // a predicate on partition columns
	TimeZone *time.Location // the session's zone, UTC if nil

	Retain    *time.Duration // nil: the table's own property
	Cutoff    time.Time      // instead of Retain, if not zero
	Mode      string         // "auto" (or ""), "full", "lite"
	FullEvery time.Duration  // auto runs full at least this often; 0: 7 days

	Inventory InventoryRequest

	KeepVersions []int64
	Protect      []string // tables (shallow clones) and files of paths to keep

	Unsafe Unsafe
	Tuning Tuning
	Hudi   HudiRequest

	// AtOnce says how the plan is carried out right after, nil for a plan
	// alone: what would refuse that is refused before anything is planned.
	AtOnce *ApplyRequest

	// Wishes holds, by format, a flag that only tables of this format heed. On another table it is Invalid: nobody asks for what isn't done.
	Wishes map[string]string
}

// fits refuses a wish that a table of this format doesn't heed.
func (r PlanRequest) fits(format string) error {
	for of, flag := range r.Wishes {
		if of != format {
			return &lake.Error{Op: "plan", Table: r.Table, Kind: lake.Invalid, Err: fmt.Errorf("--%s is for %s tables, and this is a %s table", flag, of, format),
				Hint: "Leave it out. In settings and in the environment it does no harm: there it holds for the tables that it fits."}
		}
	}
	return nil
}

// InventoryRequest names a list of objects that replaces the listing.
type InventoryRequest struct {
	Source  string            // "" lists the store
	Columns map[string]string // path, size, modified → column of the source
	Taken   time.Time         // when its scan began, where it doesn't say
	MaxAge  time.Duration     // refuse older ones; 0: any age
	Maps    []Map
	// Journals are journals of earlier runs besides those in the state directory: what they record as gone since the list was taken is left out.
	Journals []string
	SQL      string // a query over the source, in builds with an engine
}

// Given reports whether there is an inventory at all.
func (r InventoryRequest) Given() bool { return r.Source != "" || r.SQL != "" }

// Name is how messages and plans name the inventory.
func (r InventoryRequest) Name() string {
	switch {
	case r.SQL == "":
		return r.Source
	case r.Source == "":
		return "query: " + r.SQL
	}
	return r.Source + ", query: " + r.SQL
}

// Map says that names beginning with From are reached at To.
type Map struct{ From, To string }

// Unsafe holds overrides of guards. Each names the table as given on the
// command line, or is empty; one that names another table is Invalid.
type Unsafe struct {
	RetainBelow string
	MostlyDead  string
	MissingLive string
}

// Tuning bounds what a run takes. Zero values choose for the machine and store.
type Tuning struct {
	Workers    int
	ListRate   float64 // requests a second
	DeleteRate float64 // keys a second
	Memory     int64   // bytes
}

// HudiRequest holds what only Hudi's clean knows.
type HudiRequest struct {
	Policy         string // latest-commits, latest-hours, latest-versions; "" as the table's configuration says
	RetainCommits  int
	RetainHours    int
	RetainVersions int
	Config         string // a properties file with Hudi's own keys
	TimelineZone   string
	NoOtherWriters bool
	Orphans        bool
	Blobs          BlobRequest
}

// BlobRequest says what to do about the external blobs of a Hudi table. The
// zero value leaves them alone, and lets a plan warn where that loses some.
type BlobRequest struct {
	Mode      string         // "off": they are to stay; "": nobody asked, so a plan that loses some says so; "plan": shown; "delete": queued, and deleted once they are due
	Columns   []string       // columns that refer to blobs, beside those that the schema says
	Roots     []lake.Root    // blobs die only below these
	Grace     *time.Duration // how long a blob is queued before it may die; nil: 24 h
	MinAge    *time.Duration // younger blobs stay; nil: 24 h
	Also      []string       // other tables, whose references count too
	Spelling  string         // "any" (or ""); "exact" vouches that every reference to an object is spelled as the one that let it go: then bounds and Bloom filters rule files out
	ScanFiles int64          // files read for references in one look at most, those known from the ledger not counted; 0: any number
	ScanBytes int64          // sizes of those files; 0: any
	Wait      bool           // a run waits until the blobs that it queued are due
}

// ApplyRequest is a wish to carry out a plan.
type ApplyRequest struct {
	MaxDelete   int64
	MaxBytes    int64
	MaxDuration time.Duration
	Quarantine  string // a prefix; "" deletes
	Trash       bool   // move into the file system's own trash instead of deleting
	Journal     string // a URI or path; "" beside the plan or in the state directory
	CommitLog   string // "auto" (or ""), "on", "off"
	AllVersions string // names the table: delete old versions of a versioned bucket too
	BlobsWait   bool   // wait until the blobs that the run queues are due, as BlobRequest.Wait
	Tuning      Tuning
}

// Outcome is one row of {message_type: "outcome"}.
type Outcome struct {
	Key     lake.Key
	URI     string
	Reason  lake.Reason
	Outcome string // deleted, gone, spared, quarantined, failed, skipped
	Err     error
}
