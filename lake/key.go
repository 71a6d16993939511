package lake

import "strings"

// Key is the identity of an object below a table's root: the path relative to
// the root, as bytes, with '/' between components and none in front, unless
// the store's own name has one there ("a//b" and "/a" are keys of their own
// on object stores). A Key is never percent-encoded. It need not be UTF-8.
type Key string

// Dir returns the key of the directory that holds k, "" for the root itself.
func (k Key) Dir() Key {
	i := strings.LastIndexByte(string(k), '/')
	if i < 0 {
		return ""
	}
	return k[:i]
}

// Base returns the last component of k.
func (k Key) Base() string {
	return string(k[strings.LastIndexByte(string(k), '/')+1:])
}

// Below reports whether k lies in directory dir at any depth. Everything lies
// below the root "". The boundary is a slash: "p=10/x" isn't below "p=1".
func (k Key) Below(dir Key) bool {
	return dir == "" || len(k) > len(dir) && k[len(dir)] == '/' && k[:len(dir)] == dir
}

// Components yields the components of k in order, with the offset in k at
// which each ends.
func (k Key) Components(yield func(name string, end int) bool) {
	for start := 0; start <= len(k); {
		end := strings.IndexByte(string(k[start:]), '/')
		if end < 0 {
			yield(string(k[start:]), len(k))
			return
		}
		if !yield(string(k[start:start+end]), start+end) {
			return
		}
		start += end + 1
	}
}

// IcebergMetadata reports whether name is that of a file in which an Iceberg
// table keeps its state: "v3.metadata.json", "00003-UUID.gz.metadata.json", or
// "v3.metadata.json.gz" as older releases wrote it.
func IcebergMetadata(name string) bool {
	return strings.HasSuffix(strings.TrimSuffix(name, ".gz"), ".metadata.json")
}
