package cli

import (
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/lakesweep/lakesweep/internal/cli/internal/value"
	"github.com/lakesweep/lakesweep/sweep"
)

// planFlags are the flags that say what a plan of a table is to be.
type planFlags struct {
	req     sweep.PlanRequest
	protect []string
	maps    []sweep.Map
	blobs   blobFlags
	// Tables named by overrides, as on the command line.
	retainBelow, mostlyDead, missingLive []string
}

// bindTable binds the flags that every command on a table has.
func (f *planFlags) bindTable(fs *pflag.FlagSet) {
	fs.Var(value.New(&f.req.Format, "FORMAT", value.OneOf("delta", "hudi")), "format", "format of the table: delta or hudi (default: detected)")
	fs.Var(value.New(&f.req.Hudi.TimelineZone, "ZONE", value.Verbatim), "timeline-zone", "Hudi: time zone of a timeline in local time")
	fs.Var(value.New(&f.req.Hudi.Config, "FILE", value.LocalFile), "config", "Hudi: properties file with Hudi's own keys")
}

// bindRetention binds what moves the cutoff.
func (f *planFlags) bindRetention(fs *pflag.FlagSet) {
	fs.Var(value.New(&f.req.Retain, "DURATION", parseRetain), "retain", "keep what was removed within this time (default: the table's property)")
	fs.Var(value.New(&f.req.Cutoff, "TIME", value.Time), "cutoff", "the instant before which removed files die, instead of --retain")
	f.bindKeep(fs)
	fs.Var(value.New(&f.req.Hudi.Policy, "POLICY", parsePolicy), "policy", "Hudi: latest-commits, latest-hours or latest-versions, or Hudi's own name of it")
	fs.Var(value.New(&f.req.Hudi.RetainCommits, "N", value.Count), "retain-commits", "Hudi: commits to keep")
	fs.Var(value.New(&f.req.Hudi.RetainHours, "N", value.Count), "retain-hours", "Hudi: hours to keep")
	fs.Var(value.New(&f.req.Hudi.RetainVersions, "N", value.Count), "retain-versions", "Hudi: file versions to keep")
}

// bindKeep binds what is kept whatever the cutoff.
func (f *planFlags) bindKeep(fs *pflag.FlagSet) {
	fs.Var(value.Many(&f.req.KeepVersions, "N", parseVersion), "keep-version", "Delta: keep all that version N needs (repeatable)")
	fs.Var(value.Many(&f.protect, "TABLE|FILE", value.Verbatim), "protect", "keep what a shallow clone or a list of paths names (repeatable)")
}

// bindSelection binds what narrows the candidates and where they come from.
func (f *planFlags) bindSelection(fs *pflag.FlagSet) {
	fs.Var(value.New(&f.req.Where, "EXPR", value.Verbatim), "where", "only partitions that match, such as \"year||month >= '202307'\"")
	fs.Var(value.New(&f.req.Mode, "MODE", value.OneOf("auto", "full", "lite")), "mode", "Delta: auto, full (list the store) or lite (the log alone)")
	fs.Var(value.New(&f.req.Inventory.Source, "SRC", value.Verbatim), "inventory", "take the candidates from this list instead of listing the store")
}

// bindTuning binds the rest of a plan's flags.
func (f *planFlags) bindTuning(fs *pflag.FlagSet) {
	fs.Var(value.New(&f.req.TimeZone, "ZONE", parseZone), "time-zone", "the session's time zone for --where (default: UTC)")
	fs.Var(value.New(&f.req.FullEvery, "DURATION", value.AboveZero(value.Duration)), "full-every", "Delta: auto runs full at least so often (default: 7d)")
	f.bindInventory(fs)
	fs.Var(value.Many(&f.req.Inventory.Journals, "JOURNAL", value.Verbatim), "inventory-journal", "journal of an earlier run, whose objects are gone from the inventory (repeatable)")
	f.bindAlone(fs)
	fs.BoolVar(&f.req.Hudi.Orphans, "orphans", false, "Hudi: also delete leftovers of failed writes")
	f.blobs.bind(fs)
	fs.Var(value.Many(&f.retainBelow, "TABLE", value.Verbatim), "unsafe-retain-below", "allow a retention below the table's own; names the table again")
	fs.Var(value.Many(&f.mostlyDead, "TABLE", value.Verbatim), "unsafe-mostly-dead", "allow more than half of the files to die; names the table again")
	fs.Var(value.Many(&f.missingLive, "TABLE", value.Verbatim), "unsafe-missing-live", "go on though live files are missing; names the table again")
}

func (f *planFlags) bindAlone(fs *pflag.FlagSet) {
	fs.BoolVar(&f.req.Hudi.NoOtherWriters, "no-other-writers", false, "Hudi: nobody else writes, so no lock is needed")
}

// bindForm binds what says how to read an inventory.
func (f *planFlags) bindForm(fs *pflag.FlagSet) {
	fs.Var(value.New(&f.req.Inventory.Columns, "COLUMNS", parseColumns), "inventory-columns", "columns of the inventory: path=NAME,size=NAME,modified=NAME, encoding=form; see https://github.com/lakesweep/lakesweep/blob/main/docs/inventories.md")
	fs.Var(value.New(&f.req.Inventory.SQL, "QUERY", value.Verbatim), "inventory-sql", "a query whose rows are the inventory; it may call SRC \"inventory\" (needs the duckdb program)")
	fs.Var(value.New(&f.req.Inventory.Taken, "TIME", value.Time), "inventory-taken", "when the scan of the inventory began, where it doesn't say")
}

// bindInventory binds what explains an inventory of a table.
func (f *planFlags) bindInventory(fs *pflag.FlagSet) {
	f.bindForm(fs)
	fs.Var(value.New(&f.req.Inventory.MaxAge, "DURATION", value.AboveZero(value.Duration)), "max-inventory-age", "refuse an older inventory")
	f.bindMap(fs)
}

func (f *planFlags) bindMap(fs *pflag.FlagSet) {
	fs.Var(value.Many(&f.maps, "FROM=TO", parseMap), "map", "names that begin with FROM are reached at TO (repeatable)")
}

// requests returns a request for each of the tables.
//
// Errors: Invalid, all faults at once where they don't hide each other.
func (f *planFlags) requests(a *app, tables []string) ([]sweep.PlanRequest, error) {
	if f.req.Retain != nil && !f.req.Cutoff.IsZero() {
		switch { // the one on the command line comes before settings
		case a.typed["cutoff"] && !a.typed["retain"]:
			f.req.Retain = nil
		case a.typed["retain"] && !a.typed["cutoff"]:
			f.req.Cutoff = time.Time{}
		default:
			return nil, invalid("Leave one of them out.", "--retain and --cutoff both say what the cutoff is")
		}
	}
	for _, u := range []struct {
		flag  string
		named []string
	}{{"unsafe-retain-below", f.retainBelow}, {"unsafe-mostly-dead", f.mostlyDead}, {"unsafe-missing-live", f.missingLive}} {
		if !a.typed[u.flag] {
			continue // a fleet's settings name the tables of other runs too
		}
		if err := checkUnsafe(u.flag, u.named, tables); err != nil {
			return nil, err
		}
	}
	if len(tables) == 1 {
		f.req.Wishes = a.wishes
	}
	reqs := make([]sweep.PlanRequest, len(tables))
	for i, table := range tables {
		r := f.req
		r.Hudi.Blobs = f.blobs.request()
		r.Table, r.Protect, r.Inventory.Maps, r.Tuning = table, f.protect, f.maps, a.flags.tuning
		r.Unsafe = sweep.Unsafe{RetainBelow: named(f.retainBelow, table), MostlyDead: named(f.mostlyDead, table), MissingLive: named(f.missingLive, table)}
		reqs[i] = r
	}
	return reqs, nil
}

// checkUnsafe checks that each override names one of the tables as they stand
// on the command line.
//
// Errors: Invalid.
func checkUnsafe(flag string, named, tables []string) error {
	for _, n := range named {
		if !slices.Contains(tables, n) {
			return invalid("Write the table exactly as the command names it, or leave the flag out.",
				"--%s names %q, which is no table of this command", flag, n)
		}
	}
	return nil
}

// wishes returns by format the first of the flags on the command line that only
// tables of this format heed, by the first word of their help; nil if there is none.
func wishes(fs *pflag.FlagSet) map[string]string {
	var all map[string]string
	fs.Visit(func(f *pflag.Flag) {
		format, _, _ := strings.Cut(f.Usage, ": ")
		format = strings.ToLower(format)
		if (format == "delta" || format == "hudi") && all[format] == "" {
			if all == nil {
				all = make(map[string]string)
			}
			all[format] = f.Name
		}
	})
	return all
}

// named returns table if it is among names, else "".
func named(names []string, table string) string {
	if slices.Contains(names, table) {
		return table
	}
	return ""
}

// applyFlags are the flags that say how a plan is carried out.
type applyFlags struct {
	req sweep.ApplyRequest
	yes bool
}

func (f *applyFlags) bind(fs *pflag.FlagSet) {
	fs.BoolVarP(&f.yes, "yes", "y", false, "delete without asking")
	fs.Var(value.New(&f.req.MaxDelete, "N", value.Objects), "max-delete", "stop after so many objects (exit 6)")
	fs.Var(value.New(&f.req.MaxBytes, "SIZE", value.AboveZero(value.Size)), "max-bytes", "stop after so many bytes (exit 6)")
	fs.Var(value.New(&f.req.MaxDuration, "DURATION", value.AboveZero(value.Duration)), "max-duration", "stop after so long (exit 6)")
	fs.Var(value.New(&f.req.Quarantine, "PREFIX", value.Verbatim), "quarantine", "move there instead of deleting; lies outside every table")
	fs.BoolVar(&f.req.Trash, "trash", false, "HDFS: move into the user's trash instead of deleting; its expunging frees the space")
	fs.Var(value.New(&f.req.Journal, "URI", value.Verbatim), "journal", "where the journal is written (default: beside the plan file; of a run without one beside its quarantine, or in the state directory)")
	fs.Var(value.New(&f.req.CommitLog, "WHEN", value.OneOf("auto", "on", "off")), "commit-log", "Delta: write VACUUM START and END commits: auto, on or off")
	fs.Var(value.New(&f.req.AllVersions, "TABLE", value.Verbatim), "all-versions", "delete old versions of a versioned bucket too; names the table again")
}
