package lake

import (
	"slices"
	"strings"
)

// Forms returns what a spelling is compared by: two spellings that might name
// one object share a form. Aliases of a scheme, credentials, accounts of Azure
// containers, name nodes, the case of buckets, percent-encoding at any depth,
// empty, "." and ".." components, on disks case and Unicode's forms, and --map
// don't count; nothing else is folded. One without a scheme has a form for each
// file system that it may be of: the disk, the table's own, those of the roots;
// a relative one for each of their folders too.
func (n *BlobNames) Forms(id BlobID) []string {
	s := string(id)
	if _, _, absolute := cutScheme(s); absolute {
		return []string{n.map1(foldAbsolute(s))}
	}
	var forms []string
	add := func(spelled string) {
		if f := n.map1(foldAbsolute(spelled)); !slices.Contains(forms, f) {
			forms = append(forms, f)
		}
	}
	relative := !strings.HasPrefix(s, "/")
	path := s
	if relative {
		path = "/" + s
	}
	add("file:" + path)
	for _, r := range append([]Root{n.o.Table}, n.o.Roots...) {
		if relative && r.Scheme != "" {
			add(r.String() + path)
		}
		if r.Class() != "file" && r.Class() != "" {
			add(r.Scheme + "://" + r.Authority + path)
		}
	}
	return forms
}

// Authority returns the form of the bucket that all of a column's values lie
// in, if its least and greatest value and the maps allow to say so.
func (n *BlobNames) Authority(least, greatest string) (form string, ok bool) {
	scheme, rest, absolute := cutScheme(least)
	if class := storeClasses[scheme]; !absolute || class == "" || class == "file" || !strings.HasPrefix(rest, "//") {
		return "", false // the host of a file means nothing: all are of one place
	}
	authority, _, slash := strings.Cut(rest[2:], "/")
	if !slash || authority == "" {
		return "", false
	}
	prefix := least[:len(scheme)+1+2+len(authority)+1]
	if !strings.HasPrefix(greatest, prefix) {
		return "", false
	}
	form = AuthorityOf(foldAbsolute(prefix))
	for _, m := range n.maps {
		if m.scheme || strings.HasPrefix(m.from, form) {
			return "", false
		}
	}
	return form, true
}

// AuthorityOf returns the part of a form that Authority gives.
func AuthorityOf(form string) string {
	class, rest, ok := strings.Cut(form, "://")
	if !ok {
		return form
	}
	authority, _, _ := strings.Cut(rest, "/")
	return class + "://" + authority
}

// map1 follows the maps from a folded spelling to where they end; of a circle,
// to its least member.
func (n *BlobNames) map1(form string) string {
	seen := []string{form}
	for len(n.maps) > 0 {
		next, ok := n.step(form)
		if !ok {
			return form
		}
		for i, s := range seen {
			if s == next {
				least := next
				for _, c := range seen[i:] {
					least = min(least, c)
				}
				return least
			}
		}
		if len(seen) > 2*len(n.maps)+2 {
			return next // maps that lengthen a name without end
		}
		seen, form = append(seen, next), next
	}
	return form
}

func (n *BlobNames) step(form string) (string, bool) {
	for _, m := range n.maps {
		rest, ok := strings.CutPrefix(form, m.from)
		if ok && m.from != m.to && (m.scheme || rest == "" || rest[0] == '/') {
			if m.scheme { // what its paths hold before the names is of no account in the new scheme either
				return foldAbsolute(m.to + rest), true
			}
			return foldCase(m.to + rest), true
		}
	}
	return "", false
}

// aliases are schemes that no store is opened by, and by which other clients of
// a store name the same objects.
var aliases = map[string]string{"gcs": "gs", "azure": "az", "webhdfs": "hdfs", "swebhdfs": "hdfs"}

// classOf is the class of a scheme, or the scheme itself if it is unknown.
func classOf(scheme string) string {
	scheme = strings.ToLower(scheme)
	if c := aliases[scheme]; c != "" {
		return c
	}
	if c := storeClasses[scheme]; c != "" {
		return c
	}
	return scheme
}

// foldAbsolute folds a URI or an absolute path.
func foldAbsolute(s string) string {
	scheme, rest, ok := cutScheme(s)
	if !ok {
		return foldCase("file:" + foldPath(s))
	}
	authority := ""
	if strings.HasPrefix(rest, "//") {
		authority, rest, _ = strings.Cut(rest[2:], "/")
	}
	authority = strings.ToLower(unescape(authority))
	class := classOf(scheme)
	if class == "https" || class == "http" {
		class, authority, rest = foldWeb(authority, rest)
	}
	path := foldPath("/" + rest)
	switch class {
	case "file":
		return foldCase("file:" + path)
	case "hdfs", "viewfs":
		return class + "://" + path
	case "az", "adl":
		authority, _, _ = strings.Cut(authority, "@")
	case "s3", "gs": // credentials may stand before it
		authority = authority[strings.LastIndexByte(authority, '@')+1:]
	}
	return class + "://" + authority + path
}

// foldCase folds a form of the disk: it may be of a system that takes two
// spellings of a name for one.
func foldCase(form string) string {
	if strings.HasPrefix(form, "file:") {
		return string(Key(form).Fold())
	}
	return form
}

// foldWeb reads the web addresses of objects.
func foldWeb(host, path string) (class, authority, rest string) {
	path, _, _ = strings.Cut(path, "?")
	first, under, _ := strings.Cut(path, "/")
	host = strings.TrimSuffix(strings.TrimSuffix(host, ":443"), ":80")
	name, service, _ := strings.Cut(host, ".")
	switch {
	case strings.HasPrefix(service, "blob.core.") || strings.HasPrefix(service, "dfs.core.") || strings.HasPrefix(service, "blob.fabric.") || strings.HasPrefix(service, "dfs.fabric."),
		strings.HasSuffix(service, ".blob.storage.azure.net") || strings.HasSuffix(service, ".dfs.storage.azure.net"):
		return "az", strings.ToLower(first), under
	case host == "storage.googleapis.com" || host == "storage.cloud.google.com":
		return "gs", strings.ToLower(first), under
	case strings.HasSuffix(host, ".storage.googleapis.com"):
		return "gs", strings.TrimSuffix(host, ".storage.googleapis.com"), path
	case strings.Contains(host, ".amazonaws.com") && (name == "s3" || strings.HasPrefix(name, "s3-")):
		return "s3", strings.ToLower(first), under
	case strings.Contains(host, ".amazonaws.com"):
		for _, mark := range []string{".s3.", ".s3-"} {
			if i := strings.Index(host, mark); i > 0 {
				return "s3", host[:i], path
			}
		}
	}
	return "http", host, path
}

// foldPath unescapes a path and resolves its slashes and dots; "" for the root.
func foldPath(s string) string {
	s = unescape(s)
	if !strings.Contains(s, "//") && !strings.Contains(s, "/.") && !strings.HasSuffix(s, "/") {
		return s
	}
	var out []string
	for c := range strings.SplitSeq(s, "/") {
		switch c {
		case "", ".":
		case "..":
			out = out[:max(len(out)-1, 0)]
		default:
			out = append(out, c)
		}
	}
	if len(out) == 0 {
		return ""
	}
	return "/" + strings.Join(out, "/")
}

// unescape replaces percent escapes by their bytes until none is left; what
// is no escape stays.
func unescape(s string) string {
	for strings.IndexByte(s, '%') >= 0 {
		out := make([]byte, 0, len(s))
		for i := 0; i < len(s); i++ {
			if s[i] == '%' && i+2 < len(s) && unhex(s[i+1]) < 16 && unhex(s[i+2]) < 16 {
				out = append(out, unhex(s[i+1])<<4|unhex(s[i+2]))
				i += 2
			} else {
				out = append(out, s[i])
			}
		}
		if len(out) == len(s) {
			return s
		}
		s = string(out)
	}
	return s
}

// Rules names all that decides which spellings share a form.
func (n *BlobNames) Rules() string {
	rules := "4 " + n.o.Table.String()
	for _, r := range n.o.Roots {
		rules += "\x00" + r.String()
	}
	rules += "\x00"
	for _, m := range n.maps {
		rules += "\x00" + m.From + "\x00" + m.To
	}
	return rules
}
