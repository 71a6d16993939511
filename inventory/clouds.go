package inventory

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lakesweep/lakesweep/lake"
)

// s3 takes the manifest of an S3 Inventory report. Its CSV files have no
// header, their keys are form-encoded (or as detect finds out); keys in Parquet files are raw.
// Source: S3 User Guide, "Locating your inventory list" (spec A5).
func (s *Source) s3(m *manifest, p *part) error {
	switch strings.ToUpper(m.FileFormat) {
	case "CSV":
		s.form.kind = "csv"
		for name := range strings.SplitSeq(m.FileSchema, ",") {
			s.form.csv.names = append(s.form.csv.names, strings.TrimSpace(name))
		}
		s.form.csv.comma = ','
		s.form.detected = s.o.Columns["encoding"] == ""
	case "PARQUET":
		s.form.kind = "parquet"
	case "ORC":
		return p.failed(lake.Unsupported, errors.New("an inventory in ORC"), orcHint)
	default:
		return p.failed(lake.Unsupported, fmt.Errorf("an inventory in the format %q", m.FileFormat), orcHint)
	}
	s.form.scheme = "s3"
	if ms := m.CreationTimestamp.number(); ms > 0 {
		s.info.Taken = time.UnixMilli(ms)
	}
	return s.files(m, p, func(f manifestFile) string { return f.Key })
}

// azure takes the manifest of an Azure Blob Inventory run. Names begin with
// the container. Source: "Azure Storage blob inventory" (spec A5).
func (s *Source) azure(m *manifest, p *part) error {
	if m.Status != "" && !strings.EqualFold(m.Status, "Succeeded") {
		return p.failed(lake.Damaged, fmt.Errorf("the run's status is %q", m.Status), "Wait for the run to end, or take an older one.")
	}
	rule := m.RuleDefinition
	if rule == nil {
		rule = &azureRule{}
	}
	if strings.EqualFold(rule.ObjectType, "container") {
		return p.failed(lake.Invalid, errors.New("an inventory of containers, not of blobs"), "Name the manifest of a rule with the object type blob.")
	}
	switch strings.ToLower(rule.Format) {
	case "csv", "":
		s.form.kind, s.form.csv = "csv", csvForm{comma: ',', header: true}
	case "parquet":
		s.form.kind = "parquet"
	default:
		return p.failed(lake.Unsupported, fmt.Errorf("an inventory in the format %q", rule.Format), "Set the rule's format to Parquet or CSV.")
	}
	s.form.scheme, s.form.containerFirst = "az", true
	if t, ok := isoTime([]byte(m.InventoryStartTime)); ok {
		s.info.Taken = t
	}
	s.info.Rows = m.Summary.ObjectCount.number()
	return s.files(m, p, func(f manifestFile) string { return f.Blob })
}

// files takes the data files of an S3 or Azure manifest.
func (s *Source) files(m *manifest, p *part, name func(manifestFile) string) error {
	for _, f := range m.Files {
		d := part{name: name(f), size: -1, md5: f.MD5checksum}
		if d.name == "" {
			return p.damaged(errors.New("a file without a name"))
		}
		if f.Size != nil {
			d.size = *f.Size
		}
		s.parts = append(s.parts, d)
	}
	return nil
}

// gcs takes the manifest of a Storage Insights report, in either spelling.
// Source: Storage Insights, ReportDetail (spec A5).
func (s *Source) gcs(m *manifest, p *part) error {
	names := m.ShardNames
	if len(names) == 0 {
		names = m.ReportNames
	}
	if n := m.ShardCount.number(); n >= 0 && n != int64(len(names)) {
		return p.damaged(fmt.Errorf("%d shards, but names for %d", n, len(names)))
	}
	for _, name := range names {
		if name == "" {
			return p.damaged(errors.New("a shard without a name"))
		}
		s.parts = append(s.parts, part{name: name, size: -1})
	}
	s.form.scheme = "gs"
	if err := s.gcsForm(m, names, p); err != nil {
		return err
	}
	for _, when := range []string{m.SnapshotTime, string(m.TargetDatetime)} {
		if t, ok := isoTime([]byte(when)); ok && s.info.Taken.IsZero() {
			s.info.Taken = t
		}
	}
	s.info.Rows = m.RecordsProcessed.number()
	return nil
}

func (s *Source) gcsForm(m *manifest, names []string, p *part) error {
	config := m.ReportConfig
	if config == nil {
		config = &gcsConfig{}
	}
	if len(config.Parquet) > 0 && string(config.Parquet) != "null" || config.CSV == nil && len(names) > 0 && extension(names[0]) == ".parquet" {
		s.form.kind = "parquet"
		return nil
	}
	s.form.kind, s.form.csv = "csv", csvForm{comma: ',', header: true}
	if config.CSV == nil {
		return nil
	}
	switch d := config.CSV.Delimiter; len(d) {
	case 0:
	case 1:
		s.form.csv.comma = d[0]
	default:
		return p.failed(lake.Unsupported, fmt.Errorf("fields separated by %q", d), "Configure the report with a separator of one character, or as Parquet.")
	}
	if !config.CSV.HeaderRequired {
		s.form.csv.header, s.form.csv.names = false, config.Objects.Fields
		if len(config.Objects.Fields) == 0 && s.o.Columns["path"] == "" {
			return p.failed(lake.Invalid, errors.New("the report has no header, and its manifest doesn't name the columns"),
				"Say which column is which: --inventory-columns bucket=2,path=3,size=5,modified=8 (numbers from 1), or configure the report with a header.")
		}
	}
	return nil
}
