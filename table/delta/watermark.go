package delta

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table/delta/logfault"
	"github.com/lakesweep/lakesweep/table/delta/meta"
)

// watermarkName is the file that LITE starts from.
const watermarkName = meta.LogDir + "/_last_vacuum_info"

// Watermark is what _last_vacuum_info says. A nil Version means none.
type Watermark struct {
	Version  *int64    // the last version whose removed files are gone
	LastFull time.Time // when a complete full run of lakesweep ended; zero if unknown, and after any run of Spark's
}

// watermarkFile is the JSON of _last_vacuum_info. Spark reads it with unknown
// members ignored (delta-io/delta, JsonUtils: FAIL_ON_UNKNOWN_PROPERTIES is
// off) and overwrites it without them.
type watermarkFile struct {
	Version  *int64 `json:"latestCommitVersionOutsideOfRetentionWindow,omitempty"`
	LastFull *int64 `json:"lakesweepLastFullMillis,omitempty"`
}

// Watermark is ReadWatermark as of the time when Open listed the log: it takes
// no request where there was none.
func (t *Table) Watermark(ctx context.Context) (Watermark, error) {
	if !t.log.Segment.Info {
		return Watermark{}, nil
	}
	return t.ReadWatermark(ctx)
}

// ReadWatermark reads _last_vacuum_info. It is a hint: a missing or unreadable
// one is the zero Watermark, and so is one that names no version of this log.
//
// Errors: those of the store.
func (t *Table) ReadWatermark(ctx context.Context) (Watermark, error) {
	rc, err := t.r.Open(ctx, watermarkName, 0, -1)
	if errors.Is(err, fs.ErrNotExist) {
		return Watermark{}, nil
	}
	var body []byte
	if err == nil {
		defer rc.Close()
		body, err = io.ReadAll(io.LimitReader(rc, 1<<16))
	}
	if err != nil {
		return Watermark{}, t.wrap("read watermark", logfault.ReadError(watermarkName, err))
	}
	w := parseWatermark(body)
	if w.Version != nil && *w.Version > t.log.Segment.Version {
		w.Version = nil
	}
	return w, nil
}

func parseWatermark(body []byte) Watermark {
	var f watermarkFile
	if err := json.Unmarshal(body, &f, jsontext.AllowDuplicateNames(false)); err != nil {
		return Watermark{}
	}
	w := Watermark{Version: f.Version}
	if w.Version != nil && *w.Version < 0 {
		w.Version = nil
	}
	if f.LastFull != nil && *f.LastFull > 0 {
		w.LastFull = time.UnixMilli(*f.LastFull).UTC()
	}
	return w
}

// forgetTries bounds how often ForgetFull begins again where another writer
// changes the watermark at the same time.
const forgetTries = 10

// ForgetFull makes the next run that chooses by itself a full one: what was put
// back into the table lies before the watermark, where LITE doesn't look. w
// writes to the log. What another writer makes of the watermark meanwhile stays.
//
// Errors: those of the store; store.ErrChanged if others write it all the time.
func ForgetFull(ctx context.Context, r store.Reader, w store.Writer) error {
	var err error
	for range forgetTries {
		if err = forgetFull(ctx, r, w); !errors.Is(err, store.ErrChanged) {
			break
		}
	}
	return err
}

func forgetFull(ctx context.Context, r store.Reader, w store.Writer) error {
	info, err := r.Stat(ctx, watermarkName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	rc, err := r.Open(ctx, watermarkName, 0, -1)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	body, err := io.ReadAll(io.LimitReader(rc, 1<<16))
	if err = errors.Join(err, rc.Close()); err != nil {
		return err
	}
	mark := parseWatermark(body)
	if mark.LastFull.IsZero() {
		return nil
	}
	mark.LastFull = time.Time{}
	if body, err = mark.text(); err == nil {
		_, err = w.Replace(ctx, watermarkName, body, info.ETag)
	}
	return err
}

// text is the file's content: one line, as Spark writes it.
func (w Watermark) text() ([]byte, error) {
	f := watermarkFile{Version: w.Version}
	if !w.LastFull.IsZero() {
		ms := w.LastFull.UnixMilli()
		f.LastFull = &ms
	}
	b, err := json.Marshal(f)
	if err != nil {
		return nil, &lake.Error{Op: "write watermark", Err: err}
	}
	return append(b, '\n'), nil
}
