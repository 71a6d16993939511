package blobqueue

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
)

// ClaimName is the object in a blob root that names the tables which delete
// below it.
const ClaimName = ".lakesweep-claim.json"

// claim is the content of a claim marker.
type claim struct {
	Schema int       `json:"schema"` // 1
	Tables []Claimer `json:"tables"`
}

// Claimer is a table that deletes blobs below a root.
type Claimer struct {
	Table string    `json:"table"`    // the root's URI
	ID    string    `json:"table_id"` // name and creation
	Since time.Time `json:"since"`
	Tool  string    `json:"tool,omitzero"`
}

// Claims is a blob root's store: what a claim takes and no more.
type Claims interface {
	store.Reader
	PutIfAbsent(ctx context.Context, name string, data []byte) error
	Replace(ctx context.Context, name string, data []byte, ifMatch string) (etag string, err error)
}

// Claim makes sure that every table which deletes below a root is known to the
// others. A table that isn't alone must name the others, so that their
// references count: known reports whether it does.
//
// Errors: Refused if another table has claimed the root; Damaged.
func Claim(ctx context.Context, s Claims, root lake.Root, me Claimer, known func(table string) bool) error {
	for range maxTries {
		have, exists, etag, err := readClaim(ctx, s, root)
		if err != nil {
			return err
		}
		for _, other := range have.Tables {
			if other.Table != me.Table && !known(other.Table) {
				return &lake.Error{Op: "claim blob root", Table: me.Table, Kind: lake.Refused, Code: "blob_root_claimed",
					Err:  fmt.Errorf("the table %s deletes blobs below %s too", other.Table, root),
					Hint: fmt.Sprintf("If it shares blobs with this table, give --also-references %s; if it is gone, remove it from %s.", other.Table, root.Join(ClaimName))}
			}
		}
		if slices.ContainsFunc(have.Tables, func(c Claimer) bool { return c.Table == me.Table && c.ID == me.ID }) {
			return nil
		}
		have.Schema = 1
		have.Tables = append(slices.DeleteFunc(have.Tables, func(c Claimer) bool { return c.Table == me.Table }), me)
		data, err := json.Marshal(have)
		if err != nil {
			return err
		}
		data = append(data, '\n')
		if exists {
			_, err = s.Replace(ctx, ClaimName, data, etag)
		} else {
			err = s.PutIfAbsent(ctx, ClaimName, data)
		}
		if !errors.Is(err, fs.ErrExist) && !errors.Is(err, store.ErrChanged) {
			return store.Fail("claim blob root", root, ClaimName, err)
		}
	}
	return &lake.Error{Op: "claim blob root", Table: me.Table, Kind: lake.Transient, Err: fmt.Errorf("other tables keep claiming %s", root), Hint: "Run again."}
}

// readClaim returns the claim, whether there is one, and its ETag.
func readClaim(ctx context.Context, s Claims, root lake.Root) (c claim, exists bool, etag string, err error) {
	info, err := s.Stat(ctx, ClaimName)
	if errors.Is(err, fs.ErrNotExist) {
		return c, false, "", nil
	}
	var data []byte
	if err == nil {
		data, err = readAll(ctx, s, ClaimName)
	}
	if err != nil {
		return c, false, "", store.Fail("read claim", root, ClaimName, err)
	}
	if err = json.Unmarshal(data, &c); err == nil && c.Schema != 1 {
		err = fmt.Errorf("schema %d", c.Schema)
	}
	if err != nil {
		return c, false, "", &lake.Error{Op: "read claim", Table: root.String(), Key: ClaimName, Kind: lake.Damaged, Err: err,
			Hint: "Find out which tables delete blobs here, and put the file right or remove it."}
	}
	return c, true, info.ETag, nil
}
