// Package datafile reads the names of a Hudi table's base and log files.
//
// Base files are named FILEID_TOKEN_INSTANT.EXT, log files
// .FILEID_TIME.log.VERSION_TOKEN, with .cdc behind for change logs. The time of
// a log is the base instant of its slice up to table version 6, and its own
// delta commit's instant from version 8 on.
//
// The grammar is stricter than Hudi's, which takes any name that contains a
// base extension: what is outside it is never a candidate, and a slice that
// isn't seen only makes older ones stay.
//
// Source: Hudi 1.2.0, FSUtils; spec/hudi-clean.md section 4.1.
package datafile

import (
	"cmp"
	"strconv"
	"strings"
)

// File is what a name says.
type File struct {
	Name    string
	FileID  string
	Instant string // of a base file its commit; of a log file the time in its name
	Token   string // write token, may be empty for logs
	Log     bool
	CDC     bool   // a change log; Log is set too
	Ext     string // of a base file: parquet, orc, hfile, lance
	Version int    // of a log file
}

// PartitionMetadata is the start of the name of the file that makes a folder a
// partition; ".parquet" or ".orc" may follow.
const PartitionMetadata = ".hoodie_partition_metadata"

// IsPartitionMetadata reports whether name is a partition's metadata file.
func IsPartitionMetadata(name string) bool {
	return name == PartitionMetadata || name == PartitionMetadata+".parquet" || name == PartitionMetadata+".orc"
}

// External reports a name by which metadata registers a file that Hudi didn't
// write: it has a suffix that the file on disk lacks.
func External(name string) bool { return strings.HasSuffix(name, "_hudiext") }

// Parse reads a name. ok is false for names that are neither.
func Parse(name string) (f File, ok bool) {
	if strings.HasPrefix(name, ".") {
		return parseLog(name)
	}
	id, rest, ok1 := strings.Cut(name, "_")
	token, rest, ok2 := strings.Cut(rest, "_")
	instant, ext, ok3 := strings.Cut(rest, ".")
	if !ok1 || !ok2 || !ok3 || id == "" || !digits(instant) || !isToken(token) {
		return File{}, false
	}
	switch ext {
	case "parquet", "orc", "hfile", "lance":
		return File{Name: name, FileID: id, Instant: instant, Token: token, Ext: ext}, true
	}
	return File{}, false
}

func parseLog(name string) (File, bool) {
	id, rest, ok1 := strings.Cut(name[1:], "_")
	time, rest, ok2 := strings.Cut(rest, ".")
	kind, rest, ok3 := strings.Cut(rest, ".")
	if !ok1 || !ok2 || !ok3 || id == "" || strings.ContainsRune(id, '.') || !digits(time) || kind != "log" && kind != "archive" {
		return File{}, false
	}
	rest, cdc := strings.CutSuffix(rest, ".cdc")
	version, token, tokened := strings.Cut(rest, "_")
	if !digits(version) || tokened && !isLogToken(token) || cdc && !tokened {
		return File{}, false
	}
	n, err := strconv.Atoi(version)
	if err != nil {
		return File{}, false
	}
	return File{Name: name, FileID: id, Instant: time, Token: token, Log: true, CDC: cdc, Version: n}, true
}

// CompareLogs orders log files of one group as they were written: by time,
// version and token, change logs last.
func CompareLogs(a, b File) int {
	return cmp.Or(strings.Compare(a.Instant, b.Instant), cmp.Compare(a.Version, b.Version), compareTokens(a.Token, b.Token), compareBools(a.CDC, b.CDC))
}

func compareTokens(a, b string) int {
	for a != "" && b != "" {
		var x, y string
		x, a, _ = strings.Cut(a, "-")
		y, b, _ = strings.Cut(b, "-")
		if c := cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(x, y)); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// isToken accepts what writers put between file id and instant: Spark's
// "0-12-34" and the like.
func isToken(s string) bool { return s != "" && !strings.ContainsAny(s, "./") }

func isLogToken(s string) bool {
	parts := strings.Split(s, "-")
	return len(parts) == 3 && digits(parts[0]) && digits(parts[1]) && digits(parts[2])
}

func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
