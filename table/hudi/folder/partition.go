package folder

import (
	"errors"
	"path"
	"strings"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table/hudi/datafile"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// Partition is one partition as its folder, and the metadata table, show it. Who
// is given it to visit keeps nothing of files: another partition's come there.
type Partition struct {
	Path     string
	Files    []File      // base and log files that are part of the table, missing ones included
	Unlisted []File      // in the folder, but not in the metadata table
	Marker   *store.Info // .hoodie_partition_metadata
	Foreign  []string    // names of other files and folders
	Links    []string    // those of foreign that are symlinks
	Dirs     []string    // sub-folders, with their path
	Nested   bool        // another table's root
}

// File is a base or log file of a partition.
type File struct {
	datafile.File
	Key      lake.Key  // Name is its end
	Size     int64     // bytes; -1 if unknown
	Modified time.Time // zero if unknown
	ETag     string
	Listed   int64 // size by the metadata table; 0 if it doesn't say
	Missing  bool  // the metadata table lists it, the folder doesn't
}

func (f *Partition) add(e *store.Info) {
	name := lake.Key(e.Name).Base() // shares the page's memory, which goes with the partition
	switch {
	case e.Kind == store.Dir || e.Kind == store.Marker && e.Name != f.Path:
		f.dir(name)
	case e.Kind == store.Marker:
	case e.Kind != store.File:
		f.Foreign = append(f.Foreign, name)
		if e.Kind == store.Symlink {
			f.Links = append(f.Links, strings.Clone(name))
		}
	case datafile.IsPartitionMetadata(name):
		marker := *e
		marker.Name = strings.Clone(e.Name)
		f.Marker = &marker
	case strings.HasPrefix(name, ".") && strings.HasSuffix(name, ".crc"): // Hadoop's checksum of a file
	default:
		if d, ok := datafile.Parse(name); ok {
			f.Files = append(f.Files, File{File: d, Key: lake.Key(e.Name), Size: e.Size, Modified: e.Modified, ETag: e.ETag})
		} else {
			f.Foreign = append(f.Foreign, name)
		}
	}
}

func (f *Partition) dir(name string) {
	switch {
	case name == timeline.Dir && f.Path == "":
	case name == timeline.Dir || name == "_delta_log":
		f.Nested = f.Nested || f.Path != ""
		f.Foreign = append(f.Foreign, name)
	default:
		f.Foreign = append(f.Foreign, name)
		f.Dirs = append(f.Dirs, strings.Clone(string(f.Key(name)))) // outlives the folder
	}
}

// Check refuses a partition path that could lead out of the table.
func Check(p string) error {
	if p != "" && (path.Clean("/"+p) != "/"+p || p == timeline.Dir || strings.HasPrefix(p, timeline.Dir+"/")) {
		return &lake.Error{Op: "read metadata", Key: lake.Key(p), Kind: lake.Damaged, Err: errors.New("no partition can have this path")}
	}
	return nil
}

func (f *Partition) Key(name string) lake.Key { return Key(f.Path, name) }

// Key returns the key of a file of a partition.
func Key(partition, name string) lake.Key {
	if partition == "" {
		return lake.Key(name)
	}
	return lake.Key(partition + "/" + name)
}
