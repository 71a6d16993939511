package blobqueue

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/parquet-go/parquet-go"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
)

// Dir is the folder of sidecars and intents, below a table's root.
const Dir = ".hoodie/.aux/clean"

const (
	queueDir     = Dir + "/pending_blob_deletes"
	snapshotExt  = ".parquet"
	partExt      = ".part"
	snapshotName = "%020d" + snapshotExt
	metaKey      = "lakesweep.blob_queue"

	maxTries = 10 // of an update that met another's
)

// Tuning of a Queue; the zero value is good.
type Tuning struct {
	PartRows  int // rows in a part, 0: 262,144
	PartBytes int // bytes of paths in a part, 0: 32 MiB
}

// Queue is the durable queue of one table. Safe for concurrent use, by several
// processes too.
type Queue struct {
	r  store.Reader
	w  store.Writer
	t  Tuning
	id func() string // names parts
}

// New returns the queue of the table at whose root r was opened. w is confined
// to .hoodie; it may be nil for one that is only read. id gives names that no
// two runs share; it may be nil without w.
func New(r store.Reader, w store.Writer, id func() string, t Tuning) *Queue {
	if t.PartRows <= 0 {
		t.PartRows = 1 << 18
	}
	if t.PartBytes <= 0 {
		t.PartBytes = 32 << 20
	}
	return &Queue{r: r, w: w, t: t, id: id}
}

// Meta is what a snapshot remembers beside its entries.
type Meta struct {
	Schema  int      `json:"schema"` // 1
	Entries int64    `json:"entries"`
	Parts   []string `json:"parts,omitempty"` // files that hold the first rows, in order
	Figures
}

// Figures are those of drains that a completed clean has still to report.
type Figures struct {
	Stats   Stats    `json:"stats,omitzero"`    // that no clean has set out to report
	Telling *Telling `json:"telling,omitempty"` // that a clean has; nil for none
}

// Telling are figures of drains that a clean was about to report. Whether it
// did is for the timeline to say.
type Telling struct {
	Clean string `json:"clean"` // its instant
	Stats Stats  `json:"stats"`
}

// Stats are the figures of drains, as a completed clean reports them.
type Stats struct {
	Deleted  int64    `json:"deleted,omitempty"` // those found gone included
	Retained int64    `json:"retained,omitempty"`
	Bytes    int64    `json:"bytes,omitempty"`
	Failed   []string `json:"failed,omitempty"` // the first hundred
}

const failedKept = 100

// Add adds the figures of another drain.
func (s Stats) Add(o Stats) Stats {
	s.Deleted += o.Deleted
	s.Retained += o.Retained
	s.Bytes += o.Bytes
	s.Failed = slices.Concat(s.Failed, o.Failed)
	s.Failed = s.Failed[:min(len(s.Failed), failedKept)]
	return s
}

// IsZero reports whether there is nothing to tell.
func (s Stats) IsZero() bool {
	return s.Deleted == 0 && s.Retained == 0 && s.Bytes == 0 && len(s.Failed) == 0
}

// Snapshot is the queue as it was at one moment. The zero Snapshot is an empty
// queue that was never written.
type Snapshot struct {
	Number int64
	Meta   Meta
	q      *Queue
	last   []byte // the file itself
}

// name is that of the snapshot's own file.
func (s *Snapshot) name() string { return queueDir + "/" + fmt.Sprintf(snapshotName, s.Number) }

// Load reads the newest snapshot, the zero one if there is none. Its last part
// is kept in memory.
//
// Errors: Damaged; those of the store.
func (q *Queue) Load(ctx context.Context) (*Snapshot, error) {
	for range maxTries {
		names, err := q.list(ctx)
		if err != nil {
			return nil, err
		}
		number := int64(0)
		for _, e := range names {
			if n, ok := snapshotNumber(e.Name); ok {
				number = max(number, n)
			}
		}
		if number == 0 {
			return &Snapshot{q: q}, nil
		}
		s, err := q.read(ctx, number)
		if errors.Is(err, fs.ErrNotExist) {
			continue // another run went two snapshots further
		}
		return s, err
	}
	return nil, q.raced()
}

func (q *Queue) raced() error {
	return &lake.Error{Op: "read blob queue", Kind: lake.Transient, Err: errors.New("other runs keep changing it"), Hint: "Run again."}
}

func (q *Queue) list(ctx context.Context) ([]store.Info, error) { return list(ctx, q.r, queueDir) }

// list returns the files in a folder, none if there is no such folder.
func list(ctx context.Context, r store.Reader, dir string) ([]store.Info, error) {
	var out []store.Info
	for e, err := range store.Folder(ctx, r, dir+"/") {
		if errors.Is(err, fs.ErrNotExist) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		if e.Kind == store.File {
			e.Name = strings.Clone(e.Name)
			out = append(out, e)
		}
	}
	return out, nil
}

func snapshotNumber(name string) (int64, bool) {
	text, ok := strings.CutSuffix(strings.TrimPrefix(name, queueDir+"/"), snapshotExt)
	if !ok || len(text) != 20 {
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil && n > 0
}

func (q *Queue) read(ctx context.Context, number int64) (*Snapshot, error) {
	s := &Snapshot{Number: number, q: q}
	name := s.name()
	var err error
	if s.last, err = readAll(ctx, q.r, name); err != nil {
		return nil, err
	}
	f, err := openEntries(name, s.last)
	if err != nil {
		return nil, err
	}
	text, ok := f.Lookup(metaKey)
	if ok {
		err = json.Unmarshal([]byte(text), &s.Meta)
	}
	switch {
	case err != nil:
		return nil, damaged(name, err)
	case ok && s.Meta.Schema != 1:
		return nil, &lake.Error{Op: "read blob queue", Key: lake.Key(name), Kind: lake.Unsupported, Err: fmt.Errorf("schema %d", s.Meta.Schema), Hint: "Use the version of lakesweep that wrote the queue, or a newer one."}
	case !ok: // another tool's
		s.Meta = Meta{Schema: 1, Entries: f.NumRows()}
	}
	return s, nil
}

func openEntries(name string, data []byte) (*parquet.File, error) {
	return open(name, bytes.NewReader(data), int64(len(data)), "externalPath", "enqueueInstant", "sourceCleanInstant")
}

func damaged(name string, err error) error {
	recovered(name, &err)
	return err
}

// Entries yields the entries in byte order of their paths.
//
// Memory: one part.
// Errors: Damaged, Transient if other runs went on meanwhile, once, as the last element.
func (s *Snapshot) Entries(ctx context.Context) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		if s.Number == 0 {
			return
		}
		stopped, n, last := false, int64(0), ""
		each := func(name string, data []byte) error {
			f, err := openEntries(name, data)
			if err != nil {
				return err
			}
			for _, group := range f.RowGroups() {
				var wrong error
				err := rows(name, group, func(r *entryRow) bool {
					e := r.entry()
					if n++; n > 1 && e.Path <= last || e.Path == "" {
						wrong = fmt.Errorf("%q after %q", e.Path, last)
						return false
					}
					last, stopped = e.Path, !yield(e, nil)
					return !stopped
				})
				if err == nil && wrong != nil {
					err = damaged(name, wrong)
				}
				if err != nil || stopped {
					return err
				}
			}
			return nil
		}
		err := s.files(ctx, each, &stopped)
		if err == nil && !stopped && n != s.Meta.Entries {
			err = damaged("", fmt.Errorf("snapshot %d has %d entries, its footer says %d", s.Number, n, s.Meta.Entries))
		}
		if err != nil && !stopped {
			yield(Entry{}, err)
		}
	}
}

// files calls each for the parts and the last file, until *stop.
func (s *Snapshot) files(ctx context.Context, each func(name string, data []byte) error, stop *bool) error {
	for _, part := range s.Meta.Parts {
		data, err := readAll(ctx, s.q.r, queueDir+"/"+part)
		if errors.Is(err, fs.ErrNotExist) {
			return s.q.raced()
		}
		if err == nil {
			err = each(part, data)
		}
		if err != nil || *stop {
			return err
		}
	}
	return each(s.name(), s.last)
}
