package timeline

import (
	"bufio"
	"context"
	"errors"
	"io"

	"github.com/go-json-experiment/json"

	"github.com/lakesweep/lakesweep/lake"
)

// Schema returns the schema of the records, Avro as JSON, that a completed
// write's metadata holds, "" for none. It goes past the files written, however
// many.
//
// Memory: of layout 1 a window of the file, of layout 2 the file.
// Errors: those of the store; Damaged.
func (t *Timeline) Schema(ctx context.Context, i Instant) (text string, err error) {
	if i.Files[Completed] == "" {
		return "", &lake.Error{Op: "read timeline", Kind: lake.Damaged, Err: errNoFile(i, Completed)}
	}
	in, err := t.reader.Open(ctx, t.Dir+"/"+i.Files[Completed], 0, -1)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	body := &body{in: io.LimitReader(in, maxFile)}
	text, err = schemaIn(body)
	if body.err != nil { // it isn't the file that is damaged
		return "", body.err
	}
	if err != nil {
		return "", &lake.Error{Op: "read commit metadata", Kind: lake.Damaged, Err: err}
	}
	return text, nil
}

// schemaIn reads the schema out of commit metadata, Avro or JSON. No bytes are
// empty metadata.
func schemaIn(in io.Reader) (string, error) {
	window := bufio.NewReaderSize(in, 64<<10)
	magic, err := window.Peek(len(avroMagic))
	if len(magic) == 0 && errors.Is(err, io.EOF) {
		return "", nil
	}
	var m struct {
		Extra map[string]string `avro:"extraMetadata" json:"extraMetadata"`
	}
	if string(magic) == avroMagic {
		err = decodeAvro(window, &m)
	} else {
		err = json.UnmarshalRead(window, &m)
	}
	return m.Extra[schemaKey], err
}

// body remembers the error that a file couldn't be read with.
type body struct {
	in  io.Reader
	err error
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.in.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		b.err = err
	}
	return n, err
}
