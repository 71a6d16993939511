package cli

import (
	"bytes"
	"errors"
	"io"

	"github.com/lakesweep/lakesweep/report"
)

// documents is standard output with -o json: it keeps the end of the last
// document back, so that an error can still become a field of it. Where one
// Write ends and the next begins means nothing.
type documents struct {
	w    io.Writer
	held string // what is kept back: "", documentEnd or its beginning
}

const documentEnd = "}\n"

func (d *documents) Write(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	if d.held == documentEnd[:1] && string(b) == documentEnd[1:] {
		d.held = documentEnd
		return len(b), nil
	}
	if err := d.seal(); err != nil {
		return 0, err
	}
	body, end := b, ""
	for _, end = range []string{documentEnd, documentEnd[:1], ""} {
		var ends bool
		if body, ends = bytes.CutSuffix(b, []byte(end)); ends {
			break
		}
	}
	n, err := d.w.Write(body)
	if err == nil {
		n, d.held = len(b), end
	}
	return n, err
}

// seal writes what is kept back, and so ends the document that is open, if one
// is: what follows is another.
func (d *documents) seal() error {
	if d.held == "" {
		return nil
	}
	held := d.held
	d.held = ""
	_, err := io.WriteString(d.w, held)
	return err
}

// fail prints an error: as a field of the document that is open, else as a
// document of its own.
func (d *documents) fail(row report.ErrorRow) error {
	var text bytes.Buffer
	if err := report.New(&text, report.Options{Format: report.JSON}).Error(row); err != nil {
		return err
	}
	lead := ""
	if d.held == documentEnd {
		lead = `,"error":`
		text.Truncate(text.Len() - 1) // the line's end comes with the document's
	} else if err := d.seal(); err != nil {
		return err
	}
	_, err := io.WriteString(d.w, lead+text.String())
	return errors.Join(err, d.seal())
}

// toldError is an error that the user has been told.
type toldError struct{ error }

func (e toldError) Unwrap() error { return e.error }
