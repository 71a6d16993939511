package cli

import (
	"errors"
	"time"

	"github.com/spf13/pflag"

	"github.com/lakesweep/lakesweep/lake"
)

// blobFlags are the flags for external blobs of Hudi tables. They are read
// and checked; with --blobs off, all that this build does, none has an effect.
type blobFlags struct {
	mode          string
	columns       []string
	roots         []lake.Root
	grace, minAge time.Duration
}

func (f *blobFlags) bind(fs *pflag.FlagSet) {
	fs.Var(&value[string]{to: &f.mode, parse: oneOf("off", "plan", "delete"), kind: "MODE", text: "off"}, "blobs", "Hudi: external blobs: off, plan or delete (this build: off)")
	fs.Var(newValues(&f.columns, "NAMES", verbatim), "blob-columns", "Hudi: more columns that refer to blobs")
	fs.Var(newValues(&f.roots, "URI", lake.ParsePlace), "blob-root", "Hudi: blobs die only below this place (repeatable)")
	fs.Var(newValue(&f.grace, "DURATION", parseDuration), "blob-grace", "Hudi: how long a blob is queued before it dies")
	fs.Var(newValue(&f.minAge, "DURATION", parseDuration), "blob-min-age", "Hudi: younger blobs stay")
	for _, name := range []string{"blob-columns", "blob-root", "blob-grace", "blob-min-age"} {
		fs.Lookup(name).Hidden = true
	}
}

// check refuses what this build can't do.
func (f *blobFlags) check(tables []string) error {
	if f.mode == "" || f.mode == "off" || len(tables) == 0 {
		return nil
	}
	return &lake.Error{Op: "plan blobs", Table: tables[0], Kind: lake.Unsupported, Err: errors.New("this build leaves external blobs alone"),
		Hint: "Leave --blobs out: file slices are cleaned, blobs stay."}
}
