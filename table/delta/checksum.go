package delta

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/lakesweep/lakesweep/lake"
)

// checksum is a version checksum file: what its writer believed of the version.
//
// Source: Delta PROTOCOL.md "Version Checksum File".
type checksum struct {
	Files    *int64         `json:"numFiles"`
	Bytes    *int64         `json:"tableSizeBytes"`
	Protocol jsontext.Value `json:"protocol"`
	Metadata jsontext.Value `json:"metadata"`
}

func (c *checksum) numFiles() int64 { return deref(c.Files) }
func (c *checksum) bytes() int64    { return deref(c.Bytes) }

func deref(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

// readChecksum reads the checksum of the version opened, if there is one, and
// compares protocol and metadata. One that can't be read is only warned of:
// it is optional.
func (t *Table) readChecksum(ctx context.Context) error {
	if t.seg.crc == nil {
		return nil
	}
	body, err := t.readAll(ctx, *t.seg.crc)
	if lake.KindOf(err) == lake.Damaged {
		t.warn("the checksum file of version %d was not used: %v", t.seg.version, err)
		return nil
	}
	if err != nil {
		return err
	}
	var c checksum
	if err := json.Unmarshal(body, &c, json.RejectUnknownMembers(false)); err != nil {
		t.warn("the checksum file of version %d can't be read: %v", t.seg.version, err)
		return nil
	}
	t.checksum = &c
	if len(c.Protocol) > 0 && c.Protocol.Kind() == '{' {
		if p, err := parseProtocol(c.Protocol); err == nil && !p.same(t.protocol) {
			return t.mismatch(errors.New("its protocol isn't the log's"))
		}
	}
	if len(c.Metadata) > 0 && c.Metadata.Kind() == '{' {
		if m, err := parseMetadata(c.Metadata); err == nil && m.fingerprint != t.meta.fingerprint {
			return t.mismatch(errors.New("its metadata isn't the log's"))
		}
	}
	return nil
}

// checkCounts compares a full replay with the checksum.
func (t *Table) checkCounts(live liveCounts) error {
	if t.checksum == nil {
		return nil
	}
	if n := t.checksum.Files; n != nil && *n != live.files {
		return t.mismatch(fmt.Errorf("it counts %d live files, the replay %d", *n, live.files))
	}
	if n := t.checksum.Bytes; n != nil && *n != live.bytes && !live.unsized {
		return t.mismatch(fmt.Errorf("it counts %d live bytes, the replay %d", *n, live.bytes))
	}
	return nil
}

func (t *Table) mismatch(err error) error {
	return &lake.Error{Op: "compare with checksum file", Key: lake.Key(t.seg.crc.name), Kind: lake.Damaged, Code: "checksum_mismatch", Err: err,
		Hint: "Nothing was deleted. Either the log is damaged or the checksum file is wrong: check the table with another engine; without that file the check is left out."}
}
