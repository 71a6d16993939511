package gcs

import (
	"context"
	"fmt"
	"io/fs"
	"strings"

	"github.com/lakesweep/lakesweep/store"
	raw "google.golang.org/api/storage/v1"
)

// List returns one page of objects.list, which is in the byte order of names.
// The page may be shorter than Limit, even empty, and still go on.
//
// Errors: ErrTruncated for an answer that isn't whole.
func (s *Store) List(ctx context.Context, req store.PageRequest) (store.Page, error) {
	page, err := s.list(ctx, req)
	if err != nil {
		return store.Page{}, s.fail("list", req.Prefix, err)
	}
	return page, nil
}

func (s *Store) list(ctx context.Context, req store.PageRequest) (store.Page, error) {
	call := s.api.Objects.List(s.bucket).Projection("noAcl").
		Fields("nextPageToken", "prefixes", "items(name,size,updated,timeCreated,generation)").Context(ctx)
	if err := s.ask(call, req); err != nil {
		return store.Page{}, err
	}
	answer, err := call.Do()
	if err != nil {
		return store.Page{}, err
	}
	entries := make([]store.Info, 0, len(answer.Items)+len(answer.Prefixes))
	dirs := answer.Prefixes
	for _, o := range answer.Items {
		for len(dirs) > 0 && dirs[0] < o.Name {
			entries, dirs = append(entries, dirOf(dirs[0])), dirs[1:]
		}
		info, err := infoOf(o)
		if err != nil {
			return store.Page{}, err
		}
		if req.Versions {
			info.Version = info.ETag // both are the generation
		} else if dir, ok := strings.CutSuffix(info.Name, "/"); ok {
			info.Name, info.Kind = dir, store.Marker
		}
		entries = append(entries, info)
	}
	for _, dir := range dirs {
		entries = append(entries, dirOf(dir))
	}
	kept, err := s.relative(entries, req)
	return store.Page{Entries: kept, Next: answer.NextPageToken}, err
}

// ask sets the parameters of a listing.
func (s *Store) ask(call *raw.ObjectsListCall, req store.PageRequest) error {
	if s.opt.UserProject != "" {
		call.UserProject(s.opt.UserProject)
	}
	if prefix := s.prefix + store.ValidPrefix(req.Prefix); prefix != "" {
		call.Prefix(prefix)
	}
	switch {
	case req.After != "" && req.Token != "":
		return fs.ErrInvalid
	case req.Token != "":
		call.PageToken(req.Token)
	}
	if req.After != "" { // relative drops the name itself: startOffset is inclusive
		call.StartOffset(s.prefix + store.ValidPrefix(req.After))
	}
	if req.Dirs {
		call.Delimiter("/")
	}
	if req.Versions {
		if req.After != "" || req.Dirs {
			return fs.ErrInvalid
		}
		call.Versions(true)
	}
	if req.Limit > 0 && req.Limit < maxPage {
		call.MaxResults(int64(req.Limit))
	}
	return nil
}

func dirOf(prefix string) store.Info {
	return store.Info{Name: strings.TrimSuffix(prefix, "/"), Kind: store.Dir, Size: -1}
}

// relative turns whole names into names below the place, and drops what wasn't
// asked for: the place's own marker, and what startOffset includes.
func (s *Store) relative(entries []store.Info, req store.PageRequest) ([]store.Info, error) {
	kept := entries[:0]
	for _, e := range entries {
		if !strings.HasPrefix(e.Listed(), s.prefix+store.ValidPrefix(req.Prefix)) {
			return nil, fmt.Errorf("the server ignored the prefix %q: it listed %q", s.prefix+req.Prefix, e.Listed())
		}
		if len(e.Name) < len(s.prefix) || e.Name == "" {
			continue // the marker of the place itself
		}
		e.Name = e.Name[len(s.prefix):]
		switch listed := e.Listed(); {
		case !strings.HasPrefix(listed, req.Prefix):
			continue
		case listed <= req.After && !(e.Kind == store.Dir && strings.HasPrefix(req.After, listed)):
			continue
		}
		kept = append(kept, e)
	}
	return kept, nil
}
