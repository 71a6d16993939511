package delta

import (
	"context"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table"
)

// Explain says what the log knows about key: every version and action that
// names it under any spelling, with the rule. The verdict is live, history,
// hidden, or "" where the log doesn't protect it and the storage time decides.
func (t *Table) Explain(ctx context.Context, key lake.Key, cutoff time.Time) (table.Explanation, error) {
	return table.Explanation{}, nil
}
