package txlog

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table/delta/meta"
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
func (l *Log) readChecksum(ctx context.Context) error {
	if l.Segment.Checksum == nil {
		return nil
	}
	body, err := l.Dir.ReadAll(ctx, *l.Segment.Checksum)
	if lake.KindOf(err) == lake.Damaged {
		l.warn("the checksum file of version %d was not used: %v", l.Segment.Version, err)
		return nil
	}
	if err != nil {
		return err
	}
	var c checksum
	if err := json.Unmarshal(body, &c, json.RejectUnknownMembers(false)); err != nil {
		l.warn("the checksum file of version %d can't be read: %v", l.Segment.Version, err)
		return nil
	}
	l.checksum = &c
	if len(c.Protocol) > 0 && c.Protocol.Kind() == '{' {
		if p, err := meta.ParseProtocol(c.Protocol); err == nil && !p.Same(l.Protocol) {
			return l.mismatch(errors.New("its protocol isn't the log's"))
		}
	}
	if len(c.Metadata) > 0 && c.Metadata.Kind() == '{' {
		if m, err := meta.ParseMetadata(c.Metadata); err == nil && m.Fingerprint != l.Metadata.Fingerprint {
			return l.mismatch(errors.New("its metadata isn't the log's"))
		}
	}
	return nil
}

// CheckCounts compares what a full replay counts with the checksum file. unsized
// says that bytes lacks files whose size the log doesn't say.
//
// Errors: Damaged with code checksum_mismatch.
func (l *Log) CheckCounts(files, bytes int64, unsized bool) error {
	if l.checksum == nil {
		return nil
	}
	if n := l.checksum.Files; n != nil && *n != files {
		return l.mismatch(fmt.Errorf("it counts %d live files, the replay %d", *n, files))
	}
	if n := l.checksum.Bytes; n != nil && *n != bytes && !unsized {
		return l.mismatch(fmt.Errorf("it counts %d live bytes, the replay %d", *n, bytes))
	}
	return nil
}

func (l *Log) mismatch(err error) error {
	return &lake.Error{Op: "compare with checksum file", Key: lake.Key(l.Segment.Checksum.Name), Kind: lake.Damaged, Code: "checksum_mismatch", Err: err,
		Hint: "Nothing was deleted. Either the log is damaged or the checksum file is wrong: check the table with another engine; without that file the check is left out."}
}
