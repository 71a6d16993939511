package logblock

import (
	"fmt"
	"io"
	"strings"

	"github.com/lakesweep/lakesweep/lake"
)

// Type is the type of a block, by its ordinal.
type Type int32

// The types of blocks.
const (
	Command Type = iota
	Delete
	Corrupt // never stored: a torn block as Blocks yields it
	AvroData
	HFileData
	ParquetData
	CDCData
)

// Header is the key of a header entry, by its ordinal.
type Header int32

// The header keys that matter to a reader.
const (
	InstantTime         Header = 0
	TargetInstantTime   Header = 1
	Schema              Header = 2 // Avro JSON
	CommandType         Header = 3 // "0": rollback
	CompactedBlockTimes Header = 4 // comma list
	RecordPositions     Header = 5
	BlockIdentifier     Header = 6
	IsPartial           Header = 7
	BaseInstantTime     Header = 8
)

const (
	magic         = "#HUDI#"
	formatVersion = 1
	rollback      = "0"
	frameSize     = 6 + 8 // what lies before a block's length begins to count
)

// Block is one block of a log file. Its content is read on demand.
type Block struct {
	Type    Type
	Header  map[Header]string
	Offset  int64 // of the magic
	Length  int64 // from magic to end
	content *io.SectionReader
}

// Content reads the content whole. A Corrupt block's is all its bytes.
func (b Block) Content() ([]byte, error) {
	p := make([]byte, b.content.Size())
	if n, err := b.content.ReadAt(p, 0); n < len(p) {
		return nil, damaged("content at %d ends early: %w", b.Offset, err)
	}
	return p, nil
}

// Section gives random access to the content, such as an HFile or Parquet file.
func (b Block) Section() *io.SectionReader { return b.content }

// Instant is the instant that wrote the block.
func (b Block) Instant() string { return b.Header[InstantTime] }

// RollsBack returns the instant that a rollback block takes back, "" for other blocks.
func (b Block) RollsBack() string {
	if b.Type == Command && b.Header[CommandType] == rollback {
		return b.Header[TargetInstantTime]
	}
	return ""
}

// Compacts returns the instants whose blocks a log-compacted block replaces.
func (b Block) Compacts() []string {
	list := b.Header[CompactedBlockTimes]
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}

func damaged(format string, args ...any) error {
	return &lake.Error{Op: "read log file", Kind: lake.Damaged, Err: fmt.Errorf(format, args...)}
}

func unsupported(format string, args ...any) error {
	return &lake.Error{Op: "read log file", Kind: lake.Unsupported, Err: fmt.Errorf(format, args...)}
}
