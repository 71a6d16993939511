package inventory

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/lakesweep/lakesweep/lake"
)

// role is what a column of a list is to us.
type role uint8

const (
	rolePath role = iota
	rolePathRaw
	rolePathBase64
	roleAbsolute
	roleBucket
	roleSize
	roleModified
	roleCreated
	roleDirectory
	roleETag
	roleVersion
	roleLatest
	roleMarker
	roleDeleted
	roleSnapshot
	roleRecord
	roleSequence
	roleRecorded
	roles
)

// roleNames are the words for the columns option.
var roleNames = [roles]string{"path", "path_raw", "path_base64", "absolute", "bucket", "size", "modified", "created", "directory", "etag", "version", "latest", "delete_marker", "deleted", "snapshot", "record", "sequence", "recorded"}

// ColumnWords returns the words that Options.Columns maps to columns, and the
// two that say how names are spelled.
func ColumnWords() []string { return append(slices.Clone(roleNames[:]), "encoding", "scheme") }

// columnNames lists, for each role, the names by which sources call it, in
// lower case, the most telling first. Sources: S3 Inventory and S3 Metadata,
// Azure Blob Inventory, GCS Storage Insights (spec/listing-and-libraries.md
// A5), Delta-Spark's inventory schema, and the names that people use.
var columnNames = [roles][]string{
	rolePath:    {"path", "uri", "url", "file_path", "filepath", "object_key", "key", "name", "object", "filename", "file"},
	rolePathRaw: {"path_raw"},

	rolePathBase64: {"path_base64"},
	roleAbsolute:   {"absolute"},
	roleBucket:     {"bucket", "container"},
	roleSize:       {"size", "length", "content-length", "content_length", "size_bytes", "sizebytes", "file_size", "bytes"},
	roleModified:   {"modified", "modificationtime", "modification_time", "last_modified", "lastmodified", "last_modified_date", "lastmodifieddate", "last-modified", "mtime", "updated"},
	roleCreated:    {"creation-time", "creation_time", "timecreated", "time_created", "created"},
	roleDirectory:  {"directory", "isdir", "is_dir", "isdirectory", "is_directory", "hdi_isfolder"},
	roleETag:       {"etag", "e_tag"},
	roleVersion:    {"version_id", "versionid"},
	roleLatest:     {"is_latest", "islatest", "iscurrentversion", "is_current_version"},
	roleMarker:     {"is_delete_marker", "isdeletemarker"},
	roleDeleted:    {"deleted", "timedeleted", "time_deleted", "softdeletetime"},
	roleSnapshot:   {"snapshot"},
	roleRecord:     {"record_type", "message_type"},
	roleSequence:   {"sequence_number"},
	roleRecorded:   {"record_timestamp"},
}

// columns says where in a source each role stands; absent roles aren't in it.
type columns map[role]int

// assign finds the roles among the names of a source's columns. What explicit
// says (a role's word → a column's name or, counted from 1, its number) comes first.
//
// Errors: Invalid if an explicit column isn't there, or no column holds paths.
func assign(names []string, explicit map[string]string) (columns, error) {
	out, lower := columns{}, make([]string, len(names))
	for i, name := range names {
		lower[i] = strings.ToLower(strings.TrimSpace(name))
	}
	for r := range roles {
		for _, want := range columnNames[r] {
			if i := slices.Index(lower, want); i >= 0 {
				out[r] = i
				break
			}
		}
	}
	if i := slices.Index(lower, "generation"); i >= 0 { // of GCS, whose entity tags say nothing to a delete
		out[roleETag] = i
	}
	// A key or a name is a whole path only without a bucket beside it.
	if i, ok := out[rolePath]; ok && out.has(roleBucket) && lower[i] != "key" && lower[i] != "name" && lower[i] != "object_key" && lower[i] != "object" {
		delete(out, roleBucket)
	}
	for _, word := range slices.Sorted(maps.Keys(explicit)) {
		name := explicit[word]
		if word == "encoding" || word == "scheme" {
			continue
		}
		r := slices.Index(roleNames[:], word)
		if r < 0 {
			return nil, columnError(fmt.Errorf("%q is nothing that a column can be", word), "Write one of "+strings.Join(ColumnWords(), ", ")+", then = and the column's name.")
		}
		i := slices.Index(names, name)
		if i < 0 {
			i = slices.Index(lower, strings.ToLower(name))
		}
		if n, err := strconv.Atoi(name); i < 0 && err == nil && n >= 1 && n <= len(names) {
			i = n - 1
		}
		if i < 0 {
			return nil, columnError(fmt.Errorf("no column %q", name), "The list has the columns "+strings.Join(names, ", ")+".")
		}
		out[role(r)] = i
		if role(r) == rolePath && explicit[roleNames[roleBucket]] == "" {
			delete(out, roleBucket)
		}
	}
	if !out.has(rolePath) && !out.has(rolePathRaw) && !out.has(rolePathBase64) {
		return nil, columnError(errors.New("no column that holds paths"), "The list has the columns "+strings.Join(names, ", ")+"; name the right one with --inventory-columns path=….")
	}
	return out, nil
}

func (c columns) has(r role) bool { _, ok := c[r]; return ok }

// journal reports whether the rows tell of changes, and in which order they came.
func (c columns) journal() bool {
	return c.has(roleRecord) && (c.has(roleSequence) || c.has(roleRecorded))
}

// used names the columns that c uses, as words → names of the source.
func (c columns) used(names []string) map[string]string {
	out := make(map[string]string, len(c))
	for r, i := range c {
		out[roleNames[r]] = names[i]
	}
	return out
}

// looksLikeHeader reports whether the fields of a first record name columns:
// one of them must be known to hold paths, and none may look like a path.
func looksLikeHeader(fields []string) bool {
	known := false
	for _, f := range fields {
		f = strings.ToLower(strings.TrimSpace(f))
		if strings.Contains(f, "/") {
			return false
		}
		known = known || slices.Contains(columnNames[rolePath], f) || f == "path_raw" || f == "path_base64"
	}
	return known
}

func columnError(err error, hint string) error {
	return &lake.Error{Op: "read inventory columns", Kind: lake.Invalid, Err: err, Hint: hint}
}
