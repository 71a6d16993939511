package filelist

import (
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/lakesweep/lakesweep/lake"
)

// recordLine is a Record as it stands in a journal.
type recordLine struct {
	Type       string      `json:"type"`
	At         time.Time   `json:"at"`
	Path       string      `json:"path,omitzero"`
	PathBase64 []byte      `json:"path_base64,omitzero"` // instead of path where it isn't UTF-8
	URI        string      `json:"uri,omitzero"`
	Directory  bool        `json:"directory,omitzero"`
	Checksum   bool        `json:"checksum,omitzero"`
	Size       *int64      `json:"size,omitzero"`
	Reason     lake.Reason `json:"reason,omitzero"`
	Outcome    string      `json:"outcome,omitzero"`
	Error      string      `json:"error,omitzero"`
}

func (r *Record) marshal() ([]byte, error) {
	l := recordLine{Type: r.Type, At: r.At.UTC(), URI: r.URI, Directory: r.Directory, Checksum: r.Checksum, Reason: r.Reason, Outcome: r.Outcome}
	if utf8.ValidString(string(r.Key)) {
		l.Path = string(r.Key)
	} else {
		l.PathBase64 = []byte(r.Key)
	}
	if r.Size >= 0 {
		l.Size = &r.Size
	}
	if utf8.ValidString(r.Error) {
		l.Error = r.Error
	} else {
		l.Error = fmt.Sprintf("%q", r.Error)
	}
	return json.Marshal(l)
}

func unmarshalRecord(line []byte) (Record, error) {
	var l recordLine
	if err := json.Unmarshal(line, &l); err != nil {
		return Record{}, err
	}
	r := Record{Type: l.Type, At: l.At.UTC(), Key: lake.Key(l.Path), URI: l.URI, Directory: l.Directory, Checksum: l.Checksum,
		Size: -1, Reason: l.Reason, Outcome: l.Outcome, Error: l.Error}
	if l.PathBase64 != nil {
		if l.Path != "" {
			return Record{}, errors.New("a record with two paths")
		}
		r.Key = lake.Key(l.PathBase64)
	}
	if l.Size != nil && *l.Size >= 0 {
		r.Size = *l.Size
	}
	switch {
	case r.Type != RecordIntent && r.Type != RecordOutcome:
		return Record{}, fmt.Errorf("a record of type %q", r.Type)
	case (r.Key == "") == (r.URI == ""):
		return Record{}, errors.New("a record that names no object, or two")
	case r.At.Year() < 0 || r.At.Year() > 9999: // in UTC, which RFC 3339 can't write
		return Record{}, fmt.Errorf("a record of the year %d", r.At.Year())
	case (r.Type == RecordOutcome) != (r.Outcome != ""):
		return Record{}, fmt.Errorf("an %s with the outcome %q", r.Type, r.Outcome)
	}
	return r, nil
}
