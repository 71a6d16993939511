package hudi

import "github.com/lakesweep/lakesweep/table/hudi/timeline"

// ZoneKnown reports whether the zone of the timeline's instants is known, which
// a clean's own instant takes.
//
// Errors: Invalid for a LOCAL timeline whose zone wasn't given.
func (t *Table) ZoneKnown() error {
	_, err := timeline.Zone(t.properties, t.o.Zone)
	return err
}
