package store

import (
	"context"
	"io"
	"log/slog"
	"time"
)

// Trace logs each call that reaches s, at debug level, with its time and error.
func Trace(s Store, log *slog.Logger) Store { return traced{s, log} }

type traced struct {
	s   Store
	log *slog.Logger
}

func (t traced) Unwrap() Store  { return t.s }
func (t traced) Traits() Traits { return t.s.Traits() }

// begin returns what logs the end of a call. It costs nothing when nobody listens.
func (t traced) begin(ctx context.Context, op string, attrs ...slog.Attr) func(error) {
	if !t.log.Enabled(ctx, slog.LevelDebug) {
		return func(error) {}
	}
	start := time.Now()
	return func(err error) {
		attrs = append(attrs, slog.String("op", op), slog.Duration("took", time.Since(start)))
		if err != nil {
			attrs = append(attrs, slog.Any("error", err))
		}
		t.log.LogAttrs(ctx, slog.LevelDebug, "store", attrs...)
	}
}

func name(s string) slog.Attr { return slog.String("name", s) }

func (t traced) Stat(ctx context.Context, n string) (Info, error) {
	end := t.begin(ctx, "stat", name(n))
	info, err := t.s.Stat(ctx, n)
	end(err)
	return info, err
}

func (t traced) Open(ctx context.Context, n string, offset, length int64) (io.ReadCloser, error) {
	end := t.begin(ctx, "open", name(n), slog.Int64("offset", offset), slog.Int64("length", length))
	r, err := t.s.Open(ctx, n, offset, length)
	end(err)
	return r, err
}

func (t traced) List(ctx context.Context, req PageRequest) (Page, error) {
	end := t.begin(ctx, "list", slog.Any("request", req))
	page, err := t.s.List(ctx, req)
	end(err)
	return page, err
}

func (t traced) Status(ctx context.Context) (Status, error) {
	end := t.begin(ctx, "status")
	status, err := t.s.Status(ctx)
	end(err)
	return status, err
}

func (t traced) PutIfAbsent(ctx context.Context, n string, data []byte) error {
	end := t.begin(ctx, "create", name(n), slog.Int("bytes", len(data)))
	err := t.s.PutIfAbsent(ctx, n, data)
	end(err)
	return err
}

func (t traced) Replace(ctx context.Context, n string, data []byte, ifMatch string) (string, error) {
	end := t.begin(ctx, "replace", name(n), slog.Int("bytes", len(data)), slog.String("if_match", ifMatch))
	etag, err := t.s.Replace(ctx, n, data, ifMatch)
	end(err)
	return etag, err
}

func (t traced) Remove(ctx context.Context, n string, ifMatch string) error {
	end := t.begin(ctx, "remove", name(n), slog.String("if_match", ifMatch))
	err := t.s.Remove(ctx, n, ifMatch)
	end(err)
	return err
}

func (t traced) Delete(ctx context.Context, targets []Target) ([]Outcome, error) {
	end := t.begin(ctx, "delete", slog.Int("targets", len(targets)))
	outcomes, err := t.s.Delete(ctx, targets)
	end(err)
	return outcomes, err
}

func (t traced) DeleteDir(ctx context.Context, n string) error {
	end := t.begin(ctx, "remove directory", name(n))
	err := t.s.DeleteDir(ctx, n)
	end(err)
	return err
}

func (t traced) Copy(ctx context.Context, n string, to Store, toName string) error {
	end := t.begin(ctx, "copy", name(n), slog.String("to", toName))
	err := t.s.Copy(ctx, n, to, toName)
	end(err)
	return err
}
