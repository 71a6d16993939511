package columns

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/lakesweep/lakesweep/lake"
)

// Role is what a column of a list is to us.
type Role uint8

// The roles.
const (
	Path Role = iota
	PathRaw
	PathBase64
	Absolute
	Bucket
	Size
	Modified
	Created
	Directory
	ETag
	Version
	Latest
	Marker
	Deleted
	Snapshot
	Record
	Sequence
	Recorded
	None // of none of these
)

// roleNames are the words for the columns option.
var roleNames = [None]string{"path", "path_raw", "path_base64", "absolute", "bucket", "size", "modified", "created", "directory", "etag", "version", "latest", "delete_marker", "deleted", "snapshot", "record", "sequence", "recorded"}

// String returns the word for the columns option.
func (r Role) String() string { return roleNames[r] }

// Words returns the words that users map to columns, and the two that say how names are spelled.
func Words() []string { return append(slices.Clone(roleNames[:]), "encoding", "scheme") }

// columnNames lists, for each role, the names by which sources call it, in
// lower case, the most telling first. Sources: S3 Inventory and S3 Metadata,
// Azure Blob Inventory, GCS Storage Insights (spec/listing-and-libraries.md
// A5), Delta-Spark's inventory schema, and the names that people use.
var columnNames = [None][]string{
	Path:    {"path", "uri", "url", "file_path", "filepath", "object_key", "key", "name", "object", "filename", "file"},
	PathRaw: {"path_raw"},

	PathBase64: {"path_base64"},
	Absolute:   {"absolute"},
	Bucket:     {"bucket", "container"},
	Size:       {"size", "length", "content-length", "content_length", "size_bytes", "sizebytes", "file_size", "bytes"},
	Modified:   {"modified", "modificationtime", "modification_time", "last_modified", "lastmodified", "last_modified_date", "lastmodifieddate", "last-modified", "mtime", "updated"},
	Created:    {"creation-time", "creation_time", "timecreated", "time_created", "created"},
	Directory:  {"directory", "isdir", "is_dir", "isdirectory", "is_directory", "hdi_isfolder"},
	ETag:       {"etag", "e_tag"},
	Version:    {"version_id", "versionid"},
	Latest:     {"is_latest", "islatest", "iscurrentversion", "is_current_version"},
	Marker:     {"is_delete_marker", "isdeletemarker"},
	Deleted:    {"deleted", "timedeleted", "time_deleted", "softdeletetime"},
	Snapshot:   {"snapshot"},
	Record:     {"record_type", "message_type"},
	Sequence:   {"sequence_number"},
	Recorded:   {"record_timestamp"},
}

// Columns says where in a source each role stands; absent roles aren't in it.
type Columns map[Role]int

// Assign finds the roles among the names of a source's columns. What explicit
// says (a role's word → a column's name or, counted from 1, its number) comes first.
//
// Errors: Invalid if an explicit column isn't there, or no column holds paths.
func Assign(names []string, explicit map[string]string) (Columns, error) {
	out, lower := Columns{}, make([]string, len(names))
	for i, name := range names {
		lower[i] = strings.ToLower(strings.TrimSpace(name))
	}
	for r := range None {
		for _, want := range columnNames[r] {
			if i := slices.Index(lower, want); i >= 0 {
				out[r] = i
				break
			}
		}
	}
	if i := slices.Index(lower, "generation"); i >= 0 { // of GCS, whose entity tags say nothing to a delete
		out[ETag] = i
	}
	// A key or a name is a whole path only without a bucket beside it.
	if i, ok := out[Path]; ok && out.Has(Bucket) && lower[i] != "key" && lower[i] != "name" && lower[i] != "object_key" && lower[i] != "object" {
		delete(out, Bucket)
	}
	for _, word := range slices.Sorted(maps.Keys(explicit)) {
		name := explicit[word]
		if word == "encoding" || word == "scheme" {
			continue
		}
		r := slices.Index(roleNames[:], word)
		if r < 0 {
			return nil, Invalid(fmt.Errorf("%q is nothing that a column can be", word), "Write one of "+strings.Join(Words(), ", ")+", then = and the column's name.")
		}
		i := slices.Index(names, name)
		if i < 0 {
			i = slices.Index(lower, strings.ToLower(name))
		}
		if n, err := strconv.Atoi(name); i < 0 && err == nil && n >= 1 && n <= len(names) {
			i = n - 1
		}
		if i < 0 {
			return nil, Invalid(fmt.Errorf("no column %q", name), "The list has the columns "+strings.Join(names, ", ")+".")
		}
		out[Role(r)] = i
		if Role(r) == Path && explicit[roleNames[Bucket]] == "" {
			delete(out, Bucket)
		}
	}
	if !out.Has(Path) && !out.Has(PathRaw) && !out.Has(PathBase64) {
		return nil, Invalid(errors.New("no column that holds paths"), "The list has the columns "+strings.Join(names, ", ")+"; name the right one with --inventory-columns path=….")
	}
	return out, nil
}

// Slots inverts c: the role of each of n columns, None for no role.
func (c Columns) Slots(n int) []Role {
	out := slices.Repeat([]Role{None}, n)
	for r, i := range c {
		out[i] = r
	}
	return out
}

// Has reports whether a source has a column for r.
func (c Columns) Has(r Role) bool { _, ok := c[r]; return ok }

// Journal reports whether the rows tell of changes, and in which order they came.
func (c Columns) Journal() bool {
	return c.Has(Record) && (c.Has(Sequence) || c.Has(Recorded))
}

// Used names the columns that c uses, as words → names of the source.
func (c Columns) Used(names []string) map[string]string {
	out := make(map[string]string, len(c))
	for r, i := range c {
		out[roleNames[r]] = names[i]
	}
	return out
}

// LooksLikeHeader reports whether the fields of a first record name columns:
// one of them must be known to hold paths, and none may look like a path.
func LooksLikeHeader(fields []string) bool {
	known := false
	for _, f := range fields {
		f = strings.ToLower(strings.TrimSpace(f))
		if strings.Contains(f, "/") {
			return false
		}
		known = known || slices.Contains(columnNames[Path], f) || f == "path_raw" || f == "path_base64"
	}
	return known
}

// Invalid is the error of what the user says of columns.
func Invalid(err error, hint string) error {
	return &lake.Error{Op: "read inventory columns", Kind: lake.Invalid, Err: err, Hint: hint}
}
