package cli

import (
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/lakesweep/lakesweep/internal/cli/internal/value"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/sweep"
)

// blobFlags are the flags for external blobs of Hudi tables.
type blobFlags struct {
	req           sweep.BlobRequest
	grace, minAge time.Duration
	given         *pflag.FlagSet
}

func (f *blobFlags) bind(fs *pflag.FlagSet) {
	f.given = fs
	fs.Var(value.New(&f.req.Mode, "MODE", value.OneOf("off", "plan", "delete")), "blobs", "Hudi: external blobs: off (they are to stay), plan (show them) or delete (queue them, and delete those that are due); without it a clean that may lose some warns")
	f.bindNames(fs)
	fs.Var(value.New(&f.req.ScanFiles, "N", value.Objects), "blob-scan-files", "Hudi: read so many files for references in one run at most; the next goes on")
	fs.Var(value.New(&f.req.ScanBytes, "SIZE", value.AboveZero(value.Size)), "blob-scan-bytes", "Hudi: read files of such sizes in all for references in one run at most")
	fs.Var(value.Default(&f.req.Spelling, "HOW", "any", value.OneOf("any", "exact")), "blob-spelling", "Hudi: how references to a blob may be spelled: any way, or exact: all as the one that let it go, so that bounds and Bloom filters rule files out")
	fs.Var(value.New(&f.grace, "DURATION", value.Duration), "blob-grace", "Hudi: how long a blob is queued before it may die (default: 24h)")
	fs.Var(value.New(&f.minAge, "DURATION", value.Duration), "blob-min-age", "Hudi: younger blobs stay (default: 24h)")
	fs.Var(value.Many(&f.req.Also, "TABLE", value.Verbatim), "also-references", "Hudi: another table whose references keep blobs (repeatable)")
	fs.BoolVar(&f.req.Wait, "blobs-wait", false, "Hudi: wait until the blobs that this run queues are due, and delete them")
}

// bindNames binds what says which references there are.
func (f *blobFlags) bindNames(fs *pflag.FlagSet) {
	fs.Var(value.Many(&f.req.Columns, "NAMES", value.Verbatim), "blob-columns", "Hudi: columns that refer to blobs, with commas between, beside those that the schema says")
	fs.Var(value.Many(&f.req.Roots, "URI", lake.ParsePlace), "blob-root", "Hudi: a place where blobs lie; none dies elsewhere (repeatable)")
}

// bindBlobNames binds what says which references there are, and how they are spelled.
func (f *planFlags) bindBlobNames(fs *pflag.FlagSet) {
	f.blobs.bindNames(fs)
	fs.Var(value.Many(&f.maps, "FROM=TO", parseMap), "map", "names that begin with FROM are reached at TO (repeatable)")
}

// request returns what the flags say.
func (f *blobFlags) request() sweep.BlobRequest {
	r := f.req
	r.Columns = nil
	for _, names := range f.req.Columns {
		r.Columns = append(r.Columns, strings.Split(names, ",")...)
	}
	if f.given == nil {
		return r
	}
	if f.given.Changed("blob-grace") {
		r.Grace = &f.grace
	}
	if f.given.Changed("blob-min-age") {
		r.MinAge = &f.minAge
	}
	return r
}
