package catalog

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lakesweep/lakesweep/inventory/internal/decode"
	"github.com/lakesweep/lakesweep/inventory/internal/part"
	"github.com/lakesweep/lakesweep/inventory/internal/value"
	"github.com/lakesweep/lakesweep/lake"
)

// s3 takes the manifest of an S3 Inventory report. Its CSV files have no
// header, their keys are form-encoded (or as detect finds out); keys in Parquet files are raw.
// Source: S3 User Guide, "Locating your inventory list" (spec A5).
func (l *List) s3(m *manifest, p *part.Part) error {
	switch strings.ToUpper(m.FileFormat) {
	case "CSV":
		l.Form.Kind = "csv"
		for name := range strings.SplitSeq(m.FileSchema, ",") {
			l.Form.CSV.Names = append(l.Form.CSV.Names, strings.TrimSpace(name))
		}
		l.Form.CSV.Comma = ','
		l.Form.Detected = l.Form.Explicit["encoding"] == ""
	case "PARQUET":
		l.Form.Kind = "parquet"
	case "ORC":
		return p.Failed(lake.Unsupported, errors.New("an inventory in ORC"), decode.ORCHint)
	default:
		return p.Failed(lake.Unsupported, fmt.Errorf("an inventory in the format %q", m.FileFormat), decode.ORCHint)
	}
	l.Form.Scheme = "s3"
	if ms := m.CreationTimestamp.number(); ms > 0 {
		l.Taken = time.UnixMilli(ms)
	}
	return l.files(m, p, func(f manifestFile) string { return f.Key })
}

// azure takes the manifest of an Azure Blob Inventory run. Names begin with
// the container. Source: "Azure Storage blob inventory" (spec A5).
func (l *List) azure(m *manifest, p *part.Part) error {
	if m.Status != "" && !strings.EqualFold(m.Status, "Succeeded") {
		return p.Failed(lake.Damaged, fmt.Errorf("the run's status is %q", m.Status), "Wait for the run to end, or take an older one.")
	}
	rule := m.RuleDefinition
	if rule == nil {
		rule = &azureRule{}
	}
	if strings.EqualFold(rule.ObjectType, "container") {
		return p.Failed(lake.Invalid, errors.New("an inventory of containers, not of blobs"), "Name the manifest of a rule with the object type blob.")
	}
	switch strings.ToLower(rule.Format) {
	case "csv", "":
		l.Form.Kind, l.Form.CSV = "csv", decode.CSV{Comma: ',', Header: true}
	case "parquet":
		l.Form.Kind = "parquet"
	default:
		return p.Failed(lake.Unsupported, fmt.Errorf("an inventory in the format %q", rule.Format), "Set the rule's format to Parquet or CSV.")
	}
	l.Form.Scheme, l.Form.ContainerFirst = "az", true
	if t, ok := value.ISOTime([]byte(m.InventoryStartTime)); ok {
		l.Taken = t
	}
	l.Rows = m.Summary.ObjectCount.number()
	return l.files(m, p, func(f manifestFile) string { return f.Blob })
}

// files takes the data files of an S3 or Azure manifest.
func (l *List) files(m *manifest, p *part.Part, name func(manifestFile) string) error {
	for _, f := range m.Files {
		d := part.Part{Name: name(f), Size: -1, MD5: f.MD5checksum}
		if d.Name == "" {
			return p.Damaged(errors.New("a file without a name"))
		}
		if f.Size != nil {
			d.Size = *f.Size
		}
		l.Parts = append(l.Parts, d)
	}
	return nil
}

// gcs takes the manifest of a Storage Insights report, in either spelling.
// Source: Storage Insights, ReportDetail (spec A5).
func (l *List) gcs(m *manifest, p *part.Part) error {
	names := m.ShardNames
	if len(names) == 0 {
		names = m.ReportNames
	}
	if n := m.ShardCount.number(); n >= 0 && n != int64(len(names)) {
		return p.Damaged(fmt.Errorf("%d shards, but names for %d", n, len(names)))
	}
	for _, name := range names {
		if name == "" {
			return p.Damaged(errors.New("a shard without a name"))
		}
		l.Parts = append(l.Parts, part.Part{Name: name, Size: -1})
	}
	l.Form.Scheme = "gs"
	if err := l.gcsForm(m, names, p); err != nil {
		return err
	}
	for _, when := range []string{m.SnapshotTime, string(m.TargetDatetime)} {
		if t, ok := value.ISOTime([]byte(when)); ok && l.Taken.IsZero() {
			l.Taken = t
		}
	}
	l.Rows = m.RecordsProcessed.number()
	return nil
}

func (l *List) gcsForm(m *manifest, names []string, p *part.Part) error {
	config := m.ReportConfig
	if config == nil {
		config = &gcsConfig{}
	}
	if len(config.Parquet) > 0 && string(config.Parquet) != "null" || config.CSV == nil && len(names) > 0 && part.Extension(names[0]) == ".parquet" {
		l.Form.Kind = "parquet"
		return nil
	}
	l.Form.Kind, l.Form.CSV = "csv", decode.CSV{Comma: ',', Header: true}
	if config.CSV == nil {
		return nil
	}
	switch d := config.CSV.Delimiter; len(d) {
	case 0:
	case 1:
		l.Form.CSV.Comma = d[0]
	default:
		return p.Failed(lake.Unsupported, fmt.Errorf("fields separated by %q", d), "Configure the report with a separator of one character, or as Parquet.")
	}
	if !config.CSV.HeaderRequired {
		l.Form.CSV.Header, l.Form.CSV.Names = false, config.Objects.Fields
		if len(config.Objects.Fields) == 0 && l.Form.Explicit["path"] == "" {
			return p.Failed(lake.Invalid, errors.New("the report has no header, and its manifest doesn't name the columns"),
				"Say which column is which: --inventory-columns bucket=2,path=3,size=5,modified=8 (numbers from 1), or configure the report with a header.")
		}
	}
	return nil
}
