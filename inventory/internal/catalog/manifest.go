package catalog

import (
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

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
