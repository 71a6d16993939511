package delta

import (
	"errors"
	"fmt"
	"strconv"
)

// op is what a line of the log is.
type op uint8

const (
	opNone op = iota // nothing that matters here: txn, domainMetadata, unknown actions
	opAdd
	opRemove
	opCDC
	opMetadata
	opProtocol
	opCommitInfo
	opSidecar
	opCheckpointMetadata
)

var opNames = map[string]op{"metaData": opMetadata, "protocol": opProtocol, "commitInfo": opCommitInfo,
	"sidecar": opSidecar, "checkpointMetadata": opCheckpointMetadata}

// action is one line of a commit, or one row of a checkpoint.
type action struct {
	op      op
	path    string // as stored
	dv      *dvRef
	size    int64  // bytes, -1 if unknown
	removed int64  // deletionTimestamp in ms, 0 if absent
	values  int32  // index of its partition values in a partitionTable, 0 if unknown or not asked for
	raw     []byte // the action's object, for all but files; valid until the next line
}

// dvRef is the descriptor of a deletion vector.
type dvRef struct {
	storage string
	text    string // pathOrInlineDv
	offset  int64  // -1 if absent
}

// id is the second half of an action's identity.
//
// Source: Delta PROTOCOL.md "Deletion Vectors", derived field uniqueId.
func (d *dvRef) id() string {
	if d.offset < 0 {
		return d.storage + d.text
	}
	return d.storage + d.text + "@" + strconv.FormatInt(d.offset, 10)
}

// parseLine reads one line of a commit or of a JSON checkpoint. values interns
// the object of partitionValues; nil skips it. Unknown actions and members are
// ignored, as the protocol wants; two actions in one line, a member twice, or a
// file without a path are faults.
func parseLine(line []byte, values func(raw []byte) (int32, error)) (action, error) {
	a := action{size: -1}
	s := scanner{b: line}
	if !s.expect('{') {
		return a, s.err
	}
	for first := true; ; first = false {
		name, ok := s.member(first)
		if !ok {
			break
		}
		kind := opNone
		switch string(name) {
		case "add":
			kind = opAdd
		case "remove":
			kind = opRemove
		case "cdc":
			kind = opCDC
		default:
			kind = opNames[string(name)]
		}
		if kind == opNone {
			s.skip(0)
			continue
		}
		if s.null() {
			continue
		}
		if a.op != opNone {
			s.fail(errors.New("two actions in one line"))
			break
		}
		if s.space() != '{' {
			s.fail(errType)
			break
		}
		a.op = kind
		if kind <= opCDC {
			if err := s.file(&a, values); err != nil {
				return a, err
			}
		} else {
			a.raw = s.raw()
		}
	}
	s.end()
	return a, s.err
}

// file reads the object of an add, remove or cdc.
func (s *scanner) file(a *action, values func([]byte) (int32, error)) error {
	s.expect('{')
	var seen uint
	var hasPath bool
	for first := true; ; first = false {
		name, ok := s.member(first)
		if !ok {
			break
		}
		switch string(name) {
		case "path":
			s.once(&seen, 0)
			a.path, hasPath = s.string(), true
		case "partitionValues":
			s.once(&seen, 1)
			if raw := s.raw(); values != nil && len(raw) > 0 && raw[0] == '{' {
				id, err := values(raw)
				if err != nil {
					return err
				}
				a.values = id
			}
		case "size":
			s.once(&seen, 2)
			if !s.null() {
				a.size = s.int()
			}
		case "deletionTimestamp":
			s.once(&seen, 3)
			if !s.null() {
				a.removed = s.int()
			}
		case "deletionVector":
			s.once(&seen, 4)
			if !s.null() {
				a.dv = s.deletionVector()
			}
		default:
			s.skip(0)
		}
	}
	if s.err == nil && (!hasPath || a.path == "") {
		s.fail(errors.New("a file without a path"))
	}
	return s.err
}

func (s *scanner) deletionVector() *dvRef {
	if s.space() != '{' {
		s.fail(errType)
		return nil
	}
	s.i++
	d := &dvRef{offset: -1}
	var seen uint
	for first := true; ; first = false {
		name, ok := s.member(first)
		if !ok {
			break
		}
		switch string(name) {
		case "storageType":
			s.once(&seen, 0)
			d.storage = s.string()
		case "pathOrInlineDv":
			s.once(&seen, 1)
			d.text = s.string()
		case "offset":
			s.once(&seen, 2)
			if !s.null() {
				d.offset = s.int()
			}
		default:
			s.skip(0)
		}
	}
	if s.err == nil && (d.storage == "" || seen&2 == 0) {
		s.fail(fmt.Errorf("a deletion vector without storageType or pathOrInlineDv"))
	}
	return d
}
