package timeline

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/twmb/avro"
	"github.com/twmb/avro/ocf"

	"github.com/lakesweep/lakesweep/lake"
)

const avroMagic = "Obj\x01"

// decode reads the one record of an Avro container into v, by the schema that
// the file itself holds: fields that v lacks are skipped, fields that the file
// lacks stay zero. Commit metadata of layout 1 is JSON.
//
// Errors: Damaged.
func decode(what string, data []byte, v any) error {
	err := decodeAny(data, v)
	if err != nil {
		return &lake.Error{Op: "read " + what, Kind: lake.Damaged, Err: err}
	}
	return nil
}

func decodeAny(data []byte, v any) error {
	if !bytes.HasPrefix(data, []byte(avroMagic)) {
		if len(bytes.TrimSpace(data)) == 0 {
			return errors.New("no bytes")
		}
		if data[0] == 'O' {
			return io.ErrUnexpectedEOF
		}
		return json.Unmarshal(data, v)
	}
	return decodeAvro(bytes.NewReader(data), v)
}

// decodeAvro reads the one record of an Avro container.
func decodeAvro(in io.Reader, v any) error {
	r, err := ocf.NewReader(in, ocf.WithMaxBlockBytes(maxFile), ocf.WithMaxDecompressedBlockBytes(maxFile), ocf.WithDecodeOpts(avro.SkipUnknown()))
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // releases a codec, nothing is written
	if err := r.Decode(v); err != nil {
		if errors.Is(err, io.EOF) {
			return errors.New("no record")
		}
		return err
	}
	var more any
	if err := r.Decode(&more); !errors.Is(err, io.EOF) {
		return fmt.Errorf("more than one record, %w", err)
	}
	return nil
}

// encode writes v as an Avro container as Hudi does, without compression.
func encode(schema string, v any) ([]byte, error) {
	s, err := avro.Parse(schema)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w, err := ocf.NewWriter(&out, s)
	if err != nil {
		return nil, err
	}
	if err := w.Encode(v); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
