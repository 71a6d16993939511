package inventory

import (
	"bytes"
	"encoding/base64"
	"time"

	"github.com/lakesweep/lakesweep/store"
)

// Row is one object that a list names. Its strings may be kept; they share the
// memory of their batch.
type Row struct {
	// Place holds the place that Name lies in, verbatim below it: "s3://bucket", or a table's root.
	// Where it is empty, Name is a URI, an absolute path, or relative to the table's root.
	Place    string
	Name     string
	Kind     store.EntryKind // File, Dir or Marker; the Name of the last two has no trailing slash
	Size     int64           // bytes, -1 if unknown
	Modified time.Time       // UTC; zero if unknown or implausible
	ETag     string          // as the list spells it; may be empty
}

// Counts says what became of the rows of a list.
type Counts struct {
	Rows         int64 // in the list
	Directories  int64 // rows for directories and their placeholders
	OldVersions  int64 // left out: not the latest version, or a snapshot
	Deleted      int64 // left out: delete markers, soft-deleted objects, deletions in a journal and what they deleted
	Undecodable  int64 // left out: no name, or an escape that is none
	UnknownTimes int64 // rows whose time is missing or implausible
	UnknownSizes int64

	signs signs // of the names, where their encoding is detected
}

func (c *Counts) add(o Counts) {
	c.Rows += o.Rows
	c.Directories += o.Directories
	c.OldVersions += o.OldVersions
	c.Deleted += o.Deleted
	c.Undecodable += o.Undecodable
	c.UnknownTimes += o.UnknownTimes
	c.UnknownSizes += o.UnknownSizes
	c.signs |= o.signs
}

// Skipped counts the rows that name no object of today.
func (c Counts) Skipped() int64 { return c.OldVersions + c.Deleted + c.Undecodable }

// raw is a row as a reader found it. Its bytes are only lent.
type raw struct {
	path, bucket, etag []byte
	size               int64
	modified, created  time.Time
	directory          bool
	relative           bool // path is relative to the list's own root, by a column that says so
	version            []byte
	latest             int8 // 1 and -1: a column says that it is, or isn't, the latest version
	snapshot, deleted  bool
	marker             bool // deleted is a delete marker, not what takes a version away for good
	foreign            bool // not a row about an object at all
	sequence           []byte
	recorded           time.Time // when a journal took the change down
}

// set takes the text of one column. Empty texts say nothing.
func (r *raw) set(as role, text []byte, clock times) {
	if len(text) == 0 {
		return
	}
	switch as {
	case rolePath, rolePathRaw:
		r.path = text
	case rolePathBase64: // a text that isn't Base64 leaves no path
		r.path, _ = base64.StdEncoding.AppendDecode(nil, text)
	case roleAbsolute:
		r.relative = !truth(text)
	case roleBucket:
		r.bucket = text
	case roleSize:
		r.size = size(text)
	case roleModified:
		r.modified = clock.text(text)
	case roleCreated:
		r.created = clock.text(text)
	case roleDirectory:
		r.directory = truth(text)
	case roleETag:
		r.etag = text
	case roleVersion:
		r.version = text
	case roleSequence:
		r.sequence = text
	case roleRecorded:
		r.recorded = clock.text(text)
	case roleLatest:
		r.latest = -1
		if truth(text) {
			r.latest = 1
		}
	case roleMarker:
		r.marker = truth(text)
		r.deleted = r.deleted || r.marker
	case roleDeleted: // a flag, or the time of the deletion
		r.deleted = r.deleted || !bytes.EqualFold(text, []byte("false")) && string(text) != "0"
	case roleSnapshot:
		r.snapshot = true
	case roleRecord: // of S3 Metadata's journal, or of our own JSON lines
		switch string(text) {
		case "DELETE":
			r.deleted = true
		case "CREATE", "UPDATE_METADATA", "file":
		default:
			r.foreign = true
		}
	}
}

const batchRows = 2048

// spelling is how the rows of a list name objects.
type spelling struct {
	scheme         string // of the bucket column: "s3", "gs", "az"
	encoding       Encoding
	detected       bool   // the encoding is a guess, which each name has to fit
	containerFirst bool   // the path begins with the container: Azure Blob Inventory
	root           string // the place of relative paths, if the list itself names it
	latest         bool   // a column says which version is the latest
	own            bool   // a list that lakesweep wrote
	journal        bool   // rows tell of changes, and columns say in which order
	versions       bool   // a column says which version a row is about
}

// batch gathers rows for one worker and hands them on.
type batch struct {
	spelling
	emit   func([]Row) error
	places map[string]string
	arena  []byte
	rows   []Row
	spans  [][4]int // name and ETag in the arena
	counts Counts
	failed error // what emit returned

	replay  *replay  // of a journal: takes the rows first; nil otherwise
	changes []change // of a journal: what each row tells
}

func newBatch(s spelling, r run) *batch {
	return &batch{spelling: s, replay: r.replay, emit: r.emit, places: make(map[string]string), rows: make([]Row, 0, batchRows), spans: make([][4]int, 0, batchRows)}
}

// add judges a row and takes what is an object.
func (b *batch) add(r *raw) error {
	if r.foreign {
		return nil
	}
	b.counts.Rows++
	switch {
	case r.deleted:
		b.counts.Deleted++
		if b.replay == nil {
			return nil
		}
	case r.snapshot, r.latest < 0, r.latest == 0 && len(r.version) > 0 && b.latest:
		b.counts.OldVersions++
		return nil
	}
	if b.detected {
		b.counts.signs.look(r.path)
	}
	start := len(b.arena)
	arena, ok := b.encoding.appendDecoded(b.arena, r.path)
	if !ok || len(arena) == start {
		b.counts.Undecodable++
		b.arena = b.arena[:start]
		return nil
	}
	row := Row{Size: r.size, Modified: r.modified, Kind: store.File}
	if r.created.After(r.modified) && !r.modified.IsZero() {
		row.Modified = r.created
	}
	switch {
	case r.bucket != nil:
		row.Place = b.place(r.bucket)
	case r.relative:
		row.Place = b.root
	case b.containerFirst:
		container, _, found := bytes.Cut(arena[start:], []byte("/"))
		if !found {
			b.counts.Undecodable++
			b.arena = arena[:start]
			return nil
		}
		row.Place = b.place(container)
		arena = append(arena[:start], arena[start+len(container)+1:]...)
	}
	if name, ok := bytes.CutSuffix(arena[start:], []byte("/")); ok {
		row.Kind = store.Marker
		arena = arena[:start+len(name)]
	}
	end := len(arena)
	if r.directory {
		row.Kind = store.Dir
	}
	arena = b.appendETag(arena, r)
	b.arena = arena
	if b.replay != nil {
		b.changes = append(b.changes, b.change(r))
	}
	if !r.deleted {
		b.count(&row)
	}
	b.rows = append(b.rows, row)
	b.spans = append(b.spans, [4]int{start, end, end, len(arena)})
	if len(b.rows) == batchRows {
		return b.flush()
	}
	return nil
}

// appendETag appends the entity tag as the store itself spells it, nothing
// where that isn't known: S3 and Azure put it in quotes, which their reports
// leave out, and GCS's stores know generations, which are numbers.
func (b *batch) appendETag(arena []byte, r *raw) []byte {
	switch bucket := r.bucket != nil || b.containerFirst; {
	case len(r.etag) == 0, !bucket && !b.own:
		return arena
	case !bucket:
		return append(arena, r.etag...)
	case b.scheme == "gs":
		if size(r.etag) < 0 {
			return arena
		}
		return append(arena, r.etag...)
	case r.etag[0] == '"':
		return append(arena, r.etag...)
	}
	return append(append(append(arena, '"'), r.etag...), '"')
}

func (b *batch) count(row *Row) {
	if row.Kind != store.File {
		b.counts.Directories++
	} else if row.Modified.IsZero() {
		b.counts.UnknownTimes++
	}
	if row.Size < 0 {
		b.counts.UnknownSizes++
	}
}

// place returns the place of a bucket.
func (b *batch) place(bucket []byte) string {
	if s, ok := b.places[string(bucket)]; ok {
		return s
	}
	s := b.scheme + "://" + string(bucket)
	b.places[string(bucket)] = s
	return s
}

// flush hands the rows on.
func (b *batch) flush() error {
	if len(b.rows) == 0 {
		return nil
	}
	text := string(b.arena)
	for i, s := range b.spans {
		b.rows[i].Name, b.rows[i].ETag = text[s[0]:s[1]], text[s[2]:s[3]]
	}
	if b.replay != nil {
		b.failed = b.replay.add(b.rows, b.changes)
	} else {
		b.failed = b.emit(b.rows)
	}
	b.rows, b.spans, b.arena, b.changes = b.rows[:0], b.spans[:0], b.arena[:0], b.changes[:0]
	return b.failed
}
