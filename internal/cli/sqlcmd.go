package cli

import (
	"context"
	"strings"

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
db.table would need a catalog.`,
		Example: "  lakesweep sql 'VACUUM delta.`/data/events` RETAIN 168 HOURS DRY RUN'\n" +
			"  lakesweep sql \"VACUUM '/data/events' WHERE year||month >= '202307' LITE\" --yes",
		Args: exactly(1, "one STATEMENT"),
	}
	pf.bindKeep(cmd.Flags())
	pf.bindTuning(cmd.Flags())
	af.bind(cmd.Flags())
	cmd.RunE = a.run(func(ctx context.Context, e engine, args []string) error {
		st, err := vacuumsql.Parse(args[0])
		if err != nil {
			return err
		}
		if err := pf.take(st); err != nil {
			return err
		}
		reqs, err := pf.requests(a, []string{st.Path})
		if err != nil {
			return err
		}
		if st.Retain != nil {
			reqs[0].Retain = st.Retain
		}
		return a.vacuum(ctx, e, reqs[0], af, st.DryRun)
	})
	return cmd
}

// take puts the wishes of a statement where the flags would have put them.
//
// Errors: Invalid for names that only a catalog could resolve.
func (f *planFlags) take(st vacuumsql.Statement) error {
	if st.Path == "" {
		name := strings.Join(st.Name, ".")
		return invalid("Write the table's path instead: VACUUM delta.`s3://bucket/table`.", "%q is the name of a table, and there is no catalog to look it up in", name)
	}
	f.req.Format, f.req.Where, f.req.Mode = st.Format, st.Where, st.Mode
	if st.Inventory == nil {
		return nil
	}
	if len(st.Inventory.Name) > 0 {
		name := strings.Join(st.Inventory.Name, ".")
		return invalid("Write the path of the inventory instead: USING INVENTORY ('s3://bucket/inventory').", "%q is the name of a table, and there is no catalog to look it up in", name)
	}
	f.req.Inventory.Source, f.req.Inventory.SQL = st.Inventory.Path, st.Inventory.Query
	return nil
}
