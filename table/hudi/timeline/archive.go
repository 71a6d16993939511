package timeline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/parquet-go/parquet-go"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/column"
	"github.com/lakesweep/lakesweep/store"
)

// Archive is what the archived timeline says of completed instants.
type Archive struct {
	// Known reports whether there is an archive at all.
	Known bool
	// Completion maps requested times to completion times.
	Completion map[string]string
}

type manifest struct {
	Files []struct {
		Name string `json:"fileName"`
		Size int64  `json:"fileLen"`
	} `json:"files"`
}

type archivedInstant struct {
	Time       string `parquet:"instantTime"`
	Completion string `parquet:"completionTime,optional"`
}

// LoadArchive reads the archived timeline of layout 2, an LSM tree of Parquet
// files, in the folder dir. Only two of its columns are read.
//
// Memory: some 100 bytes an archived instant.
// Errors: Damaged.
// Source: spec/hudi-clean.md section 2.5.
func LoadArchive(ctx context.Context, r store.Reader, dir string) (Archive, error) {
	a := Archive{Completion: make(map[string]string)}
	n, ok, err := archiveVersion(ctx, r, dir)
	if err != nil || !ok {
		return a, err
	}
	name := fmt.Sprintf("%s/manifest_%d", dir, n)
	data, err := readFile(ctx, r, name)
	if err != nil {
		return a, archiveError(name, err)
	}
	var m manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return a, archiveError(name, err)
	}
	a.Known = true
	for _, f := range m.Files {
		if f.Name == "" || strings.Contains(f.Name, "/") {
			return a, archiveError(name, fmt.Errorf("names a file %q", f.Name))
		}
		if err := a.add(ctx, r, dir+"/"+f.Name); err != nil {
			return a, archiveError(dir+"/"+f.Name, err)
		}
	}
	return a, nil
}

// archiveVersion returns which manifest counts: the one that _version_ says, or
// the latest where a crash left that file out or without a number. ok is false
// if there is none.
//
// Source: Hudi 1.2.0, LSMTimeline.latestSnapshotVersion.
func archiveVersion(ctx context.Context, r store.Reader, dir string) (n uint64, ok bool, err error) {
	text, err := readFile(ctx, r, dir+"/_version_")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, false, err
	}
	if n, err = strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64); err == nil {
		return n, true, nil
	}
	n = 0
	entries, err := list(ctx, r, dir)
	for _, e := range entries {
		number, is := strings.CutPrefix(e.Name, dir+"/manifest_")
		if v, perr := strconv.ParseUint(number, 10, 64); is && perr == nil && v >= n {
			n, ok = v, true
		}
	}
	return n, ok, err
}

func (a *Archive) add(ctx context.Context, r store.Reader, name string) (err error) {
	data, err := readFile(ctx, r, name)
	if err != nil {
		return err
	}
	in := bytes.NewReader(data)
	f, err := column.OpenFile(in, in.Size())
	if err != nil {
		return err
	}
	rows := parquet.NewGenericReader[archivedInstant](f)
	defer func() { err = errors.Join(err, rows.Close()) }()
	buf := make([]archivedInstant, 256)
	for {
		n, err := rows.Read(buf)
		for _, i := range buf[:n] {
			a.Completion[strings.Clone(i.Time)] = strings.Clone(i.Completion)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func archiveError(name string, err error) error {
	if e, ok := errors.AsType[*lake.Error](err); ok && e.Kind != lake.Damaged {
		return err
	}
	return &lake.Error{Op: "read archived timeline", Key: lake.Key(name), Kind: lake.Damaged, Err: err}
}
