package inventory

import (
	"context"
	"io"

	"github.com/lakesweep/lakesweep/inventory/internal/output"
	"github.com/lakesweep/lakesweep/inventory/internal/resolve"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/store"
)

// Convert writes the files that a list names to out, in the form of Make, where
// maps say that they are reached. Relative names stay relative, to whatever
// table the list is used for.
//
// Errors: those of Rows and of out; Invalid for a Map that maps nothing. After
// an error out holds no list.
func Convert(ctx context.Context, s *Source, tool string, maps []Map, out io.Writer) (Made, Counts, error) {
	return convert(ctx, s, tool, maps, false, out)
}

// convert is Convert; with absolute set it also spells out what lies below the list's own root.
func convert(ctx context.Context, s *Source, tool string, maps []Map, absolute bool, out io.Writer) (Made, Counts, error) {
	renamed, err := resolve.ParseMaps(maps)
	if err != nil {
		return Made{}, Counts{}, err
	}
	root := s.form.Root
	if absolute {
		root = ""
	}
	w := output.NewWriter(out)
	counts, err := s.Rows(ctx, func(rows []Row) error {
		batch := make([]lake.Verdict, 0, len(rows))
		for _, row := range rows {
			if row.Kind != store.File {
				continue
			}
			v := lake.Verdict{Size: row.Size, Modified: row.Modified, ETag: row.ETag}
			name := row.Name
			if row.Place != "" {
				name = row.Place + "/" + row.Name
			}
			mapped := name
			if resolve.IsAbsolute(name) {
				mapped = renamed.Apply(name)
			}
			switch own := row.Place != "" && row.Place == root; {
			case mapped != name, row.Place != "" && !own, resolve.IsAbsolute(row.Name) && !own:
				v.URI = mapped
			default:
				v.Key = lake.Listed(row.Name)
			}
			batch = append(batch, v)
		}
		return w.Add(batch)
	})
	if err != nil {
		return Made{}, counts, err
	}
	made, err := w.Finish(filelist.ListHead{Schema: 1, Tool: tool, Root: root, Source: s.o.Source, Taken: s.info.Taken, Created: s.o.Now().UTC(), Skipped: counts.Skipped() + counts.Directories})
	return made, counts, err
}
