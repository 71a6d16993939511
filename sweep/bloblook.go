package sweep

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/lake/keyset"
	"github.com/lakesweep/lakesweep/listing"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table"
	"github.com/lakesweep/lakesweep/table/hudi/blob"
	"github.com/lakesweep/lakesweep/table/hudi/blobqueue"
)

// mostReferences bounds how many references explain lists of one blob.
const mostReferences = 100

// explainBlob names the files, records and instants that refer to a blob,
// under any spelling. Every file of the table is read.
func (run *hudiRun) explainBlob(ctx context.Context, e *Engine, uri string) (table.Explanation, error) {
	x := table.Explanation{Path: uri}
	names, err := run.blobNames()
	if err != nil {
		return x, err
	}
	forms := names.Forms(lake.BlobID(uri))
	var committed, pending []table.Because
	more := 0
	emit := func(f blob.File, r blob.Reference, _ bool) error {
		if !slices.ContainsFunc(names.Forms(lake.BlobID(r.Path)), func(form string) bool { return slices.Contains(forms, form) }) {
			return nil
		}
		if len(committed)+len(pending) == mostReferences {
			more++
			return nil
		}
		because := table.Because{Instant: f.Instant, Action: "reference", Rule: refers(f, r, uri)}
		if f.Inflight || r.Pending {
			because.Action = "inflight"
			pending = append(pending, because)
		} else {
			committed = append(committed, because)
		}
		return nil
	}
	unread := func(f blob.File, err error) error {
		pending = append(pending, table.Because{Instant: f.Instant, Action: "unreadable", Rule: fmt.Sprintf("%s can't be read, and may refer to it: %v", f.Key, err)})
		return nil
	}
	o := run.judgeOptions(e, names)
	o.Keys = true
	if err := blob.References(ctx, o, nil, run.table.DataFiles(ctx), emit, unread); err != nil {
		return x, err
	}
	byRule := func(a, b table.Because) int { return strings.Compare(a.Instant+a.Rule, b.Instant+b.Rule) }
	slices.SortFunc(committed, byRule)
	slices.SortFunc(pending, byRule)
	x.Because = append(committed, pending...)
	if more > 0 {
		x.Because = append(x.Because, table.Because{Action: "reference", Rule: fmt.Sprintf("%d more references", more)})
	}
	_, standing := names.Place(lake.BlobID(uri))
	switch {
	case len(committed) > 0:
		x.Verdict = "live"
	case len(pending) > 0:
		x.Verdict = "young"
	case standing == lake.InsideTable || len(run.req.Hudi.Blobs.Roots) > 0 && standing != lake.MayDie:
		x.Verdict = "foreign"
		x.Because = append(x.Because, table.Because{Action: standing.String(), Rule: "No file of the table refers to it, and it is never deleted: " + standing.String() + "."})
	default:
		x.Verdict = "dead"
		x.Because = append(x.Because, table.Because{Action: "unreferenced", Rule: "No file of the table refers to it. It is deleted only if a clean queued it, and only then."})
	}
	return x, run.explainQueued(ctx, names, forms, &x)
}

// explainQueued adds that a blob waits in the table's queue.
func (run *hudiRun) explainQueued(ctx context.Context, names *lake.BlobNames, forms []string, x *table.Explanation) error {
	snap, err := blobqueue.New(run.reader, nil, nil, blobqueue.Tuning{}).Load(ctx)
	if err != nil || snap.Meta.Entries == 0 {
		return err
	}
	for entry, err := range snap.Entries(ctx) {
		if err != nil {
			return err
		}
		if slices.ContainsFunc(names.Forms(lake.BlobID(entry.Path)), func(form string) bool { return slices.Contains(forms, form) }) {
			x.Because = append(x.Because, table.Because{Instant: entry.Enqueued, Action: "queued", Rule: fmt.Sprintf("It waits in the queue as %q since the clean %s let its last known reference go.", entry.Path, entry.Source)})
		}
	}
	return nil
}

func refers(f blob.File, r blob.Reference, uri string) string {
	rule := string(f.Key) + " refers to it in " + r.Column
	if r.RecordKey != "" {
		rule += fmt.Sprintf(", record %q", r.RecordKey)
	}
	if !r.Managed {
		rule += ", unmanaged"
	}
	if r.Path != uri {
		rule += fmt.Sprintf(", spelled %q", r.Path)
	}
	return rule
}

// verifyBlobs names references below the allowed roots whose blob is missing,
// and objects there that no file of the table refers to. What another table
// refers to counts as unreferenced.
//
// Memory: a fingerprint of each reference; a share of --memory for their paths.
// Errors: those of the stores; Invalid without a root.
func (run *hudiRun) verifyBlobs(ctx context.Context, e *Engine, emit func(table.Finding) error) (err error) {
	if len(run.req.Hudi.Blobs.Roots) == 0 {
		return invalid(run.given, "verify --blobs without --blob-root", "Name the folders that blobs of this table lie in with --blob-root.")
	}
	columns, err := run.table.BlobColumns(ctx, run.req.Hudi.Blobs.Columns)
	if err != nil || len(columns) == 0 {
		return err
	}
	names, err := run.blobNames()
	if err != nil {
		return err
	}
	v := &verifier{place: run.place, emit: emit}
	sorted := filelist.NewSorter("", run.req.Tuning.Memory/8)
	defer func() { err = errors.Join(err, sorted.Close()) }()
	referenced := keyset.New()
	keep := func(f blob.File, r blob.Reference, _ bool) error {
		id := lake.BlobID(r.Path)
		for _, form := range names.Forms(id) {
			referenced.Add(lake.Key(form))
		}
		if _, standing := names.Place(id); standing != lake.MayDie || f.Inflight || r.Pending {
			return nil
		}
		return sorted.Add(lake.Verdict{URI: r.Path, Size: -1, Referrer: f.Key})
	}
	whole := true
	unread := func(f blob.File, err error) error {
		whole = false
		return v.tell(table.Finding{Type: "unreadable", Path: string(f.Key), Detail: "what it refers to isn't known: " + err.Error()})
	}
	if err := blob.References(ctx, run.judgeOptions(e, names), columns, run.table.DataFiles(ctx), keep, unread); err != nil {
		return err
	}
	places, err := e.openBlobs(ctx, names, run.req.Hudi.Blobs.Roots)
	if err != nil {
		return err
	}
	if err := missingBlobs(ctx, v, names, places, sorted); err != nil || !whole {
		return err // with a file unread nothing can be called unreferenced
	}
	set := referenced.Done()
	for _, p := range places.places {
		if err := run.unreferenced(ctx, e, v, names, p, set); err != nil {
			return err
		}
	}
	return nil
}

// statsAtOnce is how many referenced blobs are looked at at once.
const statsAtOnce = 32

func missingBlobs(ctx context.Context, v *verifier, names *lake.BlobNames, places *blobPlaces, sorted *filelist.Sorter) error {
	group, gctx := errgroup.WithContext(ctx)
	group.SetLimit(statsAtOnce)
	for ref, err := range distinct(sorted.Sorted()) {
		if err != nil || gctx.Err() != nil {
			return errors.Join(err, group.Wait())
		}
		group.Go(func() error {
			at, _ := names.Place(lake.BlobID(ref.URI))
			p, name, err := places.open(gctx, at)
			if err == nil {
				_, err = p.Stat(gctx, name)
			}
			if errors.Is(err, fs.ErrNotExist) {
				return v.tell(table.Finding{Type: "missing", Path: ref.URI, Detail: string(ref.Referrer) + " refers to it, and storage doesn't have it"})
			}
			return err
		})
	}
	return group.Wait()
}

// unreferenced lists an allowed root.
func (run *hudiRun) unreferenced(ctx context.Context, e *Engine, v *verifier, names *lake.BlobNames, p blobPlace, referenced *keyset.Set) error {
	_, err := listing.Walk(ctx, store.ReadOnly(p.store), listing.Options{Workers: run.req.Tuning.Workers, Observer: e.Observe}, func(batch []store.Info) error {
		for _, info := range batch {
			uri := p.root.Join(lake.Listed(info.Name))
			if info.Kind != store.File || info.Name == lake.ClaimName {
				continue
			}
			if _, standing := names.Place(lake.BlobID(uri)); standing == lake.InsideTable {
				continue
			}
			if slices.ContainsFunc(names.Forms(lake.BlobID(uri)), func(form string) bool { return referenced.Has(lake.Key(form)) }) {
				continue
			}
			f := table.Finding{Type: "unreferenced", Path: uri, Detail: "no file of the table refers to it"}
			if info.Size >= 0 {
				f.Actual = &info.Size
			}
			if err := v.tell(f); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// blobs tells what a table that refers to blobs needs of its writers.
func (d *Diagnosis) blobs(ctx context.Context, run *hudiRun) {
	columns, err := run.table.BlobColumns(ctx, run.req.Hudi.Blobs.Columns)
	if err != nil {
		d.check("blobs", err, "")
		return
	}
	if len(columns) == 0 {
		return
	}
	d.add("blobs", filelist.Warned, "The columns "+strings.Join(columns, ", ")+" refer to external blobs. What Hudi's own automatic clean, a rollback or a restore expires, no plan here sees: the blobs that only it referred to would never be deleted.",
		"Set hoodie.clean.automatic=false (and hoodie.clean.async.enabled=false) in all writers of the table before cleaning with --blobs delete; `lakesweep verify --blobs` lists what is left behind.")
}
