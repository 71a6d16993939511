package meta

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/lakesweep/lakesweep/lake"
)

// Metadata is the table's metaData action as lakesweep needs it.
type Metadata struct {
	ID               string
	Name             string
	PartitionColumns []Column
	DataColumns      []string // the other top-level columns, logical names, for messages
	Clustered        bool     // the clustering feature is there
	Configuration    map[string]string

	Fingerprint string // of all that may not change under a plan
}

// Column is a partition column.
type Column struct {
	Name     string // logical, as a user writes it
	Physical string // as the keys of partitionValues and directories spell it
	Type     string // the schema's own word: "string", "date", "decimal(10,2)"
}

// MetadataAction is a metaData action as it stands in the log.
type MetadataAction struct {
	ID               string             `json:"id"`
	Name             *string            `json:"name"`
	Schema           string             `json:"schemaString"`
	PartitionColumns []string           `json:"partitionColumns"`
	Configuration    map[string]*string `json:"configuration"`
}

type schemaField struct {
	Name     string                    `json:"name"`
	Type     jsontext.Value            `json:"type"`
	Metadata map[string]jsontext.Value `json:"metadata"`
}

// Keys of the configuration.
const (
	RetentionKey   = "delta.deletedFileRetentionDuration"
	FeedKey        = "delta.enableChangeDataFeed"
	ictKey         = "delta.enableInCommitTimestamps"
	ictVersionKey  = "delta.inCommitTimestampEnablementVersion"
	uniformKey     = "delta.universalFormat.enabledFormats"
	physicalKey    = "delta.columnMapping.physicalName"
	defaultRetain  = 7 * 24 * time.Hour
	coordinatorKey = "delta.coordinatedCommits.commitCoordinator"
	managedKey     = "delta.managedCommits.commitOwner"
)

// ParseMetadata reads a metaData action of a line.
func ParseMetadata(raw []byte) (Metadata, error) {
	var a MetadataAction
	if err := json.Unmarshal(raw, &a); err != nil {
		return Metadata{}, fmt.Errorf("metaData: %w", err)
	}
	return a.Metadata()
}

// Metadata returns what the action means.
//
// Errors: a partition column that the schema lacks, or a schema that can't be read.
func (a MetadataAction) Metadata() (Metadata, error) {
	m := Metadata{ID: a.ID, PartitionColumns: []Column{}, Configuration: map[string]string{}}
	if a.Name != nil {
		m.Name = *a.Name
	}
	for k, v := range a.Configuration {
		if v != nil {
			m.Configuration[k] = *v
		}
	}
	m.Fingerprint = a.sum(m.Configuration)
	var schema struct {
		Fields []schemaField `json:"fields"`
	}
	if err := json.Unmarshal([]byte(a.Schema), &schema); err != nil {
		if len(a.PartitionColumns) == 0 {
			return m, nil // only partition columns matter
		}
		return m, fmt.Errorf("schemaString: %w", err)
	}
	for _, f := range schema.Fields {
		if !slices.Contains(a.PartitionColumns, f.Name) {
			m.DataColumns = append(m.DataColumns, f.Name)
		}
	}
	for _, name := range a.PartitionColumns {
		i := slices.IndexFunc(schema.Fields, func(f schemaField) bool { return f.Name == name })
		if i < 0 { // names of columns differ in case at most
			i = slices.IndexFunc(schema.Fields, func(f schemaField) bool { return strings.EqualFold(f.Name, name) })
		}
		if i < 0 {
			return m, fmt.Errorf("partition column %q isn't in the schema", name)
		}
		c, err := schema.Fields[i].column(name)
		if err != nil {
			return m, err
		}
		m.PartitionColumns = append(m.PartitionColumns, c)
	}
	return m, nil
}

func (f schemaField) column(name string) (Column, error) {
	c := Column{Name: name, Physical: name}
	if err := json.Unmarshal(f.Type, &c.Type); err != nil {
		return c, fmt.Errorf("partition column %q has no simple type", name)
	}
	if p, ok := f.Metadata[physicalKey]; ok {
		if err := json.Unmarshal(p, &c.Physical); err != nil {
			return c, fmt.Errorf("physical name of %q: %w", name, err)
		}
	}
	return c, nil
}

// sum is a fingerprint of the action, apart from descriptions and times.
func (a MetadataAction) sum(conf map[string]string) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q", a.ID, a.Schema, a.PartitionColumns)
	for _, k := range slices.Sorted(maps.Keys(conf)) {
		fmt.Fprintf(h, " %q=%q", k, conf[k])
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Retention reads the property of this metadata.
//
// Errors: Damaged.
func (m Metadata) Retention() (time.Duration, error) {
	s, ok := m.Configuration[RetentionKey]
	if !ok {
		return defaultRetain, nil
	}
	d, err := parseInterval(s)
	if err != nil {
		return 0, &lake.Error{Op: "read " + RetentionKey, Kind: lake.Damaged, Err: fmt.Errorf("%q: %w", s, err),
			Hint: "Set the table property to an interval such as 'interval 7 days'."}
	}
	return d, nil
}

// Coordinated names the commit coordinator of the table, "" without one: then
// _delta_log alone is the whole truth.
func (m Metadata) Coordinated() error {
	for k, v := range m.Configuration {
		if (strings.HasPrefix(k, coordinatorKey) || strings.HasPrefix(k, managedKey)) && !strings.Contains(k, "Conf") && v != "" {
			return &lake.Error{Op: "check protocol", Kind: lake.Unsupported, Code: "unsupported_feature",
				Err:  errors.New("commits are coordinated by " + v + "; the newest may not be in _delta_log"),
				Hint: "Nothing was deleted. Clean this table with an engine that asks the coordinator."}
		}
	}
	return nil
}

// ICT reports whether the commit time of version is its inCommitTimestamp.
func (m Metadata) ICT(version int64) bool {
	if m.Configuration[ictKey] != "true" {
		return false
	}
	var from int64
	if s, ok := m.Configuration[ictVersionKey]; ok {
		if _, err := fmt.Sscan(s, &from); err != nil {
			return false
		}
	}
	return version >= from
}

// Rules returns the hidden rules. p decides about Iceberg beside m.
func (m Metadata) Rules(p Protocol) Rules {
	r := Rules{}
	for _, c := range m.PartitionColumns {
		r.PartitionColumns = append(r.PartitionColumns, c.Name)
	}
	for f := range strings.SplitSeq(m.Configuration[uniformKey], ",") {
		r.HideMetadata = r.HideMetadata || strings.EqualFold(strings.TrimSpace(f), "iceberg")
	}
	for _, f := range p.Features() {
		r.HideMetadata = r.HideMetadata || strings.HasPrefix(f, "iceberg")
	}
	return r
}
