package blobqueue

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
)

// claim is the content of a claim marker.
type claim struct {
	Schema int       `json:"schema"` // 1
	Tables []Claimer `json:"tables"`
}

// Claimer is a table that deletes blobs below a root.
type Claimer struct {
	Table string    `json:"table"`    // the root's URI
	ID    string    `json:"table_id"` // name and creation
	Since time.Time `json:"since"`    // by the clock of the store that lies furthest behind: the age of an empty claim is told by it
	Tool  string    `json:"tool,omitzero"`
}

// settling is how long a claim that is empty counts as one that is being made:
// where a store can't create a file with its content, as HDFS can't, one is
// empty for a moment. An older one was left by a writer that died, and is nobody's.
const settling = 15 * time.Minute

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
// Errors: Refused if another table has claimed the root; Locked while another
// one is claiming it; Damaged.
func Claim(ctx context.Context, s Claims, root lake.Root, me Claimer, known func(table string) bool) error {
	for range maxTries {
		have, exists, etag, err := readClaim(ctx, s, root, lake.ClaimName, me.Since)
		if err != nil {
			return err
		}
		if err := have.allows(root, lake.ClaimName, me, known); err != nil {
			return err
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
			_, err = s.Replace(ctx, lake.ClaimName, data, etag)
		} else {
			err = s.PutIfAbsent(ctx, lake.ClaimName, data)
		}
		if !errors.Is(err, fs.ErrExist) && !errors.Is(err, store.ErrChanged) {
			return store.Fail("claim blob root", root, lake.ClaimName, err)
		}
	}
	return &lake.Error{Op: "claim blob root", Table: me.Table, Kind: lake.Transient, Err: fmt.Errorf("other tables keep claiming %s", root), Hint: "Run again."}
}

// Claimed reports whether a claim in the folder dir of a store, "" for its
// root, names a table.
//
// Errors: Damaged; Locked for a claim that is being made; those of the store.
func Claimed(ctx context.Context, r store.Reader, root lake.Root, dir string, me Claimer) (bool, error) {
	c, _, _, err := readClaim(ctx, r, root, path.Join(dir, lake.ClaimName), me.Since)
	return slices.ContainsFunc(c.Tables, func(have Claimer) bool { return have.Table == me.Table }), err
}

// Allowed makes sure that no table which me doesn't know has claimed the folder
// dir of a store, "" for its root: one above a blob root, or between it and a
// blob.
//
// Errors: Refused if one has; Locked for a claim that is being made; Damaged;
// those of the store.
func Allowed(ctx context.Context, r store.Reader, root lake.Root, dir string, me Claimer, known func(table string) bool) error {
	name := path.Join(dir, lake.ClaimName)
	c, _, _, err := readClaim(ctx, r, root, name, me.Since)
	if err != nil {
		return err
	}
	return c.allows(root, name, me, known)
}

// allows refuses a claim by a table that me doesn't know.
func (c claim) allows(root lake.Root, name string, me Claimer, known func(table string) bool) error {
	for _, other := range c.Tables {
		if other.Table != me.Table && !known(other.Table) {
			return &lake.Error{Op: "claim blob root", Table: me.Table, Kind: lake.Refused, Code: "blob_root_claimed",
				Err:  fmt.Errorf("the table %s deletes blobs by %s too", other.Table, root.Join(lake.Key(name))),
				Hint: fmt.Sprintf("If it shares blobs with this table, give --also-references %s; if it is gone, remove it from that file.", other.Table)}
		}
	}
	return nil
}

// readClaim returns the claim as it is now, whether there is one, and its ETag.
//
// Errors: Locked for an empty one, which somebody unknown may be making; Damaged.
func readClaim(ctx context.Context, s store.Reader, root lake.Root, name string, now time.Time) (c claim, exists bool, etag string, err error) {
	info, err := s.Stat(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return c, false, "", nil
	}
	var data []byte
	if err == nil {
		data, err = readAll(ctx, s, name)
	}
	if err != nil {
		return c, false, "", store.Fail("read claim", root, name, err)
	}
	if len(data) == 0 {
		if now.Sub(info.Modified) >= settling {
			return c, true, info.ETag, nil
		}
		return c, false, "", &lake.Error{Op: "read claim", Table: root.String(), Key: lake.Key(name), Kind: lake.Locked, Err: errors.New("it is empty: another table may be making it"),
			Hint: fmt.Sprintf("Run again. An empty claim that is %s old is taken for one that its writer left.", settling)}
	}
	if err = json.Unmarshal(data, &c); err == nil && c.Schema != 1 {
		err = fmt.Errorf("schema %d", c.Schema)
	}
	if err != nil {
		return c, false, "", &lake.Error{Op: "read claim", Table: root.String(), Key: lake.Key(name), Kind: lake.Damaged, Err: err,
			Hint: "Find out which tables delete blobs here, and put the file right or remove it."}
	}
	return c, true, info.ETag, nil
}
