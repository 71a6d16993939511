package meta

import (
	"errors"

	"github.com/lakesweep/lakesweep/table/delta/logline"
)

// Head is what one source of the log says beside its files. A version of -1
// stands for nothing found.
type Head struct {
	Protocol        Protocol
	Metadata        Metadata
	ProtocolVersion int64
	MetadataVersion int64
}

// NoHead returns a head of nothing found.
func NoHead() Head { return Head{ProtocolVersion: -1, MetadataVersion: -1} }

// Merge takes over what o has and is newer.
func (h *Head) Merge(o Head) {
	if o.ProtocolVersion > h.ProtocolVersion {
		h.Protocol, h.ProtocolVersion = o.Protocol, o.ProtocolVersion
	}
	if o.MetadataVersion > h.MetadataVersion {
		h.Metadata, h.MetadataVersion = o.Metadata, o.MetadataVersion
	}
}

// Take notes an action of a version.
//
// Errors: a second protocol or metaData; one that can't be read; an action that
// no commit holds.
func (h *Head) Take(a logline.Action, version int64) (err error) {
	switch a.Op {
	case logline.Protocol:
		if h.ProtocolVersion == version {
			return errors.New("two protocols in one commit")
		}
		h.ProtocolVersion = version
		h.Protocol, err = ParseProtocol(a.Raw)
	case logline.Metadata:
		if h.MetadataVersion == version {
			return errors.New("two metaData in one commit")
		}
		h.MetadataVersion = version
		h.Metadata, err = ParseMetadata(a.Raw)
	case logline.Sidecar, logline.CheckpointMetadata:
		err = errors.New("an action in a commit that belongs to checkpoints only")
	}
	return err
}
