package lake

import (
	"errors"
	"fmt"
	"path"
	"strings"
)

// Root is the place of a table, or of another prefix: a scheme, an authority
// (bucket, container@account, name node) and a path without slashes at its
// ends. Local paths have the scheme "file" and no authority.
//
// A Root is spelled verbatim: "%20" in it is three characters of the name.
type Root struct {
	Scheme    string // lower case
	Authority string
	Path      string
}

// storeClasses maps the schemes that name one store to one class. Within a
// class an equal authority is the same bucket; across classes nothing is.
var storeClasses = map[string]string{
	"file": "file",
	"s3":   "s3", "s3a": "s3", "s3n": "s3",
	"gs":   "gs",
	"abfs": "az", "abfss": "az", "wasb": "az", "wasbs": "az", "az": "az", "adl": "adl",
	"hdfs": "hdfs", "viewfs": "viewfs",
	"mem": "mem",
}

// ParseRoot reads a table argument: a URI of a known scheme, or a local path,
// which must be absolute (the command line makes it so). Trailing slashes
// don't count. A bucket's root and "/" are Invalid: no table lies there.
//
// Errors: Invalid.
func ParseRoot(s string) (Root, error) {
	r, err := parsePlace(s)
	if err != nil {
		return Root{}, err
	}
	if r.Path == "" {
		return Root{}, &Error{Op: "open table", Table: s, Kind: Invalid,
			Err:  errors.New("the root of a bucket or file system is never a table"),
			Hint: "Name the folder that holds _delta_log or .hoodie."}
	}
	return r, nil
}

// ParsePlace reads the name of any folder, roots of buckets included.
//
// Errors: Invalid.
func ParsePlace(s string) (Root, error) { return parsePlace(s) }

func parsePlace(s string) (Root, error) {
	invalid := func(format string, args ...any) (Root, error) {
		return Root{}, &Error{Op: "read place", Table: s, Kind: Invalid, Err: fmt.Errorf(format, args...),
			Hint: "Write an absolute path or a URI such as s3://bucket/path/to/table."}
	}
	scheme, rest, ok := cutScheme(s)
	if !ok {
		if !strings.HasPrefix(s, "/") {
			return invalid("neither an absolute path nor a URI")
		}
		return Root{Scheme: "file", Path: cleanLocal(s)}, nil
	}
	class := storeClasses[scheme]
	if class == "" {
		return invalid("unknown scheme %q", scheme)
	}
	authority := ""
	if strings.HasPrefix(rest, "//") {
		authority, rest, _ = strings.Cut(rest[2:], "/")
		rest = "/" + rest
	}
	if class == "file" {
		if authority != "" && authority != "localhost" {
			return invalid("file URI with the host %q", authority)
		}
		return Root{Scheme: "file", Path: cleanLocal(rest)}, nil
	}
	if authority == "" && class != "hdfs" && class != "mem" {
		return invalid("no bucket in it")
	}
	return Root{Scheme: scheme, Authority: authority, Path: strings.Trim(rest, "/")}, nil
}

func cleanLocal(s string) string { return strings.Trim(path.Clean("/"+s), "/") }

// cutScheme splits "scheme:rest". A scheme is RFC 3986's: a letter, then
// letters, digits, '+', '-' and '.'. One letter is a Windows drive, no scheme.
func cutScheme(s string) (scheme, rest string, ok bool) {
	i := strings.IndexByte(s, ':')
	if i < 2 {
		return "", s, false
	}
	for j := range i {
		c := s[j] | 0x20
		letter := c >= 'a' && c <= 'z'
		if !letter && (j == 0 || s[j] != '+' && s[j] != '-' && s[j] != '.' && (s[j] < '0' || s[j] > '9')) {
			return "", s, false
		}
	}
	return strings.ToLower(s[:i]), s[i+1:], true
}

// Class names the kind of store: aliases such as s3, s3a and s3n share one.
func (r Root) Class() string { return storeClasses[r.Scheme] }

// String returns the URI, a plain path for local places.
func (r Root) String() string {
	switch {
	case r.Scheme == "":
		return ""
	case r.Class() == "file":
		return "/" + r.Path
	case r.Path == "":
		return r.Scheme + "://" + r.Authority
	}
	return r.Scheme + "://" + r.Authority + "/" + r.Path
}

// Join returns the spelling of key below r, as String spells r.
func (r Root) Join(key Key) string {
	if r.Path == "" && r.Class() == "file" {
		return "/" + string(key)
	}
	return r.String() + "/" + string(key)
}

// Parent returns the folder that holds r and true, or false at the top.
func (r Root) Parent() (Root, bool) {
	if r.Path == "" {
		return r, false
	}
	i := max(strings.LastIndexByte(r.Path, '/'), 0)
	return Root{r.Scheme, r.Authority, strings.TrimRight(r.Path[:i], "/")}, true
}

// Same reports whether r and o are one place: the same class, authority and
// path. Azure's container@account names are compared without the host's
// "blob" or "dfs", other authorities as they stand.
func (r Root) Same(o Root) bool {
	return r.Class() == o.Class() && sameAuthority(r, o.Authority) && r.Path == o.Path
}

// Contains reports whether o lies in r or is r.
func (r Root) Contains(o Root) bool {
	return r.Class() == o.Class() && sameAuthority(r, o.Authority) &&
		(r.Path == "" || o.Path == r.Path || strings.HasPrefix(o.Path, r.Path+"/"))
}

func sameAuthority(r Root, authority string) bool {
	if r.Class() == "az" {
		return azureName(r.Authority) == azureName(authority)
	}
	return r.Authority == authority
}

// azureName folds container@account.{blob,dfs}.core… to container@account.
func azureName(authority string) string {
	container, host, ok := strings.Cut(authority, "@")
	if !ok {
		return authority
	}
	account, _, _ := strings.Cut(host, ".")
	return container + "@" + strings.ToLower(account)
}
