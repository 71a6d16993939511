package timeline

import (
	"fmt"
	"strings"

	"github.com/lakesweep/lakesweep/lake"
)

// CleanPlan is the content of a .clean.requested: HoodieCleanerPlan.
type CleanPlan struct {
	Earliest       *ActionInstant         `avro:"earliestInstantToRetain"` // nil under KEEP_LATEST_FILE_VERSIONS
	LastCompleted  string                 `avro:"lastCompletedCommitTimestamp"`
	Policy         string                 `avro:"policy"`
	FilesV1        map[string][]string    `avro:"filesToBeDeletedPerPartition"` // names; version 1 only
	Version        *int32                 `avro:"version"`
	Files          map[string][]CleanFile `avro:"filePathsToBeDeletedPerPartition"`
	DeadPartitions []string               `avro:"partitionsToBeDeleted"`
	Extra          map[string]string      `avro:"extraMetadata"`
}

// ActionInstant names an instant in a plan.
type ActionInstant struct {
	Timestamp string `avro:"timestamp"`
	Action    string `avro:"action"`
	State     string `avro:"state"`
}

// CleanFile is one file of a plan: a fully qualified path.
type CleanFile struct {
	Path      *string `avro:"filePath"`
	Bootstrap *bool   `avro:"isBootstrapBaseFile"`
}

// CleanMetadata is the content of a completed .clean: HoodieCleanMetadata.
type CleanMetadata struct {
	StartTime     string                    `avro:"startCleanTime"`
	TookMillis    int64                     `avro:"timeTakenInMillis"`
	TotalDeleted  int32                     `avro:"totalFilesDeleted"`
	Earliest      string                    `avro:"earliestCommitToRetain"` // "" for none
	LastCompleted string                    `avro:"lastCompletedCommitTimestamp"`
	Partitions    map[string]CleanPartition `avro:"partitionMetadata"`
	Version       *int32                    `avro:"version"`
	Bootstrap     map[string]CleanPartition `avro:"bootstrapPartitionMetadata"`
	Extra         map[string]string         `avro:"extraMetadata"`
	Blobs         *BlobCleanStats           `avro:"blobCleanStats"` // nil of a clean that had nothing to do with blobs
}

// BlobCleanStats is what a clean says of external blobs: the figures of the
// drains since the clean before. Source: RFC-100 part 2.
type BlobCleanStats struct {
	Deleted  int64    `avro:"totalBlobFilesDeleted"` // those found gone included
	Retained int64    `avro:"totalBlobFilesRetained"`
	Bytes    int64    `avro:"totalBlobStorageReclaimed"`
	Sidecar  *string  `avro:"blobDeletesSidecarPath"` // of this clean, relative to the table's root
	Failed   []string `avro:"failedBlobFilePaths"`
}

// CleanPartition is what a clean did in one partition. The lists hold bare
// file names.
type CleanPartition struct {
	Path             string   `avro:"partitionPath"`
	Policy           string   `avro:"policy"`
	DeletePatterns   []string `avro:"deletePathPatterns"`
	Succeeded        []string `avro:"successDeleteFiles"`
	Failed           []string `avro:"failedDeleteFiles"`
	PartitionDeleted *bool    `avro:"isPartitionDeleted"`
}

// cleanVersion is the version of plans and metadata that is written and the
// highest that is read.
const cleanVersion = 2

// DecodeCleanPlan reads a plan of version 1 or 2.
//
// Errors: Damaged; Unsupported for a higher version.
func DecodeCleanPlan(data []byte) (CleanPlan, error) {
	var p CleanPlan
	if err := decode("clean plan", data, &p); err != nil {
		return p, err
	}
	return p, checkVersion("clean plan", p.Version)
}

// DecodeCleanMetadata reads the result of a clean, of version 1 or 2.
//
// Errors: Damaged; Unsupported for a higher version.
func DecodeCleanMetadata(data []byte) (CleanMetadata, error) {
	var m CleanMetadata
	if err := decode("clean metadata", data, &m); err != nil {
		return m, err
	}
	return m, checkVersion("clean metadata", m.Version)
}

func checkVersion(what string, v *int32) error {
	if v != nil && (*v < 1 || *v > cleanVersion) {
		return &lake.Error{Op: "read " + what, Kind: lake.Unsupported, Err: fmt.Errorf("version %d", *v)}
	}
	return nil
}

// Encode returns the Avro container, of version 2.
func (p CleanPlan) Encode() ([]byte, error) {
	p.Version = version(cleanVersion)
	if p.FilesV1 == nil {
		p.FilesV1 = map[string][]string{}
	}
	if p.Files == nil {
		p.Files = map[string][]CleanFile{}
	}
	if p.DeadPartitions == nil {
		p.DeadPartitions = []string{}
	}
	if p.Extra == nil {
		p.Extra = map[string]string{}
	}
	return encode(cleanPlanSchema, &p)
}

// Encode returns the Avro container, of version 2.
func (m CleanMetadata) Encode() ([]byte, error) {
	m.Version = version(cleanVersion)
	if m.Partitions == nil {
		m.Partitions = map[string]CleanPartition{}
	}
	if m.Bootstrap == nil {
		m.Bootstrap = map[string]CleanPartition{}
	}
	if m.Extra == nil {
		m.Extra = map[string]string{}
	}
	if m.Blobs == nil {
		return encode(cleanMetadataSchema, &m)
	}
	if m.Blobs.Failed == nil {
		m.Blobs.Failed = []string{}
	}
	return encode(strings.TrimSuffix(cleanMetadataSchema, schemaEnd)+blobStatsField+schemaEnd, &m)
}

func version(v int32) *int32 { return &v }
