package cli

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lakesweep/lakesweep/lake/predicate/vacuumsql"
)

func (a *app) sqlCommand() *cobra.Command {
	var pf planFlags
	var af applyFlags
	cmd := &cobra.Command{
		Use:   "sql STATEMENT",
		Short: "Run a VACUUM statement of Spark SQL",
		Long: `Sql reads Delta's VACUUM statement, with a WHERE on partition columns, and does
what vacuum does with the same wishes as flags; with DRY RUN, what plan does:

  VACUUM [FROM] table [WHERE condition] [LITE | FULL] [RETAIN n HOURS]
    [USING INVENTORY source] [DRY RUN]

A table is named by its path: '/data/t', delta.` + "`s3://bucket/t`" + `. A name such as
db.table would need a catalog. What the statement doesn't say, the flags of
vacuum may; it comes before the environment and the settings file.`,
		Example: "  lakesweep sql 'VACUUM delta.`/data/events` RETAIN 168 HOURS DRY RUN'\n" +
			"  lakesweep sql \"VACUUM '/data/events' WHERE year||month >= '202307' LITE\" --yes",
		Args: exactly(1, "one STATEMENT"),
	}
	pf.bindTable(cmd.Flags())
	pf.bindSelection(cmd.Flags())
	pf.bindRetention(cmd.Flags())
	pf.bindTuning(cmd.Flags())
	af.bind(cmd.Flags())
	cmd.RunE = a.run(func(ctx context.Context, e engine, args []string) error {
		st, err := vacuumsql.Parse(args[0])
		if err != nil {
			return err
		}
		if err := pf.take(st, a.typed); err != nil {
			return err
		}
		reqs, err := pf.requests(a, []string{st.Path})
		if err != nil {
			return err
		}
		return a.vacuum(ctx, e, reqs[0], af, st.DryRun)
	})
	return cmd
}

// take puts the wishes of a statement where the flags would have put them.
// typed holds the flags that stand on the command line beside it.
//
// Errors: Invalid for names that only a catalog could resolve, and for what is
// said twice.
func (f *planFlags) take(st vacuumsql.Statement, typed map[string]bool) error {
	if st.Path == "" {
		name := strings.Join(st.Name, ".")
		return invalid("Write the table's path instead: VACUUM delta.`s3://bucket/table`.", "%q is the name of a table, and there is no catalog to look it up in", name)
	}
	source := st.Inventory
	if source != nil && len(source.Name) > 0 {
		name := strings.Join(source.Name, ".")
		return invalid("Write the path of the inventory instead: USING INVENTORY ('s3://bucket/inventory').", "%q is the name of a table, and there is no catalog to look it up in", name)
	}
	for _, said := range []struct {
		is    bool
		flags []string
		take  func()
	}{
		{st.Format != "", []string{"format"}, func() { f.req.Format = st.Format }},
		{st.Where != "", []string{"where"}, func() { f.req.Where = st.Where }},
		{st.Mode != "", []string{"mode"}, func() { f.req.Mode = st.Mode }},
		{source != nil, []string{"inventory", "inventory-sql"}, func() { f.req.Inventory.Source, f.req.Inventory.SQL = source.Path, source.Query }},
		{st.Retain != nil, []string{"retain", "cutoff"}, func() { f.req.Retain, f.req.Cutoff = st.Retain, time.Time{} }},
	} {
		if !said.is {
			continue
		}
		for _, flag := range said.flags {
			if typed[flag] {
				return invalid("Leave one of them out.", "the statement and --%s say the same thing twice", flag)
			}
		}
		said.take()
	}
	return nil
}
