package delta

import (
	"errors"

	"github.com/lakesweep/lakesweep/table/delta/logline"
)

// head is what one source of the log says beside its files. A version of -1
// stands for nothing found.
type head struct {
	protocol        protocol
	metadata        Metadata
	protocolVersion int64
	metadataVersion int64
}

// noHead returns a head of nothing found.
func noHead() head { return head{protocolVersion: -1, metadataVersion: -1} }

// merge takes over what o has and is newer.
func (h *head) merge(o head) {
	if o.protocolVersion > h.protocolVersion {
		h.protocol, h.protocolVersion = o.protocol, o.protocolVersion
	}
	if o.metadataVersion > h.metadataVersion {
		h.metadata, h.metadataVersion = o.metadata, o.metadataVersion
	}
}

// take notes an action of a version.
//
// Errors: a second protocol or metaData; one that can't be read; an action that
// no commit holds.
func (h *head) take(a logline.Action, version int64) (err error) {
	switch a.Op {
	case logline.Protocol:
		if h.protocolVersion == version {
			return errors.New("two protocols in one commit")
		}
		h.protocolVersion = version
		h.protocol, err = parseProtocol(a.Raw)
	case logline.Metadata:
		if h.metadataVersion == version {
			return errors.New("two metaData in one commit")
		}
		h.metadataVersion = version
		h.metadata, err = parseMetadata(a.Raw)
	case logline.Sidecar, logline.CheckpointMetadata:
		err = errors.New("an action in a commit that belongs to checkpoints only")
	}
	return err
}
