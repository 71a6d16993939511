package hudi

import (
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"time"

	"github.com/lakesweep/lakesweep/table"
	"github.com/lakesweep/lakesweep/table/hudi/mdt"
	"github.com/lakesweep/lakesweep/table/hudi/retain"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// ID identifies the table: its name, and a checksum of what it was created as.
// Hudi gives tables no identity of their own.
func (t *Table) ID() string {
	p := t.snap.Properties
	made := crc32.ChecksumIEEE([]byte(strings.Join([]string{p["hoodie.table.create.schema"], t.Type(), p["hoodie.table.partition.fields"], p["hoodie.table.recordkey.fields"], p["hoodie.table.initial.version"]}, "\x00")))
	return fmt.Sprintf("%s.%s#%08x", p["hoodie.database.name"], p["hoodie.table.name"], made)
}

// LastInstant returns the last completed write, "" if there is none.
func (t *Table) LastInstant() string {
	writes := t.snap.Timeline.Writes()
	if len(writes) == 0 {
		return ""
	}
	return writes[len(writes)-1].Time
}

// Warnings says what the user should know though it stops nothing.
func (t *Table) Warnings() []string {
	out := slices.Clone(t.snap.Services.Warnings)
	if t.snap.Distrust != nil {
		out = append(out, fmt.Sprintf("folders are listed instead of the metadata table: %v", t.snap.Distrust))
	}
	for _, s := range t.snap.Timeline.Strays {
		out = append(out, "a crash left the temporary file "+s+" on the timeline")
	}
	return out
}

// Info describes the table as it was opened. Files aren't counted.
func (t *Table) Info() table.Info {
	p := t.snap.Properties
	info := table.Info{
		Table: t.snap.Root.String(), Format: "hudi", TableID: t.ID(), Name: p["hoodie.table.name"], Instant: t.LastInstant(),
		Protocol:         map[string]string{"table_version": t.snap.Version, "timeline_layout": p["hoodie.timeline.layout.version"], "table_type": t.Type()},
		PartitionColumns: []string{}, RetentionSource: "the cleaning policy's default", Features: t.features(),
		Properties: map[string]string{},
	}
	for field := range strings.SplitSeq(p["hoodie.table.partition.fields"], ",") {
		if name, _, _ := strings.Cut(field, ":"); name != "" {
			info.PartitionColumns = append(info.PartitionColumns, name)
		}
	}
	for k, v := range p {
		if k != "hoodie.table.create.schema" {
			info.Properties[k] = v
		}
	}
	zone, err := t.snap.Zone()
	if err != nil {
		zone = time.UTC
	}
	if at, err := timeline.ParseTime(info.Instant, zone); err == nil {
		info.Committed = at.UTC()
	}
	info.Retention = fmt.Sprintf("%d commits", retain.NewConfig().Commits)
	return info
}

// features names what the table has beyond base files and commits.
func (t *Table) features() []string {
	var out []string
	for _, m := range mdt.Partitions(t.snap.Properties) {
		out = append(out, "metadata:"+m)
	}
	add := func(on bool, name string) {
		if on {
			out = append(out, name)
		}
	}
	add(strings.EqualFold(t.snap.Properties["hoodie.table.cdc.enabled"], "true"), "cdc")
	add(t.snap.Properties["hoodie.bootstrap.base.path"] != "", "bootstrap")
	add(len(t.snap.Services.Savepoints) > 0, "savepoints")
	add(len(t.snap.Services.Compacting) > 0, "pending_compaction")
	add(len(t.snap.Services.Replaced) > 0, "replaced_groups")
	return out
}
