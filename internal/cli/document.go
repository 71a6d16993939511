package cli

import (
	"bytes"
	"errors"
	"io"

	"github.com/lakesweep/lakesweep/report"
)

// documents is standard output with -o json: it keeps the end of the last
// document back, so that an error can still become a field of it.
type documents struct {
	w    io.Writer
	open bool // a document's end is kept back
}

const documentEnd = "}\n"

func (d *documents) Write(b []byte) (int, error) {
	if err := d.seal(); err != nil {
		return 0, err
	}
	body, ends := bytes.CutSuffix(b, []byte(documentEnd))
	n, err := d.w.Write(body)
	if err == nil && ends {
		n, d.open = len(b), true
	}
	return n, err
}

// seal ends the document that is open, if one is: what follows is another.
func (d *documents) seal() error {
	if !d.open {
		return nil
	}
	d.open = false
	_, err := io.WriteString(d.w, documentEnd)
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
	if d.open {
		lead = `,"error":`
		text.Truncate(text.Len() - 1) // the line's end comes with the document's
	}
	_, err := io.WriteString(d.w, lead+text.String())
	return errors.Join(err, d.seal())
}

// toldError is an error that the user has been told.
type toldError struct{ error }

func (e toldError) Unwrap() error { return e.error }
