package inventory

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"

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
func (s *Source) locate(ctx context.Context, manifest lake.Root, bucket string) error {
	if len(s.parts) == 0 {
		return nil
	}
	at, err := s.findFirst(ctx, manifest, bucket)
	if err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(statAtOnce)
	for i := range s.parts {
		g.Go(func() error { return at.place(ctx, &s.parts[i]) })
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

func (s *Source) findFirst(ctx context.Context, manifest lake.Root, bucket string) (spot, error) {
	first := components(s.parts[0].name)
	var unread error // why a folder can't be looked into
	folder, ok := manifest.Parent()
	for up := 0; ok && up < maxUp; up++ {
		r, err := s.o.Stores.OpenReader(ctx, folder)
		if err != nil {
			return spot{}, err
		}
		for cut := range first {
			at := spot{r, folder, cut}
			_, err := r.Stat(ctx, strings.Join(first[cut:], "/"))
			if err == nil {
				return at, nil
			}
			if !isMissing(err) {
				unread = errors.Join(unread, err)
				break
			}
		}
		folder, ok = folder.Parent()
	}
	home := lake.Root{Scheme: s.form.scheme, Authority: bucket[strings.LastIndexByte(bucket, ':')+1:]}
	if strings.Contains(s.parts[0].name, "://") {
		home.Authority, first = first[0], first[1:]
	}
	if home.Authority != "" && s.form.scheme != "az" {
		r, err := s.o.Stores.OpenReader(ctx, home)
		if err == nil {
			if _, err := r.Stat(ctx, strings.Join(first, "/")); err == nil {
				return spot{r, home, len(components(s.parts[0].name)) - len(first)}, nil
			}
		}
	}
	if unread != nil {
		return spot{}, &lake.Error{Op: "find the inventory's files", Table: s.o.Source, Kind: lake.KindOf(unread), Err: unread, Hint: "See that the folders of the report can be read."}
	}
	return spot{}, &lake.Error{Op: "open inventory", Table: s.o.Source, Kind: lake.Damaged,
		Err:  fmt.Errorf("the file %s of the manifest is neither beside it nor at %s", s.parts[0].name, home),
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
func (at spot) place(ctx context.Context, p *part) error {
	names := components(p.name)
	if at.cut >= len(names) {
		return p.damaged(fmt.Errorf("the manifest's files lie at different depths"))
	}
	p.r, p.name = at.r, strings.Join(names[at.cut:], "/")
	p.place = at.folder.Join(lake.Key(p.name))
	info, err := p.r.Stat(ctx, p.name)
	switch {
	case isMissing(err):
		return p.damaged(fmt.Errorf("a file of the manifest is missing: %w", err))
	case err != nil:
		return p.opening(err)
	case p.size >= 0 && info.Size != p.size:
		return p.damaged(fmt.Errorf("%d bytes, the manifest says %d", info.Size, p.size))
	}
	p.size, p.modified = info.Size, info.Modified
	return nil
}
