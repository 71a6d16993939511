package delta

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"github.com/go-json-experiment/json"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table"
	"github.com/lakesweep/lakesweep/table/delta/logdir"
	"github.com/lakesweep/lakesweep/table/delta/logfault"
)

// RecorderOptions says what a run leaves in the log.
type RecorderOptions struct {
	CommitLog  string            // "auto" (or ""), "on", "off": VACUUM START and END commits
	Engine     string            // engineInfo, "lakesweep/0.1.0"
	Journal    func(name string) // told each object of the log before it is written; nil: nobody
	Guardian   table.Guardian    // judges the plan again after a commit of another writer; nil: only protocol and metadata are checked
	Full       bool              // the plan is of mode full
	Unfiltered bool              // neither predicate nor inventory: the watermark may move
	Next       *int64            // LiteRange.Next of the plan

	RetentionCheck     bool   // the retention check was on
	DefaultRetention   int64  // ms, of the table's property
	SpecifiedRetention *int64 // ms, as asked for; nil: not asked
}

// commitTries bounds how often a commit is tried again after a conflict.
const commitTries = 100

// recorder writes the commits of a run. It is used by one goroutine at a time.
type recorder struct {
	t       *Table // as it is now
	tail    *guardian
	w       store.Writer
	o       RecorderOptions
	commits bool
	started bool
}

// Recorder writes VACUUM START and END and, last and only after a complete
// unfiltered run, _last_vacuum_info. w must be confined to the log; names are
// those of the table's own store.
//
// Errors: Refused for CommitLog "on" where the store's put-if-absent isn't
// respected by all writers; Invalid for another word.
// Source: spec/delta-vacuum.md section 4, 3.5.
func (t *Table) Recorder(w store.Writer, o RecorderOptions) (table.Recorder, error) {
	safe := t.r.Traits().PutIfAbsent
	switch o.CommitLog {
	case "", "auto", "off":
	case "on":
		if !safe {
			return nil, &lake.Error{Op: "record run", Table: t.root.String(), Kind: lake.Refused, Code: "commit_log",
				Err:  errors.New("not all writers of this store respect a put-if-absent: a commit of ours could erase another's"),
				Hint: "Use --commit-log off (or auto) here."}
		}
	default:
		return nil, &lake.Error{Op: "record run", Table: t.root.String(), Kind: lake.Invalid, Err: fmt.Errorf("commit log %q", o.CommitLog), Hint: "It is auto, on or off."}
	}
	r := &recorder{t: t, w: w, o: o, commits: safe && o.CommitLog != "off"}
	return r, r.follow(t)
}

// follow makes r go on from t.
func (r *recorder) follow(t *Table) error {
	tail, err := t.Guardian(t.State(), false)
	if err != nil {
		return err
	}
	r.t, r.tail = t, tail.(*guardian)
	return nil
}

// vacuumCommit is the commitInfo of START and END. The order of its members
// is the one that Spark writes.
type vacuumCommit struct {
	ICT        *int64            `json:"inCommitTimestamp,omitempty"` // the first member: readers of in-commit timestamps stop there
	Timestamp  int64             `json:"timestamp"`
	Operation  string            `json:"operation"`
	Parameters any               `json:"operationParameters"`
	Version    int64             `json:"readVersion"`
	Isolation  string            `json:"isolationLevel"`
	Blind      bool              `json:"isBlindAppend"`
	Metrics    map[string]string `json:"operationMetrics,omitempty"`
	Engine     string            `json:"engineInfo,omitempty"`
	Txn        string            `json:"txnId"`
}

type startParameters struct {
	Check     bool   `json:"retentionCheckEnabled"`
	Default   int64  `json:"defaultRetentionMillis"`
	Specified *int64 `json:"specifiedRetentionMillis,omitempty"`
	Predicate string `json:"predicate,omitempty"`
}

type endParameters struct {
	Status string `json:"status"`
}

// Begin commits VACUUM START; of a run that has nothing to do only with "on",
// for a nightly run would fill the log with commits about nothing. (Spark
// writes them then too, delta-rs doesn't: spec/delta-vacuum.md section 4.)
// Where earlier runs did it all, it only sees whether the last of them was
// killed before its VACUUM END, which Complete then writes.
func (r *recorder) Begin(ctx context.Context, intent table.Intent) (err error) {
	switch {
	case !r.commits:
		return nil
	case r.o.CommitLog == "on":
	case intent.Idle:
		return nil
	case intent.Done:
		r.started, err = r.unended(ctx, intent)
		return err
	}
	p := startParameters{Check: r.o.RetentionCheck, Default: r.o.DefaultRetention, Specified: r.o.SpecifiedRetention, Predicate: intent.Where}
	err = r.commit(ctx, vacuumCommit{Operation: opStart, Parameters: p, Metrics: startMetrics(intent)})
	r.started = err == nil
	return err
}

// Confirm does nothing: the log holds no single files.
func (r *recorder) Confirm(context.Context, []lake.Key) error { return nil }

// Complete commits VACUUM END, then moves the watermark.
func (r *recorder) Complete(ctx context.Context, result table.Result) error {
	if result.Failed > 0 {
		return r.Fail(ctx, result)
	}
	if r.started {
		err := r.end(ctx, vacuumCommit{Parameters: endParameters{"COMPLETED"}, Metrics: map[string]string{
			"numDeletedFiles":        strconv.FormatInt(result.Deleted+result.Directories, 10),
			"numVacuumedDirectories": strconv.FormatInt(result.Directories, 10)}})
		if err != nil {
			return err
		}
	}
	if !result.Complete || !r.o.Unfiltered {
		return nil
	}
	return r.moveWatermark(ctx)
}

// Fail commits VACUUM END with the status FAILED.
func (r *recorder) Fail(ctx context.Context, _ table.Result) error {
	if !r.started {
		return nil
	}
	return r.end(ctx, vacuumCommit{Parameters: endParameters{"FAILED"}})
}

// end commits a VACUUM END. Objects are gone by then, so that a change of the
// metadata is no reason to leave the record out: the table is opened again.
func (r *recorder) end(ctx context.Context, c vacuumCommit) error {
	c.Operation = opEnd
	r.o.Guardian = nil
	r.started = false
	err := r.commit(ctx, c)
	if lake.KindOf(err) != lake.Stale {
		return err
	}
	fresh, err := Open(ctx, r.t.r, r.t.root, r.t.o)
	if err != nil {
		return err
	}
	if err := r.follow(fresh); err != nil {
		return err
	}
	return r.commit(ctx, c)
}

// commit writes c as the next version, as often as others come first.
func (r *recorder) commit(ctx context.Context, c vacuumCommit) error {
	for try := range commitTries {
		before := r.tail.version
		if err := r.tail.Refresh(ctx); err != nil {
			return err
		}
		if (try > 0 || r.tail.version > before) && r.o.Guardian != nil {
			if err := r.o.Guardian.Refresh(ctx); err != nil {
				return err
			}
		}
		body, err := r.body(ctx, c)
		if err != nil {
			return err
		}
		name := logdir.CommitName(r.tail.version + 1)
		if r.o.Journal != nil {
			r.o.Journal(name)
		}
		err = r.w.PutIfAbsent(ctx, name, body)
		if err == nil {
			return nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return &lake.Error{Op: "commit " + c.Operation, Table: r.t.root.String(), Key: lake.Key(name), Kind: logfault.KindOf(err), Err: err}
		}
	}
	return &lake.Error{Op: "commit " + c.Operation, Table: r.t.root.String(), Kind: lake.Transient,
		Err: fmt.Errorf("other writers came first %d times", commitTries), Hint: "Run again when the table is calmer, or use --commit-log off."}
}

// body renders c for the version after the tail's.
func (r *recorder) body(ctx context.Context, c vacuumCommit) ([]byte, error) {
	now := r.t.o.Now().UnixMilli()
	c.Timestamp, c.Version, c.Isolation, c.Blind, c.Engine = now, r.tail.version, "SnapshotIsolation", true, r.o.Engine
	c.Txn = newUUID()
	if r.t.log.Metadata.ICT(r.tail.version + 1) {
		at, err := r.lastICT(ctx)
		if err != nil {
			return nil, err
		}
		ict := max(now, at+1)
		c.ICT = &ict
	}
	line, err := json.Marshal(map[string]any{"commitInfo": c}, json.Deterministic(true))
	if err != nil {
		return nil, &lake.Error{Op: "commit " + c.Operation, Err: err}
	}
	return append(line, '\n'), nil
}

// lastICT is the time of the newest commit, in ms.
func (r *recorder) lastICT(ctx context.Context) (int64, error) {
	v := r.tail.version
	if at, ok := r.t.log.KnownTime(v); ok {
		return at.UnixMilli(), nil
	}
	if c := r.t.log.Segment.Commit(v); c != nil {
		at, err := r.t.log.CommitTime(ctx, *c)
		return at.UnixMilli(), err
	}
	return 0, nil
}

// newUUID returns a random UUID, version 4.
func newUUID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails (crypto/rand)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// moveWatermark writes what the run proved. It never moves back.
func (r *recorder) moveWatermark(ctx context.Context) error {
	old, err := r.t.ReadWatermark(ctx)
	if err != nil {
		return err
	}
	w := old
	if r.o.Next != nil && (w.Version == nil || *w.Version < *r.o.Next) {
		w.Version = r.o.Next
	}
	if r.o.Full {
		w.LastFull = r.t.o.Now().UTC()
	}
	if w == old {
		return nil
	}
	body, err := w.text()
	if err != nil {
		return err
	}
	if r.o.Journal != nil {
		r.o.Journal(watermarkName)
	}
	if _, err := r.w.Replace(ctx, watermarkName, body, ""); err != nil {
		return &lake.Error{Op: "write watermark", Table: r.t.root.String(), Key: watermarkName, Kind: logfault.KindOf(err), Err: err}
	}
	return nil
}
