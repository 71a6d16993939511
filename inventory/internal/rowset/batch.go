package rowset

import (
	"bytes"

	"github.com/lakesweep/lakesweep/inventory/internal/value"
	"github.com/lakesweep/lakesweep/store"
)

// batchRows is how many rows are handed on at once.
const batchRows = 2048

// Spelling is how the rows of a list name objects.
type Spelling struct {
	Scheme         string // of the bucket column: "s3", "gs", "az"
	Encoding       value.Encoding
	Detected       bool   // the encoding is a guess, which each name has to fit
	ContainerFirst bool   // the path begins with the container: Azure Blob Inventory
	Root           string // the place of relative paths, if the list itself names it
	Latest         bool   // a column says which version is the latest
	Own            bool   // a list that lakesweep wrote
	Journal        bool   // rows tell of changes, and columns say in which order
	Versions       bool   // a column says which version a row is about
}

// Fits reports whether the encoding that was detected fits all names that were
// read, and no other does better.
func (s Spelling) Fits(c Counts) bool {
	e, ok := c.signs.Encoding()
	return !s.Detected || ok && e == s.Encoding
}

// Run is one reading of a list. Safe for concurrent use.
type Run struct {
	Clock  value.Times
	Emit   func([]Row) error
	Replay *Replay // of a journal; nil otherwise
	Tally  *Tally
}

// Batch gathers rows for one worker and hands them on.
type Batch struct {
	Spelling
	emit   func([]Row) error
	places map[string]string
	arena  []byte
	rows   []Row
	spans  [][4]int // name and ETag in the arena
	Counts Counts
	Failed error // what emit returned

	replay  *Replay  // of a journal: takes the rows first; nil otherwise
	changes []change // of a journal: what each row tells
}

func NewBatch(s Spelling, r Run) *Batch {
	return &Batch{Spelling: s, replay: r.Replay, emit: r.Emit, places: make(map[string]string), rows: make([]Row, 0, batchRows), spans: make([][4]int, 0, batchRows)}
}

// Add judges a row and takes what is an object.
func (b *Batch) Add(r *Raw) error {
	if r.foreign {
		return nil
	}
	b.Counts.Rows++
	switch {
	case r.deleted:
		b.Counts.Deleted++
		if b.replay == nil {
			return nil
		}
	case r.snapshot, r.latest < 0, r.latest == 0 && len(r.version) > 0 && b.Latest:
		b.Counts.OldVersions++
		return nil
	}
	if b.Detected {
		b.Counts.signs.Look(r.Path)
	}
	start := len(b.arena)
	arena, ok := b.Encoding.AppendDecoded(b.arena, r.Path)
	if !ok || len(arena) == start {
		b.Counts.Undecodable++
		b.arena = b.arena[:start]
		return nil
	}
	row := Row{Size: r.Size, Modified: r.Modified, Kind: store.File}
	if r.Created.After(r.Modified) && !r.Modified.IsZero() {
		row.Modified = r.Created
	}
	if row.Place, arena, ok = b.placed(r, arena, start); !ok {
		b.Counts.Undecodable++
		b.arena = arena[:start]
		return nil
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
		return b.Flush()
	}
	return nil
}

// placed returns the place of a row whose name begins at start of the arena, and
// the arena without a container in that name; false for a name that should have one.
func (b *Batch) placed(r *Raw, arena []byte, start int) (string, []byte, bool) {
	switch {
	case r.bucket != nil:
		return b.place(r.bucket), arena, true
	case r.relative:
		return b.Root, arena, true
	case !b.ContainerFirst:
		return "", arena, true
	}
	container, _, found := bytes.Cut(arena[start:], []byte("/"))
	if !found {
		return "", arena, false
	}
	place := b.place(container)
	return place, append(arena[:start], arena[start+len(container)+1:]...), true
}

// appendETag appends the entity tag as the store itself spells it, nothing
// where that isn't known: S3 and Azure put it in quotes, which their reports
// leave out, and GCS's stores know generations, which are numbers.
func (b *Batch) appendETag(arena []byte, r *Raw) []byte {
	switch bucket := r.bucket != nil || b.ContainerFirst; {
	case len(r.etag) == 0, !bucket && !b.Own:
		return arena
	case !bucket:
		return append(arena, r.etag...)
	case b.Scheme == "gs":
		if value.Size(r.etag) < 0 {
			return arena
		}
		return append(arena, r.etag...)
	case r.etag[0] == '"':
		return append(arena, r.etag...)
	}
	return append(append(append(arena, '"'), r.etag...), '"')
}

func (b *Batch) count(row *Row) {
	if row.Kind != store.File {
		b.Counts.Directories++
	} else if row.Modified.IsZero() {
		b.Counts.UnknownTimes++
	}
	if row.Size < 0 {
		b.Counts.UnknownSizes++
	}
}

// place returns the place of a bucket.
func (b *Batch) place(bucket []byte) string {
	if s, ok := b.places[string(bucket)]; ok {
		return s
	}
	s := b.Scheme + "://" + string(bucket)
	b.places[string(bucket)] = s
	return s
}

// Flush hands the rows on.
func (b *Batch) Flush() error {
	if len(b.rows) == 0 {
		return nil
	}
	text := string(b.arena)
	for i, s := range b.spans {
		b.rows[i].Name, b.rows[i].ETag = text[s[0]:s[1]], text[s[2]:s[3]]
	}
	if b.replay != nil {
		b.Failed = b.replay.add(b.rows, b.changes)
	} else {
		b.Failed = b.emit(b.rows)
	}
	b.rows, b.spans, b.arena, b.changes = b.rows[:0], b.spans[:0], b.arena[:0], b.changes[:0]
	return b.Failed
}
