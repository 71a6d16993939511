package sweep

import (
	"errors"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
)

// stateBlobs is the key of a plan's state that holds what carrying it out has
// to know of blobs; absent where none are to be deleted.
const stateBlobs = "hudi.blobs"

// blobState is that, as JSON.
type blobState struct {
	Columns       []string       `json:"columns,omitempty"` // of the request
	Roots         []string       `json:"roots"`
	Grace         int64          `json:"grace_ns"`
	MinAge        int64          `json:"min_age_ns"`
	Also          []string       `json:"also,omitempty"`
	Maps          []lake.BlobMap `json:"maps,omitempty"`
	Wait          bool           `json:"wait,omitempty"`
	DryRun        bool           `json:"dry_run,omitempty"`
	Parallelism   int            `json:"parallelism,omitempty"`
	MaxCandidates int64          `json:"max_candidates,omitempty"`
	ScanFiles     int64          `json:"scan_files,omitempty"`
	ScanBytes     int64          `json:"scan_bytes,omitempty"`
}

// blobMinAge is how old a blob has to be to die, by default.
const blobMinAge = 24 * time.Hour

// blobState returns what carrying out the run's plan has to know.
func (run *hudiRun) blobState() blobState {
	r, c := run.req.Hudi.Blobs, run.config.Blobs
	s := blobState{Columns: r.Columns, Grace: int64(blobGrace), MinAge: int64(blobMinAge), Also: r.Also, Wait: r.Wait,
		DryRun: c.DryRun, Parallelism: c.Parallelism, MaxCandidates: c.MaxCandidates, ScanFiles: r.ScanFiles, ScanBytes: r.ScanBytes}
	if r.Grace != nil {
		s.Grace = int64(*r.Grace)
	}
	if r.MinAge != nil {
		s.MinAge = int64(*r.MinAge)
	}
	for _, root := range r.Roots {
		s.Roots = append(s.Roots, root.String())
	}
	for _, m := range run.req.Inventory.Maps {
		s.Maps = append(s.Maps, lake.BlobMap(m))
	}
	return s
}

// readBlobState returns what a plan says of blobs, nil for one that leaves
// them alone.
func readBlobState(h *filelist.Head) (*blobState, error) {
	text := h.State[stateBlobs]
	if text == "" {
		return nil, nil
	}
	var s blobState
	err := json.Unmarshal([]byte(text), &s)
	if err == nil && len(s.Roots) == 0 {
		err = errors.New("no place in which blobs may die")
	}
	if err != nil {
		return nil, &lake.Error{Op: "apply plan", Table: h.Table, Kind: lake.Damaged, Err: err, Hint: "Make the plan again."}
	}
	return &s, nil
}

// Blobs returns how many external blobs a plan lists, how many of them carrying
// it out may delete since they are due, and how many it queues first.
func Blobs(h *filelist.Head) (listed, due, queued int64) {
	listed = h.Totals.ByReason[string(lake.ExpiredBlob)].Objects
	if h.Totals.Blobs == nil || h.State[stateBlobs] == "" {
		return listed, 0, 0
	}
	return listed, h.Totals.Blobs.Due, listed - h.Totals.Blobs.Due
}

// request is the request that s was made of.
func (s *blobState) request(table, zone string, t Tuning) (PlanRequest, error) {
	grace, minAge := time.Duration(s.Grace), time.Duration(s.MinAge)
	req := PlanRequest{Table: table, Tuning: t, Hudi: HudiRequest{TimelineZone: zone, Blobs: BlobRequest{Mode: "delete", Columns: s.Columns, Grace: &grace, MinAge: &minAge, Also: s.Also, Wait: s.Wait, ScanFiles: s.ScanFiles, ScanBytes: s.ScanBytes}}}
	for _, text := range s.Roots {
		root, err := lake.ParsePlace(text)
		if err != nil {
			return req, err
		}
		req.Hudi.Blobs.Roots = append(req.Hudi.Blobs.Roots, root)
	}
	for _, m := range s.Maps {
		req.Inventory.Maps = append(req.Inventory.Maps, Map(m))
	}
	return req, nil
}
