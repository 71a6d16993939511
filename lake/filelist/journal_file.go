package filelist

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// FileLog is a Log in a local file. Its methods aren't safe for concurrent use.
type FileLog struct {
	path string
	file *os.File // open for appending, nil before the first Append
}

// NewFileLog returns the Log in the file at path, which need not exist yet; its
// folder must.
func NewFileLog(path string) *FileLog { return &FileLog{path: path} }

// Place returns the path.
func (l *FileLog) Place() string { return l.path }

// Append adds lines and syncs the file.
func (l *FileLog) Append(_ context.Context, lines []byte) error {
	if l.file == nil {
		if err := l.open(); err != nil {
			return err
		}
	}
	if _, err := l.file.Write(lines); err != nil {
		return err
	}
	return l.file.Sync()
}

// open opens the file for appending and cuts off a torn last line, so that the
// next one doesn't run on from it.
func (l *FileLog) open() error {
	f, err := os.OpenFile(l.path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	end, err := wholeLines(f)
	if err == nil {
		err = f.Truncate(end)
	}
	if err == nil {
		_, err = f.Seek(end, io.SeekStart)
	}
	if err == nil {
		err = syncDir(filepath.Dir(l.path))
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	l.file = f
	return nil
}

// wholeLines returns the length of the file up to its last line's end.
func wholeLines(f *os.File) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	buf := make([]byte, 64<<10)
	for end := info.Size(); end > 0; {
		start := max(end-int64(len(buf)), 0)
		piece := buf[:end-start]
		if _, err := f.ReadAt(piece, start); err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(piece, '\n'); i >= 0 {
			return start + int64(i) + 1, nil
		}
		end = start
	}
	return 0, nil
}

// syncDir makes the name of a new file durable, where the system can.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	if err := d.Sync(); err != nil && !errors.Is(err, fs.ErrInvalid) && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, fs.ErrPermission) {
		return errors.Join(err, d.Close())
	}
	return d.Close()
}

// Read reads the file.
func (l *FileLog) Read(_ context.Context, yield func([]byte, error) bool) {
	f, err := os.Open(l.path)
	if err != nil {
		yield(nil, err)
		return
	}
	buf := make([]byte, 64<<10)
	for {
		n, err := f.Read(buf)
		if n > 0 && !yield(buf[:n], nil) {
			f.Close() // only read
			return
		}
		if err != nil {
			if err = errors.Join(ended(err), f.Close()); err != nil {
				yield(nil, err)
			}
			return
		}
	}
}

func ended(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

// Close closes the file.
func (l *FileLog) Close() error {
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	return err
}
