package hudi

import (
	"time"

	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// ZoneKnown reports whether the zone of the timeline's instants is known, which
// a clean's own instant takes.
//
// Errors: Invalid for a LOCAL timeline whose zone wasn't given.
func (t *Table) ZoneKnown() error {
	_, err := t.zone()
	return err
}

// zone returns the zone of the timeline's instants.
func (t *Table) zone() (*time.Location, error) { return timeline.Zone(t.properties, t.o.Zone) }
