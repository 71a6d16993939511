package blobs

import (
	"errors"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
)

// StateKey is the key of a plan's state that holds what carrying it out has
// to know of blobs; absent where none are to be deleted.
const StateKey = "hudi.blobs"

// State is that, as JSON.
type State struct {
	Columns       []string       `json:"columns,omitempty"` // of the request
	Roots         []string       `json:"roots"`
	Grace         int64          `json:"grace_ns"`
	MinAge        int64          `json:"min_age_ns"`
	Also          []string       `json:"also,omitempty"`
	Maps          []lake.BlobMap `json:"maps,omitempty"`
	Spelling      string         `json:"spelling,omitempty"` // of the request
	Wait          bool           `json:"wait,omitempty"`
	DryRun        bool           `json:"dry_run,omitempty"`
	Parallelism   int            `json:"parallelism,omitempty"`
	MaxCandidates int64          `json:"max_candidates,omitempty"`
	ScanFiles     int64          `json:"scan_files,omitempty"`
	ScanBytes     int64          `json:"scan_bytes,omitempty"`
}

// defaultMinAge is how old a blob has to be to die, by default.
const defaultMinAge = 24 * time.Hour

// State returns what carrying out a plan of the table has to know, as ReadState
// reads it.
func (t *Table) State() (string, error) {
	r, c := t.Request, t.Config
	s := State{Columns: r.Columns, Grace: int64(defaultGrace), MinAge: int64(defaultMinAge), Also: r.Also, Maps: t.Maps, Spelling: r.Spelling, Wait: r.Wait,
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
	data, err := json.Marshal(&s)
	return string(data), err
}

// ReadState returns what a plan says of blobs, nil for one that leaves
// them alone.
func ReadState(h *filelist.Head) (*State, error) {
	text := h.State[StateKey]
	if text == "" {
		return nil, nil
	}
	var s State
	err := json.Unmarshal([]byte(text), &s)
	if err == nil && len(s.Roots) == 0 {
		err = errors.New("no place in which blobs may die")
	}
	if err != nil {
		return nil, &lake.Error{Op: "apply plan", Table: h.Table, Kind: lake.Damaged, Err: err, Hint: "Make the plan again."}
	}
	return &s, nil
}

// Listed returns how many external blobs a plan lists, how many of them carrying
// it out may delete since they are due, and how many it queues first.
func Listed(h *filelist.Head) (listed, due, queued int64) {
	listed = h.Totals.ByReason[string(lake.ExpiredBlob)].Objects
	if h.Totals.Blobs == nil || h.State[StateKey] == "" {
		return listed, 0, 0
	}
	return listed, h.Totals.Blobs.Due, listed - h.Totals.Blobs.Due
}

// request is the request that s was made of.
func (s *State) request() (Request, error) {
	grace, minAge := time.Duration(s.Grace), time.Duration(s.MinAge)
	r := Request{Mode: "delete", Columns: s.Columns, Grace: &grace, MinAge: &minAge, Also: s.Also, Spelling: s.Spelling, Wait: s.Wait, ScanFiles: s.ScanFiles, ScanBytes: s.ScanBytes}
	for _, text := range s.Roots {
		root, err := lake.ParsePlace(text)
		if err != nil {
			return r, err
		}
		r.Roots = append(r.Roots, root)
	}
	return r, nil
}
