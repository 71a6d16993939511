// Package iceberg finds the data files of an Iceberg table's current snapshot:
// metadata file, manifest list, manifests.
//
// Invariants:
//
//  1. What could change the rows of a data file is refused by name: delete
//     files, deletion vectors, encryption, other formats than Parquet.
//  2. A file that is missing, cut or malformed is an error, never a shorter list.
//
// It doesn't read the data files, and knows nothing of their rows.
//
// Source: Iceberg Table Spec, format versions 1 to 3, "Table Metadata Fields",
// "Manifest Lists" and "Manifests" (iceberg.apache.org/spec).
package iceberg

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/twmb/avro"
	"github.com/twmb/avro/ocf"

	"github.com/lakesweep/lakesweep/lake"
)

// maxFile bounds a metadata file or a manifest.
const maxFile = 512 << 20

// Table is the current snapshot of a table.
type Table struct {
	Location string    // where the table was written: a URI or path, without a slash at the end
	Taken    time.Time // of the snapshot; zero if there is none
	Names    map[int]string
	Files    []File
}

// File is a data file in Parquet.
type File struct {
	Path string // as the manifest spells it; mostly below Location
	Size int64  // bytes
	Rows int64
}

// Read reads the table that a metadata file describes. open reads a file whole,
// unpacked, by the path that the metadata spells; location is the table's, as there.
//
// Errors: Damaged; Unsupported for what the first invariant names, or a newer format; open's.
func Read(ctx context.Context, metadata []byte, open func(ctx context.Context, location, path string) ([]byte, error)) (*Table, error) {
	m, err := parse(metadata)
	if err != nil {
		return nil, err
	}
	t := &Table{Location: strings.TrimRight(m.Location, "/"), Names: m.names()}
	s, err := m.current()
	if err != nil || s == nil {
		return t, err
	}
	t.Taken = time.UnixMilli(s.TimestampMs).UTC()
	if s.ManifestList == "" {
		return nil, unsupported("a snapshot without a manifest list")
	}
	data, err := open(ctx, t.Location, s.ManifestList)
	if err != nil {
		return nil, err
	}
	var manifests []manifest
	if err := decode(s.ManifestList, data, func(more func(any) error) error {
		var next manifest
		err := more(&next)
		if err == nil {
			manifests = append(manifests, next)
		}
		return err
	}); err != nil {
		return nil, err
	}
	for _, manifest := range manifests {
		if err := t.manifest(ctx, &manifest, open); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// metadata is what is read of a metadata file.
type metadata struct {
	FormatVersion     int        `json:"format-version"`
	Location          string     `json:"location"`
	CurrentSnapshotID *int64     `json:"current-snapshot-id"`
	CurrentSchemaID   int        `json:"current-schema-id"`
	Schema            *schema    `json:"schema"`  // of version 1
	Schemas           []schema   `json:"schemas"` // of version 2, and optional before
	Snapshots         []snapshot `json:"snapshots"`
}

type schema struct {
	ID     int `json:"schema-id"`
	Fields []struct {
		ID   int    `json:"id"`
		Name string `json:"name"`
	} `json:"fields"`
}

type snapshot struct {
	ID           int64  `json:"snapshot-id"`
	TimestampMs  int64  `json:"timestamp-ms"`
	ManifestList string `json:"manifest-list"`
}

func parse(data []byte) (*metadata, error) {
	var m metadata
	if err := json.Unmarshal(data, &m, jsontext.AllowDuplicateNames(true)); err != nil {
		return nil, damaged(fmt.Errorf("metadata file: %w", err))
	}
	switch {
	case m.FormatVersion < 1 || m.Location == "":
		return nil, damaged(errors.New("a metadata file without format-version or location"))
	case m.FormatVersion > 3:
		return nil, unsupported(fmt.Sprintf("format version %d", m.FormatVersion))
	}
	return &m, nil
}

// names returns the names of the current schema's columns by their ids.
func (m *metadata) names() map[int]string {
	out := make(map[int]string)
	for _, s := range m.Schemas {
		if s.ID == m.CurrentSchemaID {
			m.Schema = &s
			break
		}
	}
	if m.Schema != nil {
		for _, f := range m.Schema.Fields {
			out[f.ID] = f.Name
		}
	}
	return out
}

// current returns the current snapshot, nil for a table without one.
func (m *metadata) current() (*snapshot, error) {
	if m.CurrentSnapshotID == nil || *m.CurrentSnapshotID == -1 {
		return nil, nil
	}
	for i := range m.Snapshots {
		if m.Snapshots[i].ID == *m.CurrentSnapshotID {
			return &m.Snapshots[i], nil
		}
	}
	return nil, damaged(fmt.Errorf("the metadata file doesn't describe its current snapshot %d", *m.CurrentSnapshotID))
}

// manifest is an entry of a manifest list.
type manifest struct {
	Path    string  `avro:"manifest_path"`
	Content int     `avro:"content"` // 0 data, 1 deletes; version 1 lacks it
	Key     *[]byte `avro:"key_metadata"`
}

// entry is an entry of a manifest.
type entry struct {
	Status int `avro:"status"` // 0 existing, 1 added, 2 deleted
	File   struct {
		Content int     `avro:"content"` // 0 data, 1 position deletes, 2 equality deletes; version 1 lacks it
		Path    string  `avro:"file_path"`
		Format  string  `avro:"file_format"`
		Size    int64   `avro:"file_size_in_bytes"`
		Rows    int64   `avro:"record_count"`
		Key     *[]byte `avro:"key_metadata"`
	} `avro:"data_file"`
}

// manifest adds the live files of a manifest.
func (t *Table) manifest(ctx context.Context, m *manifest, open func(ctx context.Context, location, path string) ([]byte, error)) error {
	if m.Key != nil {
		return unsupported("an encrypted manifest " + m.Path)
	}
	data, err := open(ctx, t.Location, m.Path)
	if err != nil {
		return err
	}
	return decode(m.Path, data, func(more func(any) error) error {
		var e entry
		if err := more(&e); err != nil {
			return err
		}
		f := &e.File
		switch {
		case e.Status == 2:
			return nil
		case e.Status != 0 && e.Status != 1:
			return unsupported(fmt.Sprintf("the entry status %d in %s", e.Status, m.Path))
		case m.Content != 0 || f.Content != 0:
			return unsupported("the delete file " + f.Path)
		case !strings.EqualFold(f.Format, "parquet"):
			return unsupported(fmt.Sprintf("the data file %s in the format %s", f.Path, f.Format))
		case f.Key != nil:
			return unsupported("the encrypted data file " + f.Path)
		case f.Path == "" || f.Size <= 0:
			return damaged(fmt.Errorf("a data file %q of %d bytes in %s", f.Path, f.Size, m.Path))
		}
		t.Files = append(t.Files, File{Path: f.Path, Size: f.Size, Rows: f.Rows})
		return nil
	})
}

// decode calls each until more, which decodes the next record of an Avro file,
// finds none.
func decode(path string, data []byte, each func(more func(any) error) error) (err error) {
	fail := func(err error) error {
		if _, ok := errors.AsType[*lake.Error](err); ok {
			return err
		}
		return damaged(fmt.Errorf("%s: %w", path, err))
	}
	r, err := ocf.NewReader(bytes.NewReader(data), ocf.WithMaxBlockBytes(int64(len(data))+1), ocf.WithMaxDecompressedBlockBytes(maxFile), ocf.WithDecodeOpts(avro.SkipUnknown()))
	if err != nil {
		return fail(err)
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for {
		ended := false
		err := each(func(v any) error {
			err := r.Decode(v)
			ended = err == io.EOF
			return err
		})
		switch {
		case ended:
			return nil
		case err != nil:
			return fail(err)
		}
	}
}

func damaged(err error) error {
	return &lake.Error{Op: "read Iceberg table", Kind: lake.Damaged, Err: err, Hint: "See that the table can be read by its own engine, or export its rows as Parquet."}
}

func unsupported(what string) error {
	return &lake.Error{Op: "read Iceberg table", Kind: lake.Unsupported, Err: errors.New(what), Hint: "Rewrite the table's data files in its own engine (rewrite_data_files), or export its rows as Parquet."}
}
