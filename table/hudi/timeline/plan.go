package timeline

import (
	"context"
	"errors"
	"fmt"

	"github.com/lakesweep/lakesweep/lake"
)

// Slice names a file slice that a pending service works on. Files holds the
// names of its base and log files.
type Slice struct {
	Partition   string
	FileID      string
	BaseInstant string // "" in clustering plans
	Files       []string
}

type compactionPlan struct {
	Operations []struct {
		BaseInstant string   `avro:"baseInstantTime"`
		Deltas      []string `avro:"deltaFilePaths"`
		Data        string   `avro:"dataFilePath"`
		FileID      string   `avro:"fileId"`
		Partition   string   `avro:"partitionPath"`
		Bootstrap   string   `avro:"bootstrapFilePath"`
	} `avro:"operations"`
	Version *int32 `avro:"version"`
}

type replacePlan struct {
	Operation  string `avro:"operationType"`
	Clustering *struct {
		Groups []struct {
			Slices []struct {
				Data      string   `avro:"dataFilePath"`
				Deltas    []string `avro:"deltaFilePaths"`
				FileID    string   `avro:"fileId"`
				Partition string   `avro:"partitionPath"`
			} `avro:"slices"`
		} `avro:"inputGroups"`
	} `avro:"clusteringPlan"`
}

// Compaction reads the plan of a pending compaction or log compaction.
//
// Errors: Damaged; Unsupported for a plan of an unknown version.
func (t *Timeline) Compaction(ctx context.Context, i Instant) ([]Slice, error) {
	data, err := t.Read(ctx, i, Requested)
	if err != nil {
		return nil, err
	}
	var p compactionPlan
	if err := decode("plan of "+string(i.Action)+" "+i.Time, data, &p); err != nil {
		return nil, err
	}
	if p.Version != nil && (*p.Version < 1 || *p.Version > 2) {
		return nil, &lake.Error{Op: "read compaction plan", Kind: lake.Unsupported, Err: fmt.Errorf("version %d", *p.Version)}
	}
	out := make([]Slice, 0, len(p.Operations))
	for _, o := range p.Operations {
		s := Slice{Partition: o.Partition, FileID: o.FileID, BaseInstant: o.BaseInstant}
		s.add(o.Data, o.Bootstrap)
		s.add(o.Deltas...)
		out = append(out, s)
	}
	return out, nil
}

// Clustering reads the plan of a pending clustering or other replace. It is
// empty for one that plans nothing ahead, such as an insert overwrite.
//
// Errors: Damaged.
func (t *Timeline) Clustering(ctx context.Context, i Instant) ([]Slice, error) {
	if i.Files[Requested] == "" {
		return nil, nil
	}
	data, err := t.Read(ctx, i, Requested)
	if err != nil || len(data) == 0 {
		return nil, err // a requested replace commit may be empty
	}
	var p replacePlan
	if err := decode("plan of "+string(i.Action)+" "+i.Time, data, &p); err != nil {
		return nil, err
	}
	var out []Slice
	if p.Clustering == nil {
		return nil, nil
	}
	for _, g := range p.Clustering.Groups {
		for _, in := range g.Slices {
			s := Slice{Partition: in.Partition, FileID: in.FileID}
			s.add(in.Data)
			s.add(in.Deltas...)
			out = append(out, s)
		}
	}
	return out, nil
}

// add keeps the last component of each path: plans of version 1 hold full ones.
func (s *Slice) add(paths ...string) {
	for _, p := range paths {
		if name := lake.Key(p).Base(); name != "" {
			s.Files = append(s.Files, name)
		}
	}
}

// Savepoint returns the names of the files that a savepoint holds, by partition.
//
// Errors: Damaged.
func (t *Timeline) Savepoint(ctx context.Context, i Instant) (map[string][]string, error) {
	data, err := t.Read(ctx, i, Completed)
	if err != nil {
		return nil, err
	}
	var m struct {
		Partitions map[string]struct {
			Files []string `avro:"savepointDataFile"`
		} `avro:"partitionMetadata"`
	}
	if err := decode("savepoint "+i.Time, data, &m); err != nil {
		return nil, err
	}
	out := make(map[string][]string, len(m.Partitions))
	for partition, p := range m.Partitions {
		for n, f := range p.Files {
			p.Files[n] = lake.Key(f).Base()
		}
		out[partition] = p.Files
	}
	return out, nil
}

// RollbackOf returns the requested time of the instant that a pending rollback
// is to take back.
//
// Errors: Damaged, also for a plan without bytes.
func (t *Timeline) RollbackOf(ctx context.Context, i Instant) (string, error) {
	data, err := t.Read(ctx, i, Requested)
	if err != nil {
		return "", err
	}
	var p struct {
		Target *struct {
			Time string `avro:"commitTime"`
		} `avro:"instantToRollback"`
	}
	what := "plan of rollback " + i.Time
	if err := decode(what, data, &p); err != nil {
		return "", err
	}
	if p.Target == nil || p.Target.Time == "" {
		return "", &lake.Error{Op: "read " + what, Kind: lake.Damaged, Err: errors.New("it names no instant")}
	}
	return p.Target.Time, nil
}

// RolledBack returns the requested times of the instants that a completed
// rollback or restore took back.
//
// Errors: Damaged.
func (t *Timeline) RolledBack(ctx context.Context, i Instant) ([]string, error) {
	data, err := t.Read(ctx, i, Completed)
	if err != nil {
		return nil, err
	}
	type rolledBack struct {
		Commits []string `avro:"commitsRollback"`
	}
	if i.Action == Rollback {
		var m rolledBack
		err := decode("rollback "+i.Time, data, &m)
		return m.Commits, err
	}
	var m struct {
		Metadata map[string][]rolledBack `avro:"hoodieRestoreMetadata"`
	}
	if err := decode("restore "+i.Time, data, &m); err != nil {
		return nil, err
	}
	var out []string
	for _, list := range m.Metadata {
		for _, r := range list {
			out = append(out, r.Commits...)
		}
	}
	return out, nil
}
