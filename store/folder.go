package store

import (
	"context"
	"iter"
)

// Folder yields the entries of one folder, page by page: those whose names begin
// with prefix, which ends in a slash or is empty, directories among them.
//
// Errors: those of List. After an error nothing follows, and what was yielded is
// not all.
func Folder(ctx context.Context, r Reader, prefix string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		req := PageRequest{Prefix: prefix, Dirs: true}
		for {
			page, err := r.List(ctx, req)
			if err != nil {
				yield(Info{}, err)
				return
			}
			for _, e := range page.Entries {
				if !yield(e, nil) {
					return
				}
			}
			if page.Next == "" {
				return
			}
			req.Token = page.Next
		}
	}
}
