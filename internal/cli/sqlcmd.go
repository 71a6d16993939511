package cli

import (
	"context"

	"github.com/spf13/cobra"
)

func (a *app) sqlCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "sql STATEMENT",
		Short:   "Run a VACUUM statement of Spark SQL",
		Long:    "Sql reads Delta's VACUUM statement, with a WHERE on partition columns, and does what\nvacuum does with the same wishes as flags; with DRY RUN, what plan does.",
		Example: "  lakesweep sql \"VACUUM delta.`/data/events` RETAIN 168 HOURS DRY RUN\"",
		Args:    exactly(1, "one STATEMENT"),
	}
	cmd.RunE = a.run(func(ctx context.Context, e engine, args []string) error {
		return missing("sql")
	})
	return cmd
}
