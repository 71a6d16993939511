package inventory

import (
	"bytes"
	"context"
	"errors"
	"fmt"
)

// signs is what the names of a list show of how they are encoded, for reports
// that ought to be form-encoded and may come from another store than S3.
//
// Source: S3 User Guide, "Amazon S3 Inventory list" (keys in CSV are
// URL-encoded); spec/listing-and-libraries.md A5 (as forms are).
type signs uint8

const (
	signPlus      signs = 1 << iota // a '+'
	signEscape                      // a %XX
	signSpace                       // the escape %20, which no form has
	signMalformed                   // a '%' that begins no escape
	signBare                        // a byte that no form leaves as it is
)

// bare are the signs of single bytes. Those that URL encoders differ about are none.
var bare = func() (out [256]signs) {
	for c := range out {
		if c <= ' ' || c > '~' || bytes.IndexByte([]byte(`"#<=>?[\]^{|}&`+"`"), byte(c)) >= 0 {
			out[c] = signBare
		}
	}
	out['+'] = signPlus
	return out
}()

// look adds the signs of a name.
func (s *signs) look(name []byte) {
	seen := *s
	for i := 0; i < len(name); i++ {
		c := name[i]
		seen |= bare[c]
		if c != '%' {
			continue
		}
		switch {
		case i+2 >= len(name) || unhex(name[i+1]) > 15 || unhex(name[i+2]) > 15:
			seen |= signMalformed
		case name[i+1] == '2' && name[i+2] == '0':
			seen |= signSpace | signEscape
			i += 2
		default:
			seen |= signEscape
			i += 2
		}
	}
	*s = seen
}

// encoding returns the one that all signs fit; false where they fit several
// that would read the names differently, or none.
func (s signs) encoding() (Encoding, bool) {
	switch {
	case s&signMalformed != 0:
		return Raw, true
	case s&signBare != 0:
		return Raw, s&signEscape == 0 // with escapes: plain names that hold them, or an encoder that leaves more
	case s&signSpace != 0:
		return Percent, true
	}
	return Form, true
}

const encodingHint = "Say how its names are encoded: --inventory-columns encoding=raw (as they are), percent (%XX) or form (%XX, and + is a space)."

// detect finds out from the beginnings of some files how the names of a CSV
// report are encoded. Rows checks it with every name.
//
// Errors: Invalid if it can't be told.
func (s *Source) detect(ctx context.Context) error {
	const most = 8
	cols, err := assign(s.form.csv.names, s.o.Columns)
	if err != nil {
		return err
	}
	var seen signs
	for i := range min(most, len(s.parts)) {
		p := &s.parts[i*len(s.parts)/min(most, len(s.parts))]
		head, _, err := s.head(ctx, p)
		if err != nil {
			return err
		}
		if end := bytes.LastIndexByte(head, '\n'); len(head) == headBytes && end >= 0 {
			head = head[:end+1]
		}
		in := newSplitter(bytes.NewReader(head), s.form.csv.comma)
		for {
			fields, err := in.next()
			if err != nil { // the end, or damage, which shows when the file is read
				break
			}
			if at := cols[rolePath]; at < len(fields) {
				seen.look(fields[at])
			}
		}
	}
	e, ok := seen.encoding()
	if !ok {
		return invalid(s.o.Source, errors.New("some names hold %XX beside characters that S3 would encode too"), encodingHint)
	}
	if s.form.encoding = e; e != Form {
		s.info.Notes = append(s.info.Notes, fmt.Sprintf("the names aren't encoded as S3 does it, but %s", e))
	}
	return nil
}

// checkEncoding compares what was detected with all names that were read.
//
// Errors: Invalid if another encoding fits better, or none.
func (s *Source) checkEncoding(seen signs) error {
	if e, ok := seen.encoding(); !s.form.detected || ok && e == s.form.encoding {
		return nil
	}
	return invalid(s.o.Source, fmt.Errorf("the first names look encoded as %s, later ones don't", s.form.encoding), encodingHint)
}
