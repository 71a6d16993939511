package resolve

import (
	"strings"

	"github.com/lakesweep/lakesweep/lake"
)

// IsAbsolute reports a path from the root, or a URI.
func IsAbsolute(name string) bool {
	if strings.HasPrefix(name, "/") {
		return true
	}
	i := strings.IndexByte(name, ':')
	return i > 1 && (strings.HasPrefix(name[i:], "://") || strings.HasPrefix(name[i:], ":/")) && !strings.Contains(name[:i], "/")
}

// locate splits an absolute name into the roots of its store and its path
// there; nil if no root lies in that store.
func (r *Resolver) locate(name string) (*rootSet, string) {
	scheme, rest, ok := strings.Cut(name, ":")
	if !ok || strings.HasPrefix(name, "/") {
		// A path without a scheme: of a local root, or of a file system.
		path := squeeze(name)
		if set := r.byStore["file://"]; set != nil {
			return set, path
		}
		return r.fileSystem(), path
	}
	scheme = strings.ToLower(scheme)
	authority := ""
	if after, ok := strings.CutPrefix(rest, "//"); ok {
		authority, rest, _ = strings.Cut(after, "/")
	} else {
		rest = strings.TrimPrefix(rest, "/")
	}
	if scheme == "https" || scheme == "http" {
		scheme, authority, rest = httpName(authority, rest)
	}
	class := lake.Root{Scheme: scheme}.Class()
	if isFileSystem(class) {
		rest = squeeze(rest)
	}
	switch {
	case class == "":
		return nil, ""
	case class == "file" && authority == "localhost":
		authority = ""
	case class == "hdfs" && authority == "":
		return r.fileSystem(), rest
	}
	return r.lookup(class, authority), rest
}

// fileSystem returns the roots on HDFS if they share one name node.
func (r *Resolver) fileSystem() *rootSet {
	var found *rootSet
	for key, set := range r.byStore {
		if strings.HasPrefix(key, "hdfs://") {
			if found != nil {
				return nil
			}
			found = set
		}
	}
	return found
}

// httpName reads https://account.blob.core.windows.net/container/name, with
// dfs instead of blob too. Source: cases/bugs.md B014.
func httpName(host, path string) (scheme, authority, rest string) {
	account, service, _ := strings.Cut(host, ".")
	if !strings.HasPrefix(service, "blob.") && !strings.HasPrefix(service, "dfs.") {
		return "https", "", ""
	}
	container, rest, _ := strings.Cut(path, "/")
	return "az", container + "@" + account, rest
}

// storeKeys returns the keys under which a root's store is found. Azure's have
// a second one for names that give the container without its account.
func storeKeys(class, authority string) []string {
	if class != "az" {
		return []string{class + "://" + authority}
	}
	container, account := azure(authority)
	return []string{"az://" + container + "@" + account, "az:any://" + container}
}

// azure splits container@account.host; the account is "" if it isn't named.
func azure(authority string) (container, account string) {
	container, host, _ := strings.Cut(authority, "@")
	account, _, _ = strings.Cut(host, ".")
	return container, strings.ToLower(account)
}

// lookup finds the roots of a store. An Azure container without its account,
// in the name or in the root, may be that of any account.
func (r *Resolver) lookup(class, authority string) *rootSet {
	if class != "az" {
		return r.byStore[class+"://"+authority]
	}
	container, account := azure(authority)
	if account == "" {
		return r.byStore["az:any://"+container]
	}
	if set := r.byStore["az://"+container+"@"+account]; set != nil {
		return set
	}
	return r.byStore["az://"+container+"@"]
}

func isFileSystem(class string) bool { return class == "file" || class == "hdfs" || class == "viewfs" }

// squeeze drops empty components, which a file system ignores.
func squeeze(name string) string {
	for strings.Contains(name, "//") {
		name = strings.ReplaceAll(name, "//", "/")
	}
	return strings.Trim(name, "/")
}

// hasDots reports a component "." or "..".
func hasDots(name string) bool {
	if !strings.Contains(name, "./") && !strings.HasSuffix(name, ".") {
		return false
	}
	for c := range strings.SplitSeq(name, "/") {
		if c == "." || c == ".." {
			return true
		}
	}
	return false
}
