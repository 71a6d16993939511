package rowset

import (
	"bytes"
	"encoding/base64"
	"time"

	"github.com/lakesweep/lakesweep/inventory/internal/columns"
	"github.com/lakesweep/lakesweep/inventory/internal/value"
)

// Raw is a row as a reader found it, one column after another. Its bytes are only lent.
type Raw struct {
	Path, bucket, etag []byte
	Size               int64
	Modified, Created  time.Time
	directory          bool
	relative           bool // path is relative to the list's own root, by a column that says so
	version            []byte
	latest             int8 // 1 and -1: a column says that it is, or isn't, the latest version
	snapshot, deleted  bool
	marker             bool // deleted is a delete marker, not what takes a version away for good
	foreign            bool // not a row about an object at all
	sequence           []byte
	Recorded           time.Time // when a journal took the change down
}

// Set takes the text of one column. Empty texts say nothing.
func (r *Raw) Set(as columns.Role, text []byte, clock value.Times) {
	if len(text) == 0 {
		return
	}
	switch as {
	case columns.Path, columns.PathRaw:
		r.Path = text
	case columns.PathBase64: // a text that isn't Base64 leaves no path
		r.Path, _ = base64.StdEncoding.AppendDecode(nil, text)
	case columns.Absolute:
		r.relative = !value.Truth(text)
	case columns.Bucket:
		r.bucket = text
	case columns.Size:
		r.Size = value.Size(text)
	case columns.Modified:
		r.Modified = clock.Text(text)
	case columns.Created:
		r.Created = clock.Text(text)
	case columns.Directory:
		r.directory = value.Truth(text)
	case columns.ETag:
		r.etag = text
	case columns.Version:
		r.version = text
	case columns.Sequence:
		r.sequence = text
	case columns.Recorded:
		r.Recorded = clock.Text(text)
	case columns.Latest:
		r.latest = -1
		if value.Truth(text) {
			r.latest = 1
		}
	case columns.Marker:
		r.marker = value.Truth(text)
		r.deleted = r.deleted || r.marker
	case columns.Deleted: // a flag, or the time of the deletion
		r.deleted = r.deleted || !bytes.EqualFold(text, []byte("false")) && string(text) != "0"
	case columns.Snapshot:
		r.snapshot = true
	case columns.Record: // of S3 Metadata's journal, or of our own JSON lines
		switch string(text) {
		case "DELETE":
			r.deleted = true
		case "CREATE", "UPDATE_METADATA", "file":
		default:
			r.foreign = true
		}
	}
}
