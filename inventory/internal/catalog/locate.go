package catalog

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/lakesweep/lakesweep/inventory/internal/part"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
)

const (
	maxUp      = 6  // folders above the manifest where a report's files may lie
	statAtOnce = 32 // requests
)

// locate finds the data files of a report. A report may have been copied, so
// each is looked for at the same place relative to the manifest: below one of
// the folders above it, by ever shorter ends of its name. What the first file
// shows holds for all. Only if there is nothing, the bucket that the manifest
// names is asked.
//
// Errors: Damaged for a file that isn't there or whose size differs.
func (c *Opener) locate(ctx context.Context, l *List, manifest lake.Root, bucket string) error {
	if len(l.Parts) == 0 {
		return nil
	}
	at, err := c.findFirst(ctx, l, manifest, bucket)
	if err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(statAtOnce)
	for i := range l.Parts {
		g.Go(func() error { return at.place(ctx, &l.Parts[i]) })
	}
	return g.Wait()
}

// spot is where files of a report lie: below folder, without the first cut
// components of their names.
type spot struct {
	r      store.Reader
	folder lake.Root
	cut    int
}

func (c *Opener) findFirst(ctx context.Context, l *List, manifest lake.Root, bucket string) (spot, error) {
	first := components(l.Parts[0].Name)
	var unread error // why a folder can't be looked into
	folder, ok := manifest.Parent()
	for up := 0; ok && up < maxUp; up++ {
		r, err := c.Stores.OpenReader(ctx, folder)
		if err != nil {
			return spot{}, err
		}
		for cut := range first {
			at := spot{r, folder, cut}
			_, err := r.Stat(ctx, strings.Join(first[cut:], "/"))
			if err == nil {
				return at, nil
			}
			if !part.Missing(err) {
				unread = errors.Join(unread, err)
				break
			}
		}
		folder, ok = folder.Parent()
	}
	home := lake.Root{Scheme: l.Form.Scheme, Authority: bucket[strings.LastIndexByte(bucket, ':')+1:]}
	if strings.Contains(l.Parts[0].Name, "://") {
		home.Authority, first = first[0], first[1:]
	}
	if home.Authority != "" && l.Form.Scheme != "az" {
		r, err := c.Stores.OpenReader(ctx, home)
		if err == nil {
			if _, err := r.Stat(ctx, strings.Join(first, "/")); err == nil {
				return spot{r, home, len(components(l.Parts[0].Name)) - len(first)}, nil
			}
		}
	}
	if unread != nil {
		return spot{}, &lake.Error{Op: "find the inventory's files", Table: c.Source, Kind: lake.KindOf(unread), Err: unread, Hint: "See that the folders of the report can be read."}
	}
	return spot{}, &lake.Error{Op: "open inventory", Table: c.Source, Kind: lake.Damaged,
		Err:  fmt.Errorf("the file %s of the manifest is neither beside it nor at %s", l.Parts[0].Name, home),
		Hint: "Copy the report with its data files and keep its folders, or name the manifest where the store wrote it."}
}

// components splits the name of a data file, without the scheme of a URI.
func components(name string) []string {
	if _, rest, ok := strings.Cut(name, "://"); ok {
		name = rest
	}
	return strings.Split(strings.TrimLeft(name, "/"), "/")
}

// place completes a part of the manifest.
func (at spot) place(ctx context.Context, p *part.Part) error {
	names := components(p.Name)
	if at.cut >= len(names) {
		return p.Damaged(fmt.Errorf("the manifest's files lie at different depths"))
	}
	p.Reader, p.Name = at.r, strings.Join(names[at.cut:], "/")
	p.Place = at.folder.Join(lake.Key(p.Name))
	info, err := p.Reader.Stat(ctx, p.Name)
	switch {
	case part.Missing(err):
		return p.Damaged(fmt.Errorf("a file of the manifest is missing: %w", err))
	case err != nil:
		return p.Opening(err)
	case p.Size >= 0 && info.Size != p.Size:
		return p.Damaged(fmt.Errorf("%d bytes, the manifest says %d", info.Size, p.Size))
	}
	p.Size, p.Modified = info.Size, info.Modified
	return nil
}
