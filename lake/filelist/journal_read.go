package filelist

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/keyset"
)

// maxLine bounds a line of a journal: names of objects are far shorter.
const maxLine = 1 << 20

// JournalReader reads a journal. Safe for concurrent use as far as its Log is.
type JournalReader struct {
	Head JournalHead
	log  Log
}

// ReadJournal reads the head of a journal.
//
// Errors: fs.ErrNotExist if there is no journal, or one whose head never got
// whole, so that nothing was done; Damaged; Unsupported for a newer schema.
func ReadJournal(ctx context.Context, log Log) (*JournalReader, error) {
	for line, err := range lines(ctx, log) {
		if err != nil {
			return nil, readError(log, err)
		}
		var head JournalHead
		if err := json.Unmarshal(line, &head); err != nil {
			return nil, readError(log, err)
		}
		if head.Type != "head" || head.PlanID == "" {
			return nil, readError(log, errors.New("the first line is no journal's head"))
		}
		if head.Schema != 1 {
			return nil, &lake.Error{Op: "read journal " + log.Place(), Kind: lake.Unsupported, Err: fmt.Errorf("schema %d", head.Schema),
				Hint: "Use the version of lakesweep that wrote the journal."}
		}
		return &JournalReader{Head: head, log: log}, nil
	}
	if err := tornHead(ctx, log); err != nil {
		return nil, readError(log, err)
	}
	return nil, readError(log, fs.ErrNotExist)
}

// tornHead fails if a log without any whole line holds something else than the
// beginning of a head: somebody's file, which no journal may go over.
func tornHead(ctx context.Context, log Log) (err error) {
	const head = `{"type":"head"`
	var have []byte
	log.Read(ctx, func(piece []byte, e error) bool {
		have, err = append(have, piece...), e
		return e == nil && len(have) < len(head)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if n := min(len(have), len(head)); err == nil && string(have[:n]) != head[:n] {
		return errors.New("the file is no journal")
	}
	return err
}

// Records yields all records in order. A torn last line, which a killed run
// leaves, is no record.
//
// Errors: Damaged or the log's own, once, as the last element.
func (j *JournalReader) Records(ctx context.Context) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		first := true
		for line, err := range lines(ctx, j.log) {
			if err == nil && first {
				first = false
				continue
			}
			var r Record
			if err == nil {
				r, err = unmarshalRecord(line)
			}
			if err != nil {
				yield(Record{}, readError(j.log, err))
				return
			}
			if !yield(r, nil) {
				return
			}
		}
	}
}

// Vanished returns the objects of the table that the journal records as
// deleted, gone or moved away at or after since, and not as restored: an
// inventory whose scan began at since may still show them. A set's few
// strangers only mean that an object of an inventory is kept.
func (j *JournalReader) Vanished(ctx context.Context, since time.Time) (*keyset.Set, error) {
	back := keyset.NewExact()
	for r, err := range j.Records(ctx) {
		if err != nil {
			return nil, err
		}
		if r.Type == RecordOutcome && r.Outcome == Restored {
			back.Add(string(r.Key))
		}
	}
	b := keyset.New()
	for r, err := range j.Records(ctx) {
		if err != nil {
			return nil, err
		}
		if r.Left() && r.Key != "" && !r.At.Before(since) && !back.Has(string(r.Key)) {
			b.Add(r.Key)
		}
	}
	return b.Done(), nil
}

// Settled reports whether what became of each object is known, in that no
// intent is without an outcome, and when the newest line was written: of a
// journal without records the head's time.
func (j *JournalReader) Settled(ctx context.Context) (last time.Time, ok bool, err error) {
	open := map[string]bool{}
	last = j.Head.Created
	for r, err := range j.Records(ctx) {
		if err != nil {
			return last, false, err
		}
		if r.At.After(last) {
			last = r.At
		}
		if name := r.URI + "\x00" + string(r.Key); r.Type == RecordIntent {
			open[name] = true
		} else {
			delete(open, name)
		}
	}
	return last, len(open) == 0, nil
}

// lines yields the whole lines of a log, without their ends. Each is valid
// until the next.
func lines(ctx context.Context, log Log) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		var rest []byte
		for piece, err := range func(yield func([]byte, error) bool) { log.Read(ctx, yield) } {
			if err != nil {
				yield(nil, err)
				return
			}
			for {
				i := bytes.IndexByte(piece, '\n')
				if i < 0 {
					break
				}
				line := piece[:i]
				if len(rest) > 0 {
					rest = append(rest, line...)
					line = rest
				}
				if !yield(line, nil) {
					return
				}
				rest, piece = rest[:0], piece[i+1:]
			}
			if rest = append(rest, piece...); len(rest) > maxLine {
				yield(nil, fmt.Errorf("a line of more than %d bytes", maxLine))
				return
			}
		}
	}
}

func readError(log Log, err error) error {
	if _, ok := errors.AsType[*lake.Error](err); ok {
		return err
	}
	kind := lake.Damaged
	switch {
	case errors.Is(err, fs.ErrNotExist):
		kind = lake.Invalid
	case errors.Is(err, fs.ErrPermission):
		kind = lake.Denied
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		kind = lake.Interrupted
	}
	return &lake.Error{Op: "read journal " + log.Place(), Kind: kind, Err: err, Hint: "Name the journal of a run with --journal."}
}
