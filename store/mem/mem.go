// Package mem is a store in memory, for tests: an object store with byte order,
// start keys, ETags, conditions and a clock that tests set.
//
// Options.Traits turns abilities off, so that a test sees what a poorer store
// would show: without Flat only directories are listed, without StartAfter a
// start key is refused, with NamesFirst listings have neither sizes nor times.
package mem

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
)

// Options of a Store; the zero value is an S3-like store of an hour that stands still.
type Options struct {
	Traits store.Traits     // zero: Default()
	Now    func() time.Time // the store's clock; nil: a fixed instant
	Status store.Status     // what Status reports; Now is filled in by the clock
}

// Default returns the traits of an object store that can do everything.
func Default() store.Traits {
	return store.Traits{Name: "mem", StartAfter: true, Flat: true, PutIfAbsent: true, IfMatch: true,
		DeleteBatch: 1000, PageSize: 1000, ClockGrain: time.Nanosecond}
}

// Store is a store in memory. Safe for concurrent use.
type Store struct {
	opt Options

	mu      sync.Mutex
	objects map[string]object
	sorted  []string // names in byte order; may hold names that are gone
	fresh   []string // names to be merged into sorted
	writes  int64    // of ETags
}

type object struct {
	data     []byte
	size     int64
	modified time.Time
	etag     string
}

var _ store.Store = (*Store)(nil)

// New returns an empty store.
func New(opt Options) *Store {
	if opt.Traits == (store.Traits{}) {
		opt.Traits = Default()
	}
	if opt.Now == nil {
		fixed := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		opt.Now = func() time.Time { return fixed }
	}
	return &Store{opt: opt, objects: map[string]object{}}
}

// Put sets an object, whatever is there. A zero modified is the clock's now.
func (s *Store) Put(name string, data []byte, modified time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(name, object{data: bytes.Clone(data), size: int64(len(data)), modified: modified})
}

// PutSized sets an object of size bytes without holding any; reading it gives zeros.
func (s *Store) PutSized(name string, size int64, modified time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(name, object{size: size, modified: modified})
}

// Names returns all names in byte order.
func (s *Store) Names() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.merge()
	var names []string
	for _, name := range s.sorted {
		if _, ok := s.objects[name]; ok {
			names = append(names, name)
		}
	}
	return names
}

func (s *Store) put(name string, o object) string {
	if o.modified.IsZero() {
		o.modified = s.opt.Now()
	}
	o.modified = o.modified.UTC()
	s.writes++
	o.etag = fmt.Sprintf("%q", fmt.Sprintf("%x", s.writes))
	if _, ok := s.objects[name]; !ok {
		s.fresh = append(s.fresh, name)
	}
	s.objects[name] = o
	return o.etag
}

func (s *Store) fail(op, name string, err error) error {
	return store.Fail(op, lake.Root{Scheme: "mem"}, name, err)
}

// Traits returns Options.Traits.
func (s *Store) Traits() store.Traits { return s.opt.Traits }

// Status returns Options.Status at the clock's now.
func (s *Store) Status(ctx context.Context) (store.Status, error) {
	status := s.opt.Status
	status.Now = s.opt.Now()
	return status, ctx.Err()
}

func (s *Store) get(ctx context.Context, op, name string) (object, error) {
	if err := ctx.Err(); err != nil {
		return object{}, s.fail(op, name, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	o, ok := s.objects[name]
	if !ok || name == "" {
		return object{}, s.fail(op, name, fs.ErrNotExist)
	}
	return o, nil
}

// Stat describes one object.
func (s *Store) Stat(ctx context.Context, name string) (store.Info, error) {
	o, err := s.get(ctx, "stat", name)
	if err != nil {
		return store.Info{}, err
	}
	return o.info(name), nil
}

func (o object) info(name string) store.Info {
	i := store.Info{Name: name, Size: o.size, Modified: o.modified, ETag: o.etag}
	if dir, ok := strings.CutSuffix(name, "/"); ok {
		i.Name, i.Kind = dir, store.Marker
	}
	return i
}

// Open reads a part of an object.
func (s *Store) Open(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	o, err := s.get(ctx, "read", name)
	if err != nil {
		return nil, err
	}
	if offset < 0 {
		return nil, s.fail("read", name, fs.ErrInvalid)
	}
	offset = min(offset, o.size)
	if length < 0 || length > o.size-offset {
		length = o.size - offset
	}
	if o.data == nil {
		return body{io.LimitReader(zeros{}, length), o.etag}, nil
	}
	return body{bytes.NewReader(o.data[offset : offset+length]), o.etag}, nil
}

// body tells which object it is of, so that a broken read can go on.
type body struct {
	io.Reader
	etag string
}

func (b body) ETag() string { return b.etag }
func (b body) Close() error { return nil }

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
