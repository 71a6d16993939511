package expiry

import (
	"fmt"
	"testing"

	"github.com/lakesweep/lakesweep/table/hudi/datafile"
	"github.com/lakesweep/lakesweep/table/hudi/filegroup"
	"github.com/lakesweep/lakesweep/table/hudi/folder"
	"github.com/lakesweep/lakesweep/table/hudi/retain"
)

// A missing newest slice doesn't let the one before it go.
func TestMissingNewestSliceKeepsTheOneBefore(t *testing.T) {
	c := retain.NewConfig()
	c.Policy, c.Versions = retain.LatestVersions, 1
	r := Rules{Config: c, Services: &filegroup.Services{}}
	of := func(instant string, missing bool) *filegroup.Slice {
		return &filegroup.Slice{Instant: instant, Bases: []*folder.File{{File: datafile.File{Name: instant}, Missing: missing}}}
	}
	got := ""
	for _, v := range r.Group(&filegroup.Group{Slices: []*filegroup.Slice{of("3", true), of("2", false), of("1", false)}}, nil) {
		got += fmt.Sprintf("%s %v, ", v.Slice.Instant, v.Dead)
	}
	if got != "3 false, 2 false, 1 true, " {
		t.Error(got)
	}
}
