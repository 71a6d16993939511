package catalog

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/lakesweep/lakesweep/inventory/internal/columns"
	"github.com/lakesweep/lakesweep/inventory/internal/csv"
	"github.com/lakesweep/lakesweep/inventory/internal/part"
	"github.com/lakesweep/lakesweep/inventory/internal/value"
)

// EncodingHint says how the user settles the encoding of names.
const EncodingHint = "Say how its names are encoded: --inventory-columns encoding=raw (as they are), percent (%XX) or form (%XX, and + is a space)."

// detect finds out from the beginnings of some files how the names of a CSV
// report are encoded. Rows checks it with every name.
//
// Errors: Invalid if it can't be told.
func (l *List) detect(ctx context.Context, source string) error {
	const most = 8
	cols, err := columns.Assign(l.Form.CSV.Names, l.Form.Explicit)
	if err != nil {
		return err
	}
	var seen value.Signs
	for i := range min(most, len(l.Parts)) {
		p := &l.Parts[i*len(l.Parts)/min(most, len(l.Parts))]
		head, _, err := p.Head(ctx)
		if err != nil {
			return err
		}
		if end := bytes.LastIndexByte(head, '\n'); len(head) == part.HeadBytes && end >= 0 {
			head = head[:end+1]
		}
		in := csv.NewSplitter(bytes.NewReader(head), l.Form.CSV.Comma)
		for {
			fields, err := in.Next()
			if err != nil { // the end, or damage, which shows when the file is read
				break
			}
			if at := cols[columns.Path]; at < len(fields) {
				seen.Look(fields[at])
			}
		}
	}
	e, ok := seen.Encoding()
	if !ok {
		return Invalid(source, errors.New("some names hold %XX beside characters that S3 would encode too"), EncodingHint)
	}
	if l.Form.Encoding = e; e != value.Form {
		l.Notes = append(l.Notes, fmt.Sprintf("the names aren't encoded as S3 does it, but %s", e))
	}
	return nil
}
