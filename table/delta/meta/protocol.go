package meta

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"

	"github.com/lakesweep/lakesweep/lake"
)

// Protocol is a protocol action.
type Protocol struct {
	Reader         int64     `json:"minReaderVersion"`
	Writer         int64     `json:"minWriterVersion"`
	ReaderFeatures *[]string `json:"readerFeatures"`
	WriterFeatures *[]string `json:"writerFeatures"`
}

// The highest protocol versions known.
const (
	maxReader = 3
	maxWriter = 7
)

// role is what a table feature means to a vacuum.
type role uint8

const (
	writerOnly role = iota + 1 // in writerFeatures only
	readWrite                  // in both lists
	refused                    // the log alone doesn't tell what is live
)

// features is the closed list of table features.
//
// Source: spec/delta-vacuum.md section 2.
var features = map[string]role{
	"appendOnly": writerOnly, "invariants": writerOnly, "checkConstraints": writerOnly, "generatedColumns": writerOnly,
	"identityColumns": writerOnly, "allowColumnDefaults": writerOnly, "changeDataFeed": writerOnly,
	"rowTracking": writerOnly, "domainMetadata": writerOnly, "clustering": writerOnly, "inCommitTimestamp": writerOnly,
	"icebergCompatV1": writerOnly, "icebergCompatV2": writerOnly, "icebergCompatV3": writerOnly,
	"icebergWriterCompatV1": writerOnly, "icebergWriterCompatV3": writerOnly, "materializePartitionColumns": writerOnly,
	"checkpointProtection": writerOnly,

	"columnMapping": readWrite, "deletionVectors": readWrite, "timestampNtz": readWrite, "v2Checkpoint": readWrite,
	"vacuumProtocolCheck": readWrite, "typeWidening": readWrite, "typeWidening-preview": readWrite,
	"variantType": readWrite, "variantType-preview": readWrite, "variantShredding": readWrite, "variantShredding-preview": readWrite,
	"geospatial": readWrite, "geospatial-dev": readWrite, "collations": readWrite, "collations-preview": readWrite,

	"catalogManaged": refused, "catalogOwned": refused, "catalogOwned-preview": refused,
	"coordinatedCommits": refused, "coordinatedCommits-preview": refused, "managedCommit": refused, "managedCommit-dev": refused,
	"redirectReaderWriter": refused, "redirectReaderWriter-preview": refused,
	"redirectWriterOnly": refused, "redirectWriterOnly-preview": refused,
	"adaptiveMetadata": refused, "adaptiveMetadata-preview": refused,
}

// ParseProtocol reads a protocol action of a line.
func ParseProtocol(raw []byte) (Protocol, error) {
	p := Protocol{}
	if err := json.Unmarshal(raw, &p); err != nil {
		return p, fmt.Errorf("protocol: %w", err)
	}
	return p, nil
}

// Gate refuses every protocol whose tables lakesweep can't judge.
//
// Errors: Unsupported.
// Source: spec/delta-vacuum.md section 2.
func (p Protocol) Gate() error {
	refuse := func(format string, args ...any) error {
		return &lake.Error{Op: "check protocol", Kind: lake.Unsupported, Code: "unsupported_feature", Err: fmt.Errorf(format, args...),
			Hint: "Nothing was deleted. Clean this table with an engine that supports its protocol, or a newer lakesweep."}
	}
	switch {
	case p.Reader < 1 || p.Reader > maxReader:
		return refuse("reader version %d; known are 1 to %d", p.Reader, maxReader)
	case p.Writer < 1 || p.Writer > maxWriter:
		return refuse("writer version %d; known are 1 to %d", p.Writer, maxWriter)
	case p.Reader == maxReader && (p.ReaderFeatures == nil || p.Writer != maxWriter):
		return refuse("reader version 3 without its list of features")
	case p.Writer == maxWriter && p.WriterFeatures == nil:
		return refuse("writer version 7 without its list of features")
	case p.Reader < maxReader && p.ReaderFeatures != nil && len(*p.ReaderFeatures) > 0,
		p.Writer < maxWriter && p.WriterFeatures != nil && len(*p.WriterFeatures) > 0:
		return refuse("a list of features below versions 3 and 7")
	}
	for _, name := range p.names(p.ReaderFeatures) {
		if !slices.Contains(p.names(p.WriterFeatures), name) {
			return refuse("feature %q stands in readerFeatures only", name)
		}
	}
	for _, name := range p.Features() {
		switch features[name] {
		case refused:
			return refuse("feature %q: the log in _delta_log alone doesn't say what is live", name)
		case 0:
			return refuse("unknown feature %q", name)
		}
	}
	return nil
}

func (Protocol) names(list *[]string) []string {
	if list == nil {
		return nil
	}
	return *list
}

// Features returns the names of both lists, sorted, each once.
func (p Protocol) Features() []string {
	all := append(slices.Clone(p.names(p.ReaderFeatures)), p.names(p.WriterFeatures)...)
	slices.Sort(all)
	return slices.Compact(all)
}

// Versions is the protocol for Info.
func (p Protocol) Versions() map[string]string {
	return map[string]string{"reader": strconv.FormatInt(p.Reader, 10), "writer": strconv.FormatInt(p.Writer, 10)}
}

// Same reports whether p and q ask the same of everybody.
func (p Protocol) Same(q Protocol) bool {
	return p.Reader == q.Reader && p.Writer == q.Writer && slices.Equal(p.Features(), q.Features())
}

// Fingerprint tells protocols that ask something else apart.
func (p Protocol) Fingerprint() string {
	return fmt.Sprintf("%d,%d,%q", p.Reader, p.Writer, p.Features())
}
