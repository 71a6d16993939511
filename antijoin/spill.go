package antijoin

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/keyset"
	"github.com/lakesweep/lakesweep/store"
)

const (
	defaultMemory = 64 << 20
	maxGroups     = 64   // files open at a time
	spillBatch    = 1000 // objects judged at a time
)

// spill holds candidates until the part of the protected set that decides
// about them is in memory. Its files have no names: they go with the process.
// add is safe for concurrent use.
type spill struct {
	set    *keyset.Set
	dir    string
	groups []group // each decides about a run of the set's shards
}

type group struct {
	mu   sync.Mutex
	file *os.File // nil without candidates
	out  *bufio.Writer
	buf  []byte
}

// newSpill cuts the set into groups of shards, of half of memory bytes each.
func newSpill(set *keyset.Set, dir string, memory int64) *spill {
	if memory <= 0 {
		memory = defaultMemory
	}
	n := min(max(set.Len()*8/max(memory/2, 1)+1, 1), maxGroups)
	return &spill{set: set, dir: dir, groups: make([]group, n)}
}

// shards returns the range of shards that group i decides about.
func (s *spill) shards(i int) (from, to int) {
	n := len(s.groups)
	return (i*keyset.Shards + n - 1) / n, ((i+1)*keyset.Shards + n - 1) / n
}

func (s *spill) add(objects []store.Info) error {
	for i := range objects {
		g := &s.groups[s.set.Shard(lake.Listed(objects[i].Name))*len(s.groups)/keyset.Shards]
		if err := g.add(s.dir, &objects[i]); err != nil {
			return spillError(err)
		}
	}
	return nil
}

func spillError(err error) error {
	return &lake.Error{Op: "spill candidates", Kind: lake.Internal, Err: err,
		Hint: "Make room in the temporary folder (TMPDIR), or allow more --memory."}
}

func (g *group) add(dir string, o *store.Info) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.file == nil {
		f, err := os.CreateTemp(dir, "lakesweep-candidates-*")
		if err != nil {
			return err
		}
		if err := os.Remove(f.Name()); err != nil {
			return errors.Join(err, f.Close())
		}
		g.file, g.out = f, bufio.NewWriterSize(f, 64<<10)
	}
	g.buf = appendInfo(g.buf[:0], o)
	_, err := g.out.Write(g.buf)
	return err
}

// each judges all candidates, group by group.
func (s *spill) each(ctx context.Context, judge func(context.Context, []store.Info) error) error {
	for i := range s.groups {
		if s.groups[i].file == nil {
			continue
		}
		from, to := s.shards(i)
		for shard := from; shard < to; shard++ {
			if err := s.set.Pin(shard); err != nil {
				return err
			}
		}
		err := s.groups[i].each(ctx, judge)
		for shard := from; shard < to; shard++ {
			s.set.Unpin(shard)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (g *group) each(ctx context.Context, judge func(context.Context, []store.Info) error) error {
	if err := g.out.Flush(); err != nil {
		return spillError(err)
	}
	if _, err := g.file.Seek(0, io.SeekStart); err != nil {
		return spillError(err)
	}
	in := bufio.NewReaderSize(g.file, 256<<10)
	workers, inner := errgroup.WithContext(ctx)
	workers.SetLimit(runtime.GOMAXPROCS(0))
	for {
		batch, err := readInfos(in)
		if err != nil {
			return errors.Join(spillError(err), workers.Wait())
		}
		if len(batch) == 0 || inner.Err() != nil {
			if err := workers.Wait(); err != nil {
				return err
			}
			return ctx.Err()
		}
		workers.Go(func() error { return judge(inner, batch) })
	}
}

func (s *spill) close() error {
	var all error
	for i := range s.groups {
		if f := s.groups[i].file; f != nil {
			all = errors.Join(all, f.Close())
			s.groups[i].file = nil
		}
	}
	return all
}

func appendInfo(b []byte, o *store.Info) []byte {
	for _, s := range [...]string{o.Name, o.ETag, o.Version} {
		b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
	}
	b = append(b, byte(o.Kind))
	b = binary.AppendVarint(b, o.Size)
	known := byte(0)
	if !o.Modified.IsZero() {
		known = 1
	}
	b = append(b, known)
	b = binary.AppendVarint(b, o.Modified.Unix())
	return binary.AppendUvarint(b, uint64(o.Modified.Nanosecond()))
}

// readInfos reads the next batch; none at the end.
func readInfos(in *bufio.Reader) ([]store.Info, error) {
	batch := make([]store.Info, 0, spillBatch)
	for len(batch) < spillBatch {
		if _, err := in.Peek(1); err == io.EOF {
			break
		}
		o, err := readInfo(in)
		if err != nil {
			return nil, fmt.Errorf("read a candidate: %w", err)
		}
		batch = append(batch, o)
	}
	return batch, nil
}

func readInfo(in *bufio.Reader) (o store.Info, err error) {
	for _, s := range [...]*string{&o.Name, &o.ETag, &o.Version} {
		n, err := binary.ReadUvarint(in)
		if err != nil {
			return o, err
		}
		text := make([]byte, n)
		if _, err := io.ReadFull(in, text); err != nil {
			return o, err
		}
		*s = string(text)
	}
	kind, err := in.ReadByte()
	if err != nil {
		return o, err
	}
	o.Kind = store.EntryKind(kind)
	if o.Size, err = binary.ReadVarint(in); err != nil {
		return o, err
	}
	known, err := in.ReadByte()
	if err != nil {
		return o, err
	}
	seconds, err := binary.ReadVarint(in)
	if err != nil {
		return o, err
	}
	nanos, err := binary.ReadUvarint(in)
	if known == 1 {
		o.Modified = time.Unix(seconds, int64(nanos)).UTC()
	}
	return o, err
}
