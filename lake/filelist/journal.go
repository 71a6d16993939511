package filelist

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/lakesweep/lakesweep/lake"
)

// JournalHead is the first line of a journal.
type JournalHead struct {
	Type    string    `json:"type"`   // "head"
	Schema  int       `json:"schema"` // 1
	PlanID  string    `json:"plan_id"`
	Table   string    `json:"table"` // the root's URI
	Format  string    `json:"format,omitzero"`
	Tool    string    `json:"tool,omitzero"`
	Created time.Time `json:"created"`
	// Quarantine is the place that objects were moved to, below which they keep their keys; "" for a run that deletes.
	Quarantine string `json:"quarantine,omitzero"`
}

// The kinds of records.
const (
	RecordIntent  = "intent"  // what a batch is about to do, before it
	RecordOutcome = "outcome" // what the store confirmed, after it
)

// The outcomes of a record.
const (
	Deleted     = "deleted"
	Gone        = "gone"        // was absent
	Spared      = "spared"      // protected since the plan, younger or changed
	Quarantined = "quarantined" // moved
	Failed      = "failed"      // Record.Error says why
	Skipped     = "skipped"     // a limit was reached before
	Queued      = "queued"      // a blob that waits in the table's queue; in no journal
	Restored    = "restored"    // moved back from quarantine
	Purged      = "purged"      // deleted from quarantine
)

// Record is one line of a journal after the head.
type Record struct {
	Type      string      // RecordIntent or RecordOutcome
	At        time.Time   // UTC, our clock
	Key       lake.Key    // below the table's root; empty for a blob
	URI       string      // of a blob
	Directory bool        // an empty directory
	Checksum  bool        // the ".name.crc" that goes with a file on a local disk
	Size      int64       // bytes, -1 if unknown
	Reason    lake.Reason // why the object is dead
	Outcome   string      // of a RecordOutcome
	Error     string      // of a failed one
}

// Left reports whether the object left its place by this record: it was
// deleted, found gone, or moved to quarantine.
func (r *Record) Left() bool {
	return r.Type == RecordOutcome && (r.Outcome == Deleted || r.Outcome == Gone || r.Outcome == Quarantined)
}

// Log is an append-only file of a journal: FileLog, or segments in a store.
type Log interface {
	// Append adds whole lines. They are durable when it returns nil.
	Append(ctx context.Context, lines []byte) error
	// Read yields what was appended, in order, in pieces of any length; fs.ErrNotExist, once, if nothing was. The last line may be torn.
	Read(ctx context.Context, yield func([]byte, error) bool)
	// Place names the log for people.
	Place() string
}

// Journal records a run. Append is safe for concurrent use.
type Journal struct {
	log     Log
	head    JournalHead
	resumed bool

	mu      sync.Mutex
	next    *commit // what the next append to the log will hold
	writing bool    // somebody is at it
	err     error   // of the first append that failed: a line may be torn, nothing may follow it
}

// commit is the lines of several callers that become durable together.
type commit struct {
	lines bytes.Buffer
	done  chan struct{}
	err   error
}

// movedTo says where a run moves objects to.
func movedTo(quarantine string) string {
	if quarantine == "" {
		return "that deletes"
	}
	return "that moves to " + quarantine
}

// OpenJournal starts a journal, or goes on with the one that log holds if it
// is of the same plan, table and quarantine.
//
// Errors: Invalid if the log is another plan's; Damaged if it can't be read.
func OpenJournal(ctx context.Context, log Log, head JournalHead) (*Journal, error) {
	head.Type, head.Schema = "head", 1
	have, err := ReadJournal(ctx, log)
	if err == nil {
		if have.Head.PlanID == head.PlanID && have.Head.Table == head.Table && have.Head.Quarantine != head.Quarantine {
			return nil, &lake.Error{Op: "open journal", Table: head.Table, Kind: lake.Invalid,
				Err:  fmt.Errorf("%s is the journal of a run of this plan %s, not %s", log.Place(), movedTo(have.Head.Quarantine), movedTo(head.Quarantine)),
				Hint: "Go on with the same --quarantine, or without it as before; or make a new plan."}
		}
		if have.Head.PlanID != head.PlanID || have.Head.Table != head.Table {
			return nil, &lake.Error{Op: "open journal", Table: head.Table, Kind: lake.Invalid,
				Err:  fmt.Errorf("%s is the journal of plan %s of %s, not of plan %s", log.Place(), have.Head.PlanID, have.Head.Table, head.PlanID),
				Hint: "Name another file with --journal, or apply the plan that this journal belongs to, with the same --quarantine."}
		}
		return &Journal{log: log, head: have.Head, resumed: true}, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	line, err := json.Marshal(head)
	if err == nil {
		err = log.Append(ctx, append(line, '\n'))
	}
	if err != nil {
		return nil, journalError(log, lake.KindOf(err), err)
	}
	return &Journal{log: log, head: head}, nil
}

// Head returns the first line.
func (j *Journal) Head() JournalHead { return j.head }

// Resumed reports whether the journal holds an earlier run of the same plan.
func (j *Journal) Resumed() bool { return j.resumed }

// Place names the journal's file for people.
func (j *Journal) Place() string { return j.log.Place() }

// Records reads what the journal holds so far. Nothing may be appended meanwhile.
func (j *Journal) Records(ctx context.Context) (*JournalReader, error) {
	return ReadJournal(ctx, j.log)
}

// Append adds records. They are durable when it returns nil; after an error
// the run must stop, since nothing may be deleted that isn't in the journal.
// What many callers add at a time is made durable at once.
func (j *Journal) Append(ctx context.Context, records ...Record) error {
	var lines bytes.Buffer
	for i := range records {
		line, err := records[i].marshal()
		if err != nil {
			return journalError(j.log, lake.Internal, err)
		}
		lines.Write(line)
		lines.WriteByte('\n')
	}
	if lines.Len() == 0 {
		return nil
	}
	j.mu.Lock()
	c := j.next
	if c == nil {
		c = &commit{done: make(chan struct{})}
		j.next = c
	}
	c.lines.Write(lines.Bytes())
	if !j.writing {
		j.writing = true
		go j.write(context.WithoutCancel(ctx))
	}
	j.mu.Unlock()
	<-c.done
	return c.err
}

// write makes commits durable, one after the other, until there are no more.
// Each has callers that wait for it.
func (j *Journal) write(ctx context.Context) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for j.next != nil {
		c, err := j.next, j.err
		j.next = nil
		j.mu.Unlock()
		if err == nil {
			if err = j.log.Append(ctx, c.lines.Bytes()); err != nil {
				err = journalError(j.log, lake.KindOf(err), err)
			}
		}
		c.err = err
		close(c.done)
		j.mu.Lock()
		if j.err == nil {
			j.err = err
		}
	}
	j.writing = false
}

func journalError(log Log, kind lake.Kind, err error) error {
	return &lake.Error{Op: "write journal " + log.Place(), Kind: kind, Err: err,
		Hint: "Nothing is deleted without a journal. Make its place writable, or name another one with --journal."}
}
