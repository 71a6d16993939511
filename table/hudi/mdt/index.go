package mdt

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/lakesweep/lakesweep/lake"
)

// definition is an entry of index.json.
type definition struct {
	Name    string   `json:"indexName"`
	Type    string   `json:"indexType"`
	Fields  []string `json:"sourceFields"`
	Version string   `json:"version"` // "V1" or "V2"; older ones have none
}

const (
	columnStats    = "column_stats"
	bloomFilters   = "bloom_filters"
	expressionPart = "expr_index_"
)

// definitions reads the index definitions of the table by partition name, none
// if there is no such file.
func (t *Table) definitions(ctx context.Context) (map[string]definition, error) {
	name := t.data.Properties["hoodie.table.index.defs.path"]
	if name == "" {
		name = ".hoodie/.index_defs/index.json"
	}
	rc, err := t.reader.Open(ctx, name, 0, -1)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(rc)
	if err = errors.Join(err, rc.Close()); err != nil {
		return nil, err
	}
	var file struct {
		Definitions map[string]definition `json:"indexDefinitions"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, &lake.Error{Op: "read index definitions", Key: lake.Key(name), Kind: lake.Damaged, Err: err}
	}
	return file.Definitions, nil
}

// tombstones returns, by metadata partition other than "files", the keys that
// a clean makes void. Without them rows stay that no look-up reaches.
//
// Source: spec/hudi-metadata-table.md section 4.2.
func (t *Table) tombstones(ctx context.Context, c Clean) (map[string][]string, error) {
	out := make(map[string][]string)
	var defs map[string]definition
	for _, part := range Partitions(t.data.Properties) {
		kind, columns := part, []string(nil)
		if part != columnStats && part != bloomFilters && !strings.HasPrefix(part, expressionPart) {
			continue
		}
		if part != bloomFilters {
			if defs == nil {
				var err error
				if defs, err = t.definitions(ctx); err != nil {
					return nil, err
				}
			}
			d, ok := defs[part]
			if !ok {
				continue // which columns isn't known: the rows stay, unreachable
			}
			columns = d.Fields
			if strings.HasPrefix(part, expressionPart) {
				kind = strings.ToLower(d.Type)
			}
		}
		for partition, names := range c.Files {
			for _, name := range names {
				switch {
				case kind == bloomFilters && !strings.HasPrefix(name, "."):
					out[part] = append(out[part], bloomKey(partition, name))
				case kind == columnStats:
					for _, column := range columns {
						out[part] = append(out[part], columnStatsKey(column, partition, name))
					}
				}
			}
		}
		slices.Sort(out[part])
	}
	return out, nil
}

// shards returns the file groups of a metadata partition in order of their ids.
func shards(groups map[string]*slice) []string {
	ids := make([]string, 0, len(groups))
	for id := range groups {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}
