package blobtest

import (
	"bytes"
	"path"
	"strings"
	"testing"

	"github.com/twmb/avro/ocf"

	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// CompactionPlan is the plan of a compaction or log compaction of slices.
func CompactionPlan(t testing.TB, slices ...timeline.Slice) []byte {
	t.Helper()
	var operations []any
	for _, s := range slices {
		base, logs := split(s)
		operations = append(operations, map[string]any{"baseInstantTime": s.BaseInstant, "deltaFilePaths": logs, "dataFilePath": base, "fileId": s.FileID, "partitionPath": s.Partition})
	}
	return container(t, `{"type":"record","name":"HoodieCompactionPlan","fields":[{"name":"operations","type":{"type":"array","items":{"type":"record","name":"O","fields":[
{"name":"baseInstantTime","type":"string"},{"name":"deltaFilePaths","type":{"type":"array","items":"string"}},{"name":"dataFilePath","type":"string"},{"name":"fileId","type":"string"},{"name":"partitionPath","type":"string"}]}}},
{"name":"version","type":["int","null"]}]}`, map[string]any{"operations": operations, "version": int32(2)})
}

// ClusteringPlan is the plan of a clustering of slices into one group.
func ClusteringPlan(t testing.TB, slices ...timeline.Slice) []byte {
	t.Helper()
	var in []any
	for _, s := range slices {
		base, logs := split(s)
		in = append(in, map[string]any{"dataFilePath": base, "deltaFilePaths": logs, "fileId": s.FileID, "partitionPath": s.Partition})
	}
	return container(t, `{"type":"record","name":"HoodieRequestedReplaceMetadata","fields":[{"name":"operationType","type":"string"},{"name":"clusteringPlan","type":["null",{"type":"record","name":"P","fields":[
{"name":"inputGroups","type":{"type":"array","items":{"type":"record","name":"G","fields":[{"name":"slices","type":{"type":"array","items":{"type":"record","name":"S","fields":[
{"name":"dataFilePath","type":"string"},{"name":"deltaFilePaths","type":{"type":"array","items":"string"}},{"name":"fileId","type":"string"},{"name":"partitionPath","type":"string"}]}}}]}}}]}]}]}`,
		map[string]any{"operationType": "CLUSTER", "clusteringPlan": map[string]any{"inputGroups": []any{map[string]any{"slices": in}}}})
}

// Savepoint is the metadata of a savepoint that holds files, named from the
// table's root.
func Savepoint(t testing.TB, files ...string) []byte {
	t.Helper()
	partitions := map[string]any{}
	for _, f := range files {
		p, name := path.Split(f)
		p = strings.TrimSuffix(p, "/")
		list := []any{}
		if have, ok := partitions[p].(map[string]any); ok {
			list, _ = have["savepointDataFile"].([]any)
		}
		partitions[p] = map[string]any{"partitionPath": p, "savepointDataFile": append(list, name)}
	}
	return container(t, `{"type":"record","name":"HoodieSavepointMetadata","fields":[{"name":"partitionMetadata","type":{"type":"map","values":{"type":"record","name":"P","fields":[
{"name":"partitionPath","type":"string"},{"name":"savepointDataFile","type":{"type":"array","items":"string"}}]}}}]}`, map[string]any{"partitionMetadata": partitions})
}

// split returns the base file of a slice, "" for none, and its logs.
func split(s timeline.Slice) (base string, logs []any) {
	logs = []any{}
	for _, f := range s.Files {
		if strings.HasPrefix(f, ".") {
			logs = append(logs, f)
		} else {
			base = f
		}
	}
	return base, logs
}

func container(t testing.TB, schema string, v any) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := ocf.NewWriter(&out, parse(t, schema))
	if err == nil {
		err = w.Encode(v)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

const rolledBackSchema = `{"type":"record","name":"HoodieRollbackMetadata","fields":[{"name":"startRollbackTime","type":"string"},{"name":"commitsRollback","type":{"type":"array","items":"string"}}]}`

// RollbackPlan is the plan of a rollback of an instant.
func RollbackPlan(t testing.TB, at string, action timeline.Action) []byte {
	t.Helper()
	return container(t, `{"type":"record","name":"HoodieRollbackPlan","fields":[{"name":"instantToRollback","type":["null",{"type":"record","name":"HoodieInstantInfo","fields":[{"name":"commitTime","type":"string"},{"name":"action","type":"string"}]}]},{"name":"version","type":["int","null"]}]}`,
		map[string]any{"instantToRollback": map[string]any{"commitTime": at, "action": string(action)}, "version": int32(1)})
}

// Rollback is the metadata of a complete rollback of instants.
func Rollback(t testing.TB, at ...string) []byte {
	t.Helper()
	return container(t, rolledBackSchema, rolledBack(at))
}

// Restore is the metadata of a complete restore that took instants back.
func Restore(t testing.TB, at ...string) []byte {
	t.Helper()
	all := map[string]any{}
	for _, one := range at {
		all[one] = []any{rolledBack([]string{one})}
	}
	return container(t, `{"type":"record","name":"HoodieRestoreMetadata","fields":[{"name":"hoodieRestoreMetadata","type":{"type":"map","values":{"type":"array","items":`+rolledBackSchema+`}}}]}`, map[string]any{"hoodieRestoreMetadata": all})
}

func rolledBack(at []string) map[string]any {
	return map[string]any{"startRollbackTime": "", "commitsRollback": at}
}
