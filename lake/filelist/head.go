package filelist

import (
	"time"

	"github.com/lakesweep/lakesweep/lake"
)

// Head is the document in the footer of a plan file, under HeadKey, as JSON.
// Fields are only ever added within a schema number.
type Head struct {
	Schema    int       `json:"schema"` // 1
	PlanID    string    `json:"plan_id"`
	Tool      string    `json:"tool"`              // "lakesweep v0.1.0"
	Table     string    `json:"table"`             // the root's URI
	Given     string    `json:"given"`             // the table as the command line named it
	TableID   string    `json:"table_id"`          // metaData.id; Hudi: the table's name and creation
	Format    string    `json:"format"`            // "delta", "hudi"
	Version   *int64    `json:"version,omitempty"` // Delta: the version planned on
	Instant   string    `json:"instant,omitempty"` // Hudi: the last completed instant
	Created   time.Time `json:"created"`
	Cutoff    time.Time `json:"cutoff"`
	Mode      string    `json:"mode"`               // "full", "lite"; Hudi: the policy
	ModeWhy   string    `json:"mode_why,omitempty"` // why auto chose it
	Source    string    `json:"source,omitempty"`   // the inventory; empty for a listing
	Where     string    `json:"where,omitempty"`
	TimeZone  string    `json:"time_zone,omitempty"`
	Watermark *int64    `json:"watermark,omitempty"` // Delta: what _last_vacuum_info becomes after a complete run
	Guards    []Guard   `json:"guards"`
	Evidence  Evidence  `json:"evidence"`
	Totals    Totals    `json:"totals"`
	Digest    string    `json:"digest"` // of all rows and of the head without this field; "" for a plan that lies in no file
	// Format's own state that apply needs, such as a fingerprint of the protocol and metadata or Hudi's clean plan.
	State map[string]string `json:"state,omitempty"`
}

// HeadKey is the key of the Head in a Parquet footer's metadata.
const HeadKey = "lakesweep.plan"

// Guard is one row of {message_type: "guard"}.
type Guard struct {
	Code    string  `json:"code"`
	Outcome Outcome `json:"outcome"`
	Detail  string  `json:"detail"`
	Fix     string  `json:"fix,omitempty"`
}

// Outcome is what a guard found.
type Outcome string

// The outcomes of a guard.
const (
	Passed     Outcome = "passed"
	Warned     Outcome = "warned"
	Refused    Outcome = "refused"
	Overridden Outcome = "overridden"
)

// Evidence is what the guards judge: measured while planning.
type Evidence struct {
	Listed       bool          `json:"listed"`        // candidates come from a complete listing or inventory
	LiveExpected int64         `json:"live_expected"` // live files and deletion vectors below the root that a complete listing must show
	LiveSeen     int64         `json:"live_seen"`
	LiveMissing  []string      `json:"live_missing,omitempty"` // unseen, and a stat confirms them absent; the first 100
	LiveUnseen   []string      `json:"live_unseen,omitempty"`  // unseen, but a stat finds them: paths are read wrongly; the first 100
	MissingCount int64         `json:"missing_count,omitempty"`
	LiveFiles    int64         `json:"live_files"` // of the whole table, data files only
	LiveBytes    int64         `json:"live_bytes"`
	Retain       time.Duration `json:"retain"`          // asked for, ns
	RetainTable  time.Duration `json:"retain_property"` // the table's own, ns
	ClockSkew    time.Duration `json:"clock_skew"`      // our clock minus the store's, ns
	Foreign      []string      `json:"foreign,omitempty"`
	EnclosedBy   string        `json:"enclosed_by,omitempty"` // the root of a table around this one
	HistoryGap   string        `json:"history_gap,omitempty"` // why the history can't prove the retention asked for
	Versioned    bool          `json:"versioned,omitempty"`
	SoftDelete   time.Duration `json:"soft_delete,omitempty"`
	InventoryAge time.Duration `json:"inventory_age,omitempty"`
	Outside      int64         `json:"outside,omitempty"` // inventory rows or log paths outside the root
	Warnings     []string      `json:"warnings,omitempty"`
	Blocked      []string      `json:"blocked,omitempty"`        // why carrying the plan out would be refused as things stand
	Unqueued     []string      `json:"blobs_unqueued,omitempty"` // Hudi: columns that refer to external blobs, of which a plan that wasn't asked about them lets file slices go
}

// Totals are the counts of a plan's summary, in objects and bytes.
type Totals struct {
	Candidates      int64            `json:"candidates"` // objects seen in the table's reach, hidden and foreign ones not counted
	Protected       int64            `json:"protected"`
	ProtectedLive   *int64           `json:"protected_live,omitempty"` // of the protected, those of the newest version; nil if unknown
	TooYoung        int64            `json:"too_young"`
	KeptUnknown     int64            `json:"kept_unknown"`
	Unmatched       int64            `json:"unmatched,omitempty"` // known not to match WHERE
	Foreign         int64            `json:"foreign"`
	Dead            int64            `json:"dead"`
	DeadBytes       int64            `json:"dead_bytes"` // of those whose size is known
	DeadDirectories int64            `json:"dead_directories"`
	ByReason        map[string]Count `json:"by_reason"`
	ListRequests    int64            `json:"list_requests"`
	DeleteRequests  int64            `json:"delete_requests"`
	EstimatedCost   *float64         `json:"estimated_cost"` // US dollars; null where no price is known
	MonthlySaving   *float64         `json:"monthly_saving"` // US dollars
	Seconds         float64          `json:"seconds"`
	Blobs           *Blobs           `json:"blobs,omitempty"` // nil where external blobs weren't looked at
}

// Count adds one dead file or blob. ByReason must not be nil.
func (t *Totals) Count(v *lake.Verdict) {
	bytes := max(v.Size, 0)
	t.Dead++
	t.DeadBytes += bytes
	c := t.ByReason[string(v.Reason)]
	t.ByReason[string(v.Reason)] = Count{Objects: c.Objects + 1, Bytes: c.Bytes + bytes}
}

// Blobs are the counts of external blobs that lost a reference in a plan.
// Listed are those that are to be queued: unreferenced, pending and undecided.
type Blobs struct {
	Columns      []string  `json:"columns"`          // that refer to blobs
	Candidates   int64     `json:"candidates"`       // distinct managed references of the files that are dead
	Unreferenced int64     `json:"unreferenced"`     // listed: no file that stays refers to it
	Pending      int64     `json:"pending"`          // listed: only a write in flight refers to it
	Undecided    int64     `json:"undecided"`        // listed: not every file that stays could be read, or Misspelled isn't empty
	Referenced   int64     `json:"referenced"`       // kept: a file that stays refers to it
	OutsideRoots int64     `json:"outside_roots"`    // kept: below no --blob-root
	InsideTable  int64     `json:"inside_table"`     // kept: in the table's own folders
	OddSpelling  int64     `json:"odd_spelling"`     // kept: which object it names is in doubt
	Queued       int64     `json:"queued,omitempty"` // in the table's queue before this plan
	Due          int64     `json:"due,omitempty"`    // listed: of those, whose grace time is over
	Kept         []Kept    `json:"kept,omitempty"`
	Misspelled   string    `json:"misspelled,omitempty"` // what disproves --blob-spelling exact
	Files        BlobFiles `json:"files"`
}

// Kept is a blob that stays, with what keeps it: the first ones of each kind.
type Kept struct {
	Blob string `json:"blob"`
	Why  string `json:"why"`          // "referenced", "pending", "outside_roots", "inside_table", "odd_spelling"
	By   string `json:"by,omitempty"` // the file that refers to it
}

// BlobFiles counts the files of the table that blobs were looked for in.
type BlobFiles struct {
	Expired    int64 `json:"expired"`    // dead files, read for what they refer to
	Groups     int64 `json:"groups"`     // first stage: files that stay in the file groups of those
	Rest       int64 `json:"rest"`       // second stage: all other files, none if the first settled every candidate
	Remembered int64 `json:"remembered"` // of both stages, known from the ledger
	RuledOut   int64 `json:"ruled_out"`  // of both stages, by statistics or Bloom filters
	Read       int64 `json:"read"`       // of both stages, read
	Skipped    int64 `json:"skipped"`    // of both stages, not opened, as nothing was left to find, or a limit was reached
	Unread     int64 `json:"unread"`     // couldn't be read
}

// Count is a number of objects and their bytes.
type Count struct {
	Objects int64 `json:"objects"`
	Bytes   int64 `json:"bytes"`
}
