package blob

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table/hudi/logblock"
)

// logReader finds the references in the blocks of log files, whatever became
// of the blocks: one that was rolled back counts as one in flight. Schemas are
// parsed once. One goroutine may use it.
type logReader struct {
	committed func(ctx context.Context, instant string) (bool, error)
	schemas   map[string]*avroSchema
	blobs     map[string]Columns // of the logical type, by schema
}

func newLogReader(committed func(ctx context.Context, instant string) (bool, error)) *logReader {
	return &logReader{committed: committed, schemas: make(map[string]*avroSchema), blobs: make(map[string]Columns)}
}

// logResult is what the blocks of a log file are like.
type logResult struct {
	torn    bool // a block is torn
	pending bool // a block's instant isn't complete
}

// read yields the references of a log file.
//
// Errors: Damaged, Unsupported; the source's.
func (l *logReader) read(ctx context.Context, at io.ReaderAt, size int64, emit func(Reference, bool) error) (res logResult, err error) {
	for b, err := range logblock.Blocks(at, size) {
		if err == nil {
			err = l.block(ctx, b, &res, emit)
		}
		if err != nil {
			return res, fmt.Errorf("block at %d: %w", b.Offset, err)
		}
	}
	return res, nil
}

func (l *logReader) block(ctx context.Context, b logblock.Block, res *logResult, emit func(Reference, bool) error) error {
	switch b.Type {
	case logblock.Corrupt:
		res.torn = true
		return nil
	case logblock.Command, logblock.Delete: // keys alone
		return nil
	}
	done, err := l.committed(ctx, b.Instant())
	if err != nil {
		return err
	}
	res.pending = res.pending || !done
	each := func(r Reference, marked bool) error {
		r.Pending = !done
		return emit(r, marked)
	}
	switch b.Type {
	case logblock.AvroData, logblock.CDCData:
		return l.avro(b, each)
	case logblock.ParquetData:
		return parquetBlock(ctx, b, each)
	}
	return &lake.Error{Op: "read log file", Kind: lake.Unsupported, Err: fmt.Errorf("references in blocks of type %d can't be read", b.Type)}
}

func (l *logReader) avro(b logblock.Block, emit func(Reference, bool) error) error {
	text := b.Header[logblock.Schema]
	schema, err := l.schema(text)
	if err != nil {
		return err
	}
	if !schema.shaped {
		return nil
	}
	marked := l.blobs[text]
	content, err := b.Content()
	if err != nil {
		return err
	}
	r := recordReader{schema: schema, emit: func(ref Reference) error { return emit(ref, marked.cover(ref.Column)) }}
	for record, err := range logblock.Records(content) {
		if err == nil {
			err = r.read(record)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (l *logReader) schema(text string) (*avroSchema, error) {
	if s := l.schemas[text]; s != nil {
		return s, nil
	}
	s, err := parseSchema(text)
	if err != nil {
		return nil, err
	}
	l.schemas[text] = s
	l.blobs[text], err = Detect(text)
	return s, err
}

// parquetBlock reads a Parquet content.
func parquetBlock(ctx context.Context, b logblock.Block, emit func(Reference, bool) error) error {
	section := b.Section()
	f, err := openParquet(newSource(ctx, contentStore{at: section}, "", section.Size()))
	if err != nil {
		return err
	}
	f.keys = true
	return f.references(emit)
}

// contentStore reads a block's content as an object.
type contentStore struct {
	store.Reader
	at io.ReaderAt
}

// Open implements the only method that a source calls.
func (c contentStore) Open(_ context.Context, _ string, off, length int64) (io.ReadCloser, error) {
	if length < 0 {
		return nil, errors.New("a content has an end")
	}
	return io.NopCloser(io.NewSectionReader(c.at, off, length)), nil
}
