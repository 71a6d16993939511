package clean

import (
	"context"
	"log/slog"
	"time"

	"github.com/lakesweep/lakesweep/guard"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/sweep/internal/apply"
	"github.com/lakesweep/lakesweep/sweep/internal/blobs"
	"github.com/lakesweep/lakesweep/sweep/internal/place"
)

// Host is what the engine lends. Safe for concurrent use.
type Host struct {
	Places   place.Finder
	Apply    *apply.Host
	Observe  lake.Observer // may be nil
	Log      *slog.Logger
	StateDir string // where ledgers of blobs lie; "" for none
	Tool     string // for the heads of plans
	Sleep    func(ctx context.Context, d time.Duration) error
}

// Request says what is wanted of a table. Its fields are those of
// sweep.PlanRequest and sweep.HudiRequest, which explain them.
type Request struct {
	Cutoff         time.Time
	Policy         string
	RetainCommits  int
	RetainHours    int
	RetainVersions int
	Config         string
	TimelineZone   string
	NoOtherWriters bool
	Orphans        bool
	Blobs          blobs.Request
	Maps           []lake.BlobMap // where the blobs that names lead to are reached
	AtOnce         bool           // the plan is carried out right after
	Guards         guard.Options
	Workers        int
	Memory         int64
}
