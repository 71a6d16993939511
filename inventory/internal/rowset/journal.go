package rowset

import (
	"encoding/binary"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/store"
)

// Replay reads a journal, whose rows tell of changes: one that names an object
// may be followed by one that deletes it. It sorts the changes by object and
// hands on the rows that no later change deletes. Where the order isn't certain,
// the row stays: it costs one look at the object.
//
// Memory: that of a filelist.Sorter, which spills, and deletionsKept.
//
// Source: Amazon S3 User Guide, "S3 Metadata journal tables schema": of one key
// the record with the larger sequence_number, compared as text, came later; a
// DELETE is a delete marker, or takes one version away for good.
type Replay struct {
	needed  func([]Row, []bool) // marks the rows that matter; nil needs all
	observe func([]Row)
	emit    func([]Row) error
	sorter  *filelist.Sorter
}

// deletionsKept is how many versions' deletions are remembered of one object.
const deletionsKept = 1000

// change is what a row of a journal tells of an object.
type change struct {
	kind    changeKind
	version string // "" where the bucket keeps none, or nobody says
	moment  moment
}

// changeKind tells changes apart. Of one object those come first that others are judged by.
type changeKind byte

const (
	removal  changeKind = '0' + iota // of one version, for good
	deletion                         // of the object, as a reader sees it
	presence                         // all else
)

// moment is where in the order of an object's changes one stands.
type moment struct {
	sequence string
	recorded time.Time
}

// after reports whether m is certain to be later than o.
func (m moment) after(o moment) bool {
	if m.sequence != "" && o.sequence != "" {
		return m.sequence > o.sequence
	}
	return !o.recorded.IsZero() && m.recorded.After(o.recorded)
}

// change reads a row's change.
func (b *Batch) change(r *Raw) change {
	c := change{kind: presence, version: string(r.version), moment: moment{string(r.sequence), r.Recorded}}
	switch {
	case !r.deleted:
	case r.marker, c.version == "" && b.Versions:
		c.kind = deletion
	default:
		c.kind = removal
	}
	return c
}

// NewReplay returns a Replay that hands rows on to emit. observe hears of all of
// them, needed marks those that matter; nil needs all. Close it.
func NewReplay(needed func([]Row, []bool), observe func([]Row), emit func([]Row) error) *Replay {
	return &Replay{needed: needed, observe: observe, emit: emit, sorter: filelist.NewSorter("", 0)}
}

// Close frees what the replay holds.
func (p *Replay) Close() error { return p.sorter.Close() }

// add takes rows and their changes. Safe for concurrent use.
func (p *Replay) add(rows []Row, changes []change) error {
	p.observe(rows)
	marks := make([]bool, len(rows))
	if p.needed != nil {
		p.needed(rows, marks)
	}
	var others []Row // folders, which tell of tables whatever came of them, and what isn't needed
	sorted := make([]lake.Verdict, 0, len(rows))
	for i := range rows {
		switch needed := p.needed == nil || marks[i]; {
		case needed && rows[i].Kind == store.File:
			sorted = append(sorted, carry(&rows[i], &changes[i]))
		case changes[i].kind == presence:
			others = append(others, rows[i])
		}
	}
	if err := p.sorter.AddAll(sorted); err != nil || len(others) == 0 {
		return err
	}
	return p.emit(others)
}

// Finish hands on what is there in the end, and counts the rows that a later one deleted.
func (p *Replay) Finish() (deleted int64, err error) {
	var at state
	rows := make([]Row, 0, batchRows)
	for v, err := range p.sorter.Sorted() {
		if err != nil {
			return deleted, err
		}
		row, c := carried(&v)
		switch {
		case c.kind != presence:
			at.delete(&row, c)
			continue
		case at.deleted(&row, c):
			deleted++
			continue
		}
		if rows = append(rows, row); len(rows) == batchRows {
			if err := p.emit(rows); err != nil {
				return deleted, err
			}
			rows = rows[:0]
		}
	}
	if len(rows) == 0 {
		return deleted, nil
	}
	return deleted, p.emit(rows)
}

// state is what is known of the deletions of one object.
type state struct {
	place, name string
	removals    map[string]moment // by version
	deletion    moment
}

// at makes the state that of an object.
func (s *state) at(row *Row) {
	if s.place != row.Place || s.name != row.Name {
		*s = state{place: row.Place, name: row.Name}
	}
}

// delete takes in a deletion; those of versions come first.
func (s *state) delete(row *Row, c change) {
	s.at(row)
	if c.kind == deletion {
		taken := c.version != "" && s.removals[c.version].after(c.moment) // a delete marker that was deleted itself
		if !taken && (s.deletion == moment{} || c.moment.after(s.deletion)) {
			s.deletion = c.moment
		}
		return
	}
	if s.removals == nil {
		s.removals = make(map[string]moment)
	}
	if known, ok := s.removals[c.version]; c.moment.after(known) || !ok && len(s.removals) < deletionsKept {
		s.removals[c.version] = c.moment
	}
}

// deleted reports whether what a row tells of was deleted later.
func (s *state) deleted(row *Row, c change) bool {
	s.at(row)
	return s.deletion.after(c.moment) || c.version != "" && s.removals[c.version].after(c.moment)
}

// carry packs a row and its change into a verdict for the sorter: the path
// orders by object and kind.
func carry(row *Row, c *change) lake.Verdict {
	path := binary.AppendUvarint(nil, uint64(len(row.Place)))
	path = append(append(path, row.Place...), row.Name...)
	return lake.Verdict{Key: lake.Key(append(path, 0, byte(c.kind))), URI: c.moment.sequence, Referrer: lake.Key(c.version),
		Size: row.Size, Modified: row.Modified, DueAt: c.moment.recorded, ETag: row.ETag}
}

// carried unpacks what carry packed.
func carried(v *lake.Verdict) (Row, change) {
	n, size := binary.Uvarint([]byte(v.Key[:min(len(v.Key), binary.MaxVarintLen64)]))
	place, end := size+int(n), len(v.Key)-2
	return Row{Place: string(v.Key[size:place]), Name: string(v.Key[place:end]), Size: v.Size, Modified: v.Modified, ETag: v.ETag},
		change{kind: changeKind(v.Key[end+1]), version: string(v.Referrer), moment: moment{v.URI, v.DueAt}}
}
