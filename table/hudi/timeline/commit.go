package timeline

import "github.com/go-json-experiment/json"

// CommitMetadata is the part of HoodieCommitMetadata and
// HoodieReplaceCommitMetadata that a clean reads.
type CommitMetadata struct {
	Stats     map[string][]WriteStat `avro:"partitionToWriteStats" json:"partitionToWriteStats"` // by partition
	Extra     map[string]string      `avro:"extraMetadata" json:"extraMetadata"`                 // "schema", …
	Operation string                 `avro:"operationType" json:"operationType"`                 // "UPSERT", "CLUSTER", …
	Replaced  map[string][]string    `avro:"partitionToReplaceFileIds" json:"partitionToReplaceFileIds"`
}

// WriteStat is one file that a commit wrote. A new file's PrevCommit is the
// word "null".
type WriteStat struct {
	FileID     string           `avro:"fileId" json:"fileId"`
	Path       string           `avro:"path" json:"path"` // relative to the table
	PrevCommit string           `avro:"prevCommit" json:"prevCommit"`
	CDC        map[string]int64 `avro:"cdcStats" json:"cdcStats"` // path → size
}

// New reports whether the stat's file is the first of its group.
func (s WriteStat) New() bool { return s.PrevCommit == "null" }

// DecodeCommit reads the metadata of a completed commit, delta commit or
// replace commit, Avro or JSON. No bytes are empty metadata.
//
// Errors: Damaged.
func DecodeCommit(data []byte) (CommitMetadata, error) {
	var m CommitMetadata
	if len(data) == 0 {
		return m, nil
	}
	return m, decode("commit metadata", data, &m)
}

// Schema returns the schema of the records, Avro as JSON, "" for none.
func (m CommitMetadata) Schema() string { return m.Extra[schemaKey] }

const schemaKey = "schema"

// LogCommit is the commit metadata of one delta commit that wrote one log file
// for each of some file groups, as the metadata table has it.
type LogCommit struct {
	Stats     map[string][]LogStat `avro:"partitionToWriteStats" json:"partitionToWriteStats"`
	Compacted *bool                `avro:"compacted" json:"compacted"`
	Extra     map[string]string    `avro:"extraMetadata" json:"extraMetadata"`
	Version   *int32               `avro:"version" json:"-"`
	Operation string               `avro:"operationType" json:"operationType"`
}

// LogStat is a HoodieWriteStat of a log file. All counts are set, as Hudi does.
type LogStat struct {
	FileID           string           `avro:"fileId" json:"fileId"`
	Path             string           `avro:"path" json:"path"`
	PrevCommit       string           `avro:"prevCommit" json:"prevCommit"`
	NumWrites        int64            `avro:"numWrites" json:"numWrites"`
	NumDeletes       int64            `avro:"numDeletes" json:"numDeletes"`
	NumUpdateWrites  int64            `avro:"numUpdateWrites" json:"numUpdateWrites"`
	WriteBytes       int64            `avro:"totalWriteBytes" json:"totalWriteBytes"`
	WriteErrors      int64            `avro:"totalWriteErrors" json:"totalWriteErrors"`
	PartitionPath    string           `avro:"partitionPath" json:"partitionPath"`
	LogRecords       int64            `avro:"totalLogRecords" json:"totalLogRecords"`
	TotalLogFiles    *int64           `avro:"totalLogFiles" json:"-"`
	RecordsCompacted int64            `avro:"totalUpdatedRecordsCompacted" json:"totalUpdatedRecordsCompacted"`
	NumInserts       int64            `avro:"numInserts" json:"numInserts"`
	LogBlocks        int64            `avro:"totalLogBlocks" json:"totalLogBlocks"`
	CorruptBlocks    int64            `avro:"totalCorruptLogBlock" json:"totalCorruptLogBlock"`
	RollbackBlocks   int64            `avro:"totalRollbackBlocks" json:"totalRollbackBlocks"`
	Size             int64            `avro:"fileSizeInBytes" json:"fileSizeInBytes"`
	LogVersion       int32            `avro:"logVersion" json:"logVersion"`
	LogOffset        int64            `avro:"logOffset" json:"logOffset"`
	BaseFile         string           `avro:"baseFile" json:"baseFile"`
	LogFiles         []string         `avro:"logFiles" json:"logFiles"`
	CDC              map[string]int64 `avro:"cdcStats,omitzero" json:"-"`
	PrevBaseFile     *string          `avro:"prevBaseFile" json:"-"`
	MinEventTime     *int64           `avro:"minEventTime" json:"-"`
	MaxEventTime     *int64           `avro:"maxEventTime" json:"-"`
	Runtime          *struct{}        `avro:"runtimeStats" json:"-"`
	LogFilesRead     int64            `avro:"totalLogFilesCompacted" json:"totalLogFilesCompacted"`
	LogReadMillis    int64            `avro:"totalLogReadTimeMs" json:"totalLogReadTimeMs"`
	LogSizeRead      int64            `avro:"totalLogSizeCompacted" json:"totalLogSizeCompacted"`
	TempPath         *string          `avro:"tempPath" json:"-"`
	NumUpdates       *int64           `avro:"numUpdates" json:"-"`
}

// Encode returns the commit metadata as the layout wants it: Avro or JSON.
func (c LogCommit) Encode(layout Layout) ([]byte, error) {
	if c.Stats == nil {
		c.Stats = map[string][]LogStat{}
	}
	no := false
	c.Compacted, c.Version = &no, version(1)
	if layout == Layout1 {
		return json.Marshal(&c)
	}
	return encode(commitSchema, &c)
}
