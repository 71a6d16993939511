package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/parquet-go/parquet-go"
	"golang.org/x/sync/errgroup"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/column"
	"github.com/lakesweep/lakesweep/table/delta/logdir"
	"github.com/lakesweep/lakesweep/table/delta/logfault"
	"github.com/lakesweep/lakesweep/table/delta/logline"
	"github.com/lakesweep/lakesweep/table/internal/leaf"
)

// pageBuffer is how much of a column chunk is read from the store at once.
const pageBuffer = 64 << 10

// opened is a checkpoint made ready for reading: its rows are those of the
// Parquet files, and those of a JSON file, kept here.
type opened struct {
	files []*parquetFile
	json  *logdir.File // the V2 checkpoint's own file, if it is JSON
}

// parquetFile is an opened Parquet file of a checkpoint.
type parquetFile struct {
	logdir.File
	f       *parquet.File
	sidecar bool
}

// Reader reads the checkpoints of a log. It keeps the footers that it
// has read. Safe for concurrent use.
type Reader struct {
	dir     *logdir.Dir
	footers parquetFiles
}

// NewReader returns a reader of the checkpoints in dir.
func NewReader(dir *logdir.Dir) *Reader {
	return &Reader{dir: dir, footers: parquetFiles{files: map[string]*parquetFile{}}}
}

// parquetFiles keeps footers.
type parquetFiles struct {
	mu    sync.Mutex
	files map[string]*parquetFile
}

// openParquet reads the footer of a file.
//
// Errors: corrupt (logfault.IsCorrupt) where the file can't be read as Parquet.
func (r *Reader) openParquet(ctx context.Context, f logdir.File, sidecar bool) (_ *parquetFile, err error) {
	r.footers.mu.Lock()
	known := r.footers.files[f.Name]
	r.footers.mu.Unlock()
	if known != nil {
		return known, nil
	}
	source := leaf.NewRange(ctx, r.dir.Store, f.Name, f.Size)
	defer source.Close()
	defer recoverCorrupt(f.Name, &err)
	if err := holdFooter(source, f.Size); err != nil {
		return nil, fault(source, err)
	}
	file, err := column.OpenFile(source, f.Size, parquet.SkipMagicBytes(true), parquet.SkipPageIndex(true),
		parquet.SkipBloomFilters(true), parquet.OptimisticRead(true), parquet.ReadBufferSize(pageBuffer))
	if err != nil {
		return nil, fault(source, err)
	}
	source.Hold(nil, 0)
	p := &parquetFile{f, file, sidecar}
	r.footers.mu.Lock()
	r.footers.files[f.Name] = p
	r.footers.mu.Unlock()
	return p, nil
}

// holdFooter reads the end of the file once, so far as its footer needs.
func holdFooter(source *leaf.Range, size int64) error {
	for want := min(size, pageBuffer); ; {
		tail := make([]byte, want)
		if _, err := source.ReadAt(tail, size-want); err != nil {
			return err
		}
		source.Hold(tail, size-want)
		need, err := column.FooterSize(tail, size)
		if err != nil || need <= want {
			return nil //nolint:nilerr // column.OpenFile refuses it
		}
		want = need
	}
}

// fault tells what an error of the Parquet reader over source means: the
// store's failure, or a corrupt checkpoint.
func fault(source *leaf.Range, err error) error {
	if source.Err != nil && !errors.Is(source.Err, fs.ErrNotExist) {
		return logfault.ReadError(source.Name, source.Err)
	}
	return logfault.Corrupt(source.Name, err)
}

// recoverCorrupt turns a panic of the Parquet reader, which damaged bytes may
// cause, into the error that they are.
func recoverCorrupt(name string, err *error) {
	if r := recover(); r != nil {
		*err = logfault.Corrupt(name, fmt.Errorf("unreadable Parquet: %v", r))
	}
}

// openCheckpoint opens all files of a checkpoint, sidecars too.
//
// Errors: corrupt (logfault.IsCorrupt) where any of them is missing or can't be read.
func (r *Reader) openCheckpoint(ctx context.Context, c logdir.Checkpoint) (opened, error) {
	var o opened
	var sidecars []string
	if strings.HasSuffix(c.Parts[0].Name, ".json") {
		o.json = &c.Parts[0]
		err := r.jsonRows(ctx, c.Parts[0], func(a logline.Action) error {
			if a.Op == logline.Sidecar {
				name, err := sidecarName(a.Raw)
				sidecars = append(sidecars, name)
				return err
			}
			return nil
		})
		if err != nil {
			return o, logfault.AsCorrupt(err)
		}
	} else {
		for _, part := range c.Parts {
			p, err := r.openParquet(ctx, part, false)
			if err != nil {
				return o, err
			}
			o.files = append(o.files, p)
			if c.Kind != logdir.Multipart {
				if sidecars, err = r.sidecarColumn(ctx, p); err != nil {
					return o, err
				}
			}
		}
	}
	var mu sync.Mutex
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(r.dir.Workers())
	for _, name := range sidecars {
		g.Go(func() error {
			p, err := r.openSidecar(ctx, name)
			mu.Lock()
			defer mu.Unlock()
			o.files = append(o.files, p)
			return err
		})
	}
	return o, g.Wait()
}

// jsonRows calls fn with each action of a JSON checkpoint.
func (r *Reader) jsonRows(ctx context.Context, f logdir.File, fn func(logline.Action) error) error {
	return r.dir.Lines(ctx, f, func(line []byte) error {
		a, err := logline.Parse(line, nil)
		if err == nil && a.Op == logline.CheckpointMetadata {
			var m struct {
				Version int64 `json:"version"`
			}
			if err = json.Unmarshal(a.Raw, &m); err == nil && m.Version != f.Version {
				err = fmt.Errorf("it is of version %d", m.Version)
			}
		}
		if err != nil {
			return err
		}
		return fn(a)
	})
}

// rowGroup is the unit of parallel reading.
type rowGroup struct {
	dir   *logdir.Dir
	ctx   context.Context
	file  *parquetFile
	index int
	cols  []*leaf.Column

	held   []byte // of the file, read before the columns were opened
	heldAt int64
}

func (g *rowGroup) rows() int64 { return g.file.f.RowGroups()[g.index].NumRows() }

// find returns the column of a path, nil if the file has none.
func (g *rowGroup) find(path ...string) *parquet.Column {
	c := g.file.f.Root()
	for _, name := range path {
		if c = c.Column(name); c == nil {
			return nil
		}
	}
	return c
}

// open prepares c for reading a leaf.
func (g *rowGroup) open(c *leaf.Column, node *parquet.Column) {
	if node == nil || !node.Leaf() {
		return
	}
	group := g.file.f.RowGroups()[g.index]
	_, end := g.place(node.Index())
	c.Leaf, c.Chunk = node, group.ColumnChunks()[node.Index()]
	c.Source = leaf.NewRange(g.ctx, g.dir.Store, g.file.Name, end)
	c.Source.Hold(g.held, g.heldAt)
	g.cols = append(g.cols, c)
}

// place returns where the chunk of a column lies in the file, as its footer says.
func (g *rowGroup) place(column int) (start, end int64) {
	meta := g.file.f.Metadata().RowGroups[g.index].Columns[column].MetaData
	start = meta.DataPageOffset
	if meta.DictionaryPageOffset > 0 {
		start = meta.DictionaryPageOffset
	}
	return start, min(start+meta.TotalCompressedSize, g.file.Size)
}

// begin opens the reads of some columns, as many at once as files of the log are
// read at once: one after the other each would be waited for. A read stays
// open until the column is read.
func (g *rowGroup) begin(some ...[]*leaf.Column) {
	var opening errgroup.Group
	opening.SetLimit(g.dir.Workers())
	for _, c := range slices.Concat(some...) {
		if c.Leaf == nil {
			continue
		}
		opening.Go(func() error {
			start, _ := g.place(c.Leaf.Index())
			c.Source.Begin(start)
			return nil
		})
	}
	_ = opening.Wait() // a failure is the first read's
}

// holdBytes is how far apart columns may lie to be read in one request.
const holdBytes = 1 << 20

// hold reads all columns of some actions in one request, if they lie side by
// side as they do: a dozen small ones would cost as many, one after the other.
func (g *rowGroup) hold(actions ...string) error {
	from, to := g.file.Size, int64(0)
	for i, c := range g.file.f.Metadata().RowGroups[g.index].Columns {
		if path := c.MetaData.PathInSchema; len(path) > 0 && slices.Contains(actions, path[0]) {
			start, end := g.place(i)
			from, to = min(from, start), max(to, end)
		}
	}
	if from < 0 || from >= to || to-from > holdBytes {
		return nil // the columns are read one by one, or found to be damaged
	}
	source, held := leaf.NewRange(g.ctx, g.dir.Store, g.file.Name, to), make([]byte, to-from)
	defer source.Close()
	if _, err := source.ReadAt(held, from); err != nil {
		return fault(source, err)
	}
	g.held, g.heldAt = held, from
	return nil
}

// column returns a leaf that isn't repeated.
func (g *rowGroup) column(path ...string) *leaf.Column {
	c := &leaf.Column{}
	if node := g.find(path...); node != nil && node.MaxRepetitionLevel() == 0 {
		g.open(c, node)
	}
	return c
}

// elements returns a leaf within the repeated node of a list or map: child is
// "key" or "value", "" for the elements of a list.
func (g *rowGroup) elements(child string, path ...string) *leaf.Repeated {
	r := &leaf.Repeated{}
	node := g.find(path...)
	for node != nil && !node.Repeated() && len(node.Columns()) > 0 {
		node = node.Columns()[0]
	}
	if node == nil || !node.Repeated() {
		return r
	}
	r.Level = node.MaxDefinitionLevel()
	if child != "" {
		node = node.Column(child)
	}
	for node != nil && !node.Leaf() {
		node = node.Columns()[0]
	}
	if node != nil && node.MaxRepetitionLevel() == 1 {
		g.open(&r.Column, node)
	}
	return r
}

// run reads the rows of a row group with fn, and says that it is corrupt where it is.
func (g *rowGroup) run(fn func() error) (err error) {
	defer func() {
		for _, c := range g.cols {
			c.Close()
		}
	}()
	defer recoverCorrupt(g.file.Name, &err)
	if err = fn(); err == nil {
		return nil
	}
	for _, c := range g.cols {
		if c.Source.Err != nil && !isTold(err) {
			return fault(c.Source, err)
		}
	}
	return g.fault(err)
}

// fault tells what an error of what is done with the rows means.
func (g *rowGroup) fault(err error) error {
	if err == nil || isTold(err) {
		return err
	}
	return logfault.Corrupt(g.file.Name, err)
}

// isTold reports whether an error says itself what it means.
func isTold(err error) bool {
	_, ok := errors.AsType[*lake.Error](err)
	return ok
}
