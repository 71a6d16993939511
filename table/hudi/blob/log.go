package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table/hudi/blob/shape"
	"github.com/lakesweep/lakesweep/table/hudi/logblock"
)

// logReader finds the references in the blocks of log files, whatever became
// of the blocks: one that was rolled back counts as one in flight. Safe for
// concurrent use.
type logReader struct {
	committed func(ctx context.Context, instant string) (bool, error)
	schemas   *schemas
}

// logResult is what the blocks of a log file are like.
type logResult struct {
	torn    bool // a block is torn
	pending bool // a block's instant isn't complete
}

// read yields the references of a log file.
//
// Errors: Damaged, Unsupported; the source's.
func (l *logReader) read(ctx context.Context, at io.ReaderAt, size int64, emit func(shape.Reference, bool) error) (res logResult, err error) {
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

func (l *logReader) block(ctx context.Context, b logblock.Block, res *logResult, emit func(shape.Reference, bool) error) error {
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
	each := func(r shape.Reference, marked bool) error {
		r.Pending = !done
		return emit(r, marked)
	}
	switch b.Type {
	case logblock.AvroData, logblock.CDCData:
		return l.avro(b, each)
	case logblock.ParquetData:
		return l.parquet(ctx, b, each)
	}
	return &lake.Error{Op: "read log file", Kind: lake.Unsupported, Err: fmt.Errorf("references in blocks of type %d can't be read", b.Type)}
}

func (l *logReader) avro(b logblock.Block, emit func(shape.Reference, bool) error) error {
	text := b.Header[logblock.Schema]
	known, err := l.schemas.get(text)
	if err != nil {
		return err
	}
	schema, marked := known.schema, known.blobs
	images := b.Type == logblock.CDCData && schema.Images()
	if !schema.Shaped() && !images {
		return nil
	}
	content, err := b.Content()
	if err != nil {
		return err
	}
	r := shape.Reader{Schema: schema, Emit: func(ref shape.Reference) error { return emit(ref, marked.Cover(ref.Column)) }}
	if images {
		r.Image = func(ref shape.Reference) error { return emit(ref, false) }
	}
	for record, err := range logblock.Records(content) {
		if err == nil {
			err = r.Read(record)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// schemas parses each schema once. Safe for concurrent use.
//
// Memory: the last few hundred schemas.
type schemas struct {
	mu    sync.Mutex
	known map[string]knownSchema
}

type knownSchema struct {
	schema *shape.Schema
	blobs  shape.Columns // of the logical type
}

// mostSchemas bounds what is kept.
const mostSchemas = 256

func (s *schemas) get(text string) (knownSchema, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k, ok := s.known[text]; ok {
		return k, nil
	}
	schema, err := shape.Parse(text)
	if err != nil {
		return knownSchema{}, err
	}
	k := knownSchema{schema, schema.Blobs()}
	if s.known == nil || len(s.known) >= mostSchemas {
		s.known = make(map[string]knownSchema)
	}
	s.known[strings.Clone(text)] = k
	return k, nil
}

// parquet reads a Parquet content.
func (l *logReader) parquet(ctx context.Context, b logblock.Block, emit func(shape.Reference, bool) error) error {
	section := b.Section()
	f, err := openParquet(newSource(ctx, contentStore{at: section}, "", section.Size()), l.schemas)
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
