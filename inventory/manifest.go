package inventory

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/lakesweep/lakesweep/lake"
)

// maxManifest bounds a manifest: one of a million files has about 200 MB.
const maxManifest = 512 << 20

// manifest is what any of the three stores' manifests may say. Names match
// without case and underscores; unknown members are ignored.
// Source: spec/listing-and-libraries.md A5.
type manifest struct {
	// S3 Inventory
	SourceBucket      string `json:"sourceBucket"`
	DestinationBucket string `json:"destinationBucket"`
	CreationTimestamp text   `json:"creationTimestamp"` // epoch milliseconds, the start of the scan
	FileFormat        string `json:"fileFormat"`
	FileSchema        string `json:"fileSchema"`

	Files []manifestFile `json:"files"` // of S3 and Azure

	// Azure Blob Inventory
	DestinationContainer string     `json:"destinationContainer"`
	Endpoint             string     `json:"endpoint"`
	Status               string     `json:"status"`
	InventoryStartTime   string     `json:"inventoryStartTime"`
	RuleDefinition       *azureRule `json:"ruleDefinition"`
	Summary              struct {
		ObjectCount text `json:"objectCount"`
	} `json:"summary"`

	// GCS Storage Insights
	ReportConfig     *gcsConfig `json:"report_config"`
	RecordsProcessed text       `json:"records_processed"`
	SnapshotTime     string     `json:"snapshot_time"`
	TargetDatetime   text       `json:"target_datetime"`
	ShardCount       text       `json:"shard_count"`
	ShardNames       []string   `json:"report_shards_file_names"`
	ReportNames      []string   `json:"reportNames"` // gs:// URIs
}

// manifestFile is one data file: S3 says key and MD5checksum, Azure says blob.
type manifestFile struct {
	Key         string `json:"key"`
	Blob        string `json:"blob"`
	Size        *int64 `json:"size"`
	MD5checksum string `json:"MD5checksum"`
}

type azureRule struct {
	Format       string   `json:"format"`
	ObjectType   string   `json:"objectType"`
	SchemaFields []string `json:"schemaFields"`
}

type gcsConfig struct {
	CSV *struct {
		Delimiter      string `json:"delimiter"`
		HeaderRequired bool   `json:"header_required"`
	} `json:"csv_options"`
	Parquet jsontext.Value `json:"parquet_options"`
	Objects struct {
		Fields []string `json:"metadata_fields"`
	} `json:"object_metadata_report_options"`
}

// text is a string or a number: the stores don't tell them apart. It may be an
// object too, whose text means nothing.
type text string

// UnmarshalJSON takes any value.
func (t *text) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, (*string)(t))
	}
	if string(b) != "null" {
		*t = text(b)
	}
	return nil
}

// number returns the number in t, -1 if there is none.
func (t text) number() int64 {
	n, err := strconv.ParseInt(string(t), 10, 64)
	if err != nil {
		return -1
	}
	return n
}

// parseManifest reads a manifest; kind is "" for a document that is none.
func parseManifest(data []byte) (m manifest, kind string, err error) {
	if err := json.Unmarshal(data, &m, json.MatchCaseInsensitiveNames(true), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)); err != nil {
		return m, "", err
	}
	switch {
	case m.FileSchema != "" || m.SourceBucket != "" && m.FileFormat != "":
		return m, "s3-inventory", nil
	case m.RuleDefinition != nil || m.DestinationContainer != "":
		return m, "azure-inventory", nil
	case m.ReportConfig != nil || len(m.ShardNames) > 0 || len(m.ReportNames) > 0:
		return m, "gcs-insights", nil
	}
	return m, "", nil
}

// openManifest opens the report that a manifest describes; false for a JSON
// file that is no manifest.
func (s *Source) openManifest(ctx context.Context, place lake.Root, p *part) (bool, error) {
	named := strings.HasSuffix(strings.ToLower(p.name), "manifest.json")
	if !named {
		head, _, err := s.head(ctx, p)
		if err != nil || !mentionsManifest(head) {
			return false, err
		}
	}
	data, err := p.all(ctx, maxManifest)
	if err != nil {
		return true, err
	}
	m, kind, err := parseManifest(data)
	if err != nil && !named {
		return false, nil
	}
	if err == nil && kind == "" {
		if !named {
			return false, nil
		}
		err = errors.New("no manifest of S3 Inventory, GCS Storage Insights or Azure Blob Inventory")
	}
	if err != nil {
		return true, p.damaged(err)
	}
	if kind != "gcs-insights" { // GCS writes no sums
		if err := s.checksum(ctx, p, data); err != nil {
			return true, err
		}
	}
	s.info.Kind, s.info.TakenFrom = kind, "manifest"
	switch kind {
	case "s3-inventory":
		err = s.s3(&m, p)
	case "azure-inventory":
		err = s.azure(&m, p)
	default:
		err = s.gcs(&m, p)
	}
	if err != nil {
		return true, err
	}
	if s.info.Taken.IsZero() {
		s.info.TakenFrom = ""
		s.info.Notes = append(s.info.Notes, "the manifest names no time of its scan")
	}
	if err := s.locate(ctx, place, m.DestinationBucket); err != nil {
		return true, err
	}
	if s.form.detected {
		if err := s.detect(ctx); err != nil {
			return true, err
		}
	}
	s.info.Encoding = s.form.encoding
	return true, s.probeManifest(ctx)
}

// probeManifest settles the columns by the first file.
func (s *Source) probeManifest(ctx context.Context) error {
	if len(s.parts) == 0 {
		return nil
	}
	p := &s.parts[0]
	names := s.form.csv.names
	switch {
	case s.form.kind == "parquet":
		return s.probeParquet(ctx, p)
	case s.form.csv.header:
		head, _, err := s.head(ctx, p)
		if err != nil {
			return err
		}
		if names = header(head, s.form.csv.comma); names == nil {
			return nil // an empty shard
		}
	}
	cols, err := assign(names, s.o.Columns)
	if err != nil {
		return err
	}
	s.settle(cols, names)
	return nil
}

func mentionsManifest(head []byte) bool {
	if !bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("{")) {
		return false
	}
	for _, word := range []string{`"fileSchema"`, `"sourceBucket"`, `"report_shards_file_names"`, `"reportNames"`, `"report_config"`, `"ruleDefinition"`} {
		if bytes.Contains(head, []byte(word)) {
			return true
		}
	}
	return false
}

// checksum compares the manifest with the MD5 sum in the file beside it, if there is one.
func (s *Source) checksum(ctx context.Context, p *part, data []byte) error {
	sum := part{r: p.r, name: strings.TrimSuffix(p.name, ".json") + ".checksum", size: -1}
	sum.place = path.Dir(p.place) + "/" + sum.name
	if _, err := p.r.Stat(ctx, sum.name); isMissing(err) {
		s.info.Notes = append(s.info.Notes, "there is no "+sum.name+" to check the manifest with")
		return nil
	} else if err != nil {
		return err
	}
	want, err := sum.all(ctx, 1<<10)
	if err != nil {
		return err
	}
	have := md5.Sum(data)
	if fields := bytes.Fields(want); len(fields) == 0 || !strings.EqualFold(string(fields[0]), hex.EncodeToString(have[:])) {
		return p.damaged(fmt.Errorf("its MD5 sum is %x, not what %s says", have, sum.name))
	}
	return nil
}
