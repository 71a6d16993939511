package blobqueue

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
)

// holdDir is the folder of holds.
const (
	holdDir = Dir + "/quarantines"
	holdExt = ".json"
)

// Hold is a quarantine that slices of the table were moved to, from where they
// may be put back: until it is empty no blob of the table dies.
//
// There is one for each journal of a plan with a quarantine: a plan that goes on
// with another journal, or another quarantine, has slices that only that one
// tells of. A journal is told by what its head says, wherever it lies by now.
type Hold struct {
	Schema     int       `json:"schema"` // 1
	PlanID     string    `json:"plan_id"`
	Quarantine string    `json:"quarantine"` // where the slices lie
	Journal    string    `json:"journal"`    // by which they are restored or purged
	Since      time.Time `json:"since"`      // when the journal was begun
	File       string    `json:"-"`          // of one that was read: its name below the table's root
}

func (h Hold) name() string {
	sum := sha256.Sum256([]byte(h.Quarantine + "\x00" + h.Since.UTC().Format(time.RFC3339Nano)))
	return holdDir + "/" + h.PlanID + "." + hex.EncodeToString(sum[:8]) + holdExt
}

// Place makes a hold durable, before the first slice is moved. One that is there
// already, of an earlier run with the journal, stays.
func (h Hold) Place(ctx context.Context, r store.Reader, w store.Writer) error {
	h.Schema = 1
	data, err := json.Marshal(&h)
	if err != nil {
		return err
	}
	if err = writeFile(ctx, r, w, h.name(), append(data, '\n')); errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// End removes the hold, once nothing that its journal tells of lies in its
// quarantine. Where the journal lies is no matter.
func (h Hold) End(ctx context.Context, w store.Writer) error { return remove(ctx, w, h.name()) }

// Holds returns the holds of the table at whose root r was opened, in the order
// of their plans.
//
// Errors: Damaged for one that can't be read; those of the store.
func Holds(ctx context.Context, r store.Reader) (list []Hold, err error) {
	for e, err := range store.Folder(ctx, r, holdDir+"/") {
		if errors.Is(err, fs.ErrNotExist) {
			return list, nil
		}
		if err != nil {
			return nil, err
		}
		if e.Kind != store.File || !strings.HasSuffix(e.Name, holdExt) {
			continue
		}
		h, err := readHold(ctx, r, e.Name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it ended meanwhile
		}
		if err != nil {
			return nil, err
		}
		list = append(list, h)
	}
	return list, nil
}

func readHold(ctx context.Context, r store.Reader, name string) (h Hold, err error) {
	h.File = name
	data, err := readAll(ctx, r, name)
	if err != nil {
		return h, err
	}
	if len(data) == 0 { // being made, or its maker died: what it holds nobody knows
		plan := strings.TrimSuffix(lake.Key(name).Base(), holdExt)
		return Hold{Schema: 1, File: name, PlanID: plan[:max(strings.LastIndexByte(plan, '.'), 0)]}, nil
	}
	if err = json.Unmarshal(data, &h); err == nil && h.Schema != 1 {
		err = fmt.Errorf("schema %d", h.Schema)
	}
	if err != nil {
		return h, &lake.Error{Op: "read hold", Key: lake.Key(name), Kind: lake.Damaged, Err: err, Hint: "Remove the file once the quarantine of that plan is purged or restored."}
	}
	return h, nil
}

// String says what holds blobs by what Holds returned, and how that ends.
func (h Hold) String() string {
	if h.Journal == "" {
		return fmt.Sprintf("slices of the plan %s may lie in a quarantine (remove %s once none does)", h.PlanID, h.File)
	}
	return fmt.Sprintf("slices of the plan %s lie in the quarantine %s and may be put back (`lakesweep purge %s` or `restore` empties it; if it was emptied by hand, remove %s)", h.PlanID, h.Quarantine, h.Journal, h.File)
}
