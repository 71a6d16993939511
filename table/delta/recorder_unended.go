package delta

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/lakesweep/lakesweep/table"
)

// The operations of a run's commits.
const (
	opStart = "VACUUM START"
	opEnd   = "VACUUM END"
)

const (
	unendedCommits = 1000     // how many commits are looked through for a START
	ownCommit      = 64 << 10 // bytes; a longer commit isn't looked into
)

func startMetrics(intent table.Intent) map[string]string {
	return map[string]string{
		"numFilesToDelete": strconv.FormatInt(intent.Objects, 10), "sizeOfDataToDelete": strconv.FormatInt(intent.Bytes, 10)}
}

// unended reports whether the log holds a VACUUM START of the plan, made after
// it, and no VACUUM END of ours since. The commits name no plan: one is known by
// what it says will be deleted. Of commits that are too many, the oldest are left out.
func (r *recorder) unended(ctx context.Context, intent table.Intent) (bool, error) {
	s := r.t.log.Segment
	if intent.Version == nil || *intent.Version >= s.Version {
		return false, nil
	}
	engine, _, _ := strings.Cut(r.o.Engine, "/")
	want := startMetrics(intent)
	for _, c := range slices.Backward(s.CommitsFrom(max(*intent.Version+1, s.Version+1-unendedCommits))) {
		if c.Size > ownCommit {
			continue
		}
		body, err := r.t.log.Dir.ReadAll(ctx, c)
		if err != nil {
			return false, r.t.wrap("read log", err)
		}
		var commit struct {
			CommitInfo struct {
				Operation string            `json:"operation"`
				Metrics   map[string]string `json:"operationMetrics"`
				Engine    string            `json:"engineInfo"`
			} `json:"commitInfo"`
		}
		if bytes.IndexByte(body, '\n') < len(body)-1 || json.Unmarshal(body, &commit) != nil {
			continue // another writer's
		}
		info := commit.CommitInfo
		if name, _, _ := strings.Cut(info.Engine, "/"); name != engine {
			continue
		}
		switch {
		case info.Operation == opEnd:
			return false, nil
		case info.Operation == opStart && maps.Equal(info.Metrics, want):
			return true, nil
		}
	}
	return false, nil
}
