// Package logline reads the lines of a Delta log: strictly, and in one pass,
// since most of a replay's work is here. It knows the shape of actions and
// nothing of tables.
package logline

import (
	"errors"
	"fmt"
	"strconv"
)

// Op is what a line of the log is.
type Op uint8

// The actions that matter.
const (
	None Op = iota // nothing that matters here: txn, domainMetadata, unknown actions
	Add
	Remove
	CDC
	Metadata
	Protocol
	CommitInfo
	Sidecar
	CheckpointMetadata
)

var opNames = map[string]Op{"metaData": Metadata, "protocol": Protocol, "commitInfo": CommitInfo,
	"sidecar": Sidecar, "checkpointMetadata": CheckpointMetadata}

// Action is one line of a commit, or one row of a checkpoint.
type Action struct {
	Op      Op
	Path    string // as stored
	DV      *DV
	Size    int64  // bytes, -1 if unknown
	Removed int64  // deletionTimestamp in ms, 0 if absent
	Values  int32  // what Parse's values made of its partition values, 0 if unknown or not asked for
	Raw     []byte // the action's object, for all but files; valid until the next line
}

// DV is the descriptor of a deletion vector.
type DV struct {
	Storage string
	Text    string // pathOrInlineDv
	Offset  int64  // -1 if absent
}

// ID is the second half of an action's identity.
//
// Source: Delta PROTOCOL.md "Deletion Vectors", derived field uniqueId.
func (d *DV) ID() string {
	if d.Offset < 0 {
		return d.Storage + d.Text
	}
	return d.Storage + d.Text + "@" + strconv.FormatInt(d.Offset, 10)
}

// Parse reads one line of a commit or of a JSON checkpoint. values interns
// the object of partitionValues; nil skips it. Unknown actions and members are
// ignored, as the protocol wants; two actions in one line, a member twice, or a
// file without a path are faults.
func Parse(line []byte, values func(raw []byte) (int32, error)) (Action, error) {
	a := Action{Size: -1}
	s := scanner{b: line}
	if !s.expect('{') {
		return a, s.err
	}
	var seen uint
	for first := true; ; first = false {
		name, ok := s.member(first)
		if !ok {
			break
		}
		kind := None
		switch string(name) {
		case "add":
			kind = Add
		case "remove":
			kind = Remove
		case "cdc":
			kind = CDC
		default:
			kind = opNames[string(name)]
		}
		if kind == None {
			s.skip(0)
			continue
		}
		s.once(&seen, uint(kind)) // a null too: to some readers it would take the other back
		if s.null() {
			continue
		}
		if a.Op != None {
			s.fail(errors.New("two actions in one line"))
			break
		}
		if s.space() != '{' {
			s.fail(errType)
			break
		}
		a.Op = kind
		if kind <= CDC {
			if err := s.file(&a, values); err != nil {
				return a, err
			}
		} else {
			a.Raw = s.raw()
		}
	}
	s.end()
	return a, s.err
}

// file reads the object of an add, remove or cdc.
func (s *scanner) file(a *Action, values func([]byte) (int32, error)) error {
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
			a.Path, hasPath = s.string(), true
		case "partitionValues":
			s.once(&seen, 1)
			if raw := s.raw(); values != nil && len(raw) > 0 && raw[0] == '{' {
				id, err := values(raw)
				if err != nil {
					return err
				}
				a.Values = id
			}
		case "size":
			s.once(&seen, 2)
			if !s.null() {
				a.Size = s.int()
			}
		case "deletionTimestamp":
			s.once(&seen, 3)
			if !s.null() {
				a.Removed = s.int()
			}
		case "deletionVector":
			s.once(&seen, 4)
			if !s.null() {
				a.DV = s.deletionVector()
			}
		default:
			s.skip(0)
		}
	}
	if s.err == nil && (!hasPath || a.Path == "") {
		s.fail(errors.New("a file without a path"))
	}
	return s.err
}

func (s *scanner) deletionVector() *DV {
	if s.space() != '{' {
		s.fail(errType)
		return nil
	}
	s.i++
	d := &DV{Offset: -1}
	var seen uint
	for first := true; ; first = false {
		name, ok := s.member(first)
		if !ok {
			break
		}
		switch string(name) {
		case "storageType":
			s.once(&seen, 0)
			d.Storage = s.string()
		case "pathOrInlineDv":
			s.once(&seen, 1)
			d.Text = s.string()
		case "offset":
			s.once(&seen, 2)
			if !s.null() {
				d.Offset = s.int()
			}
		default:
			s.skip(0)
		}
	}
	if s.err == nil && (d.Storage == "" || seen&2 == 0) {
		s.fail(fmt.Errorf("a deletion vector without storageType or pathOrInlineDv"))
	}
	return d
}
