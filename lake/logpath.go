package lake

import (
	"errors"
	"fmt"
	"strings"
)

// Paths is what the path of a log action means for one table.
type Paths struct {
	// Key is the object's key: the path percent-decoded exactly once, "//" and dots resolved as every reader resolves them. Empty if Outside.
	Key Key
	// Protect holds the other spellings that a needed object might have, all of them to be kept: unresolved, verbatim, and cut at a raw '#' or '?'.
	Protect []Key
	// Outside: the path leads out of the table's root, as far as its text tells. Nothing there is ever a candidate.
	// Protect then holds what it names below the root if another authority or scheme (a name service, an access point) leads to the same store.
	Outside bool
}

// LogPath reads the path of a log action: an RFC 2396 reference, relative to
// the root or absolute, percent-decoded exactly once to bytes. Absolute paths
// count as inside in every spelling (file:/r/x, file:///r/x, /r/x) and under
// every alias of the root's scheme, as well as of each root in also (the same
// table under another name, such as the target of a symlink).
//
// Errors: Damaged for a malformed escape, an opaque URI, an empty path or the
// root itself; Unsupported where inside or outside can't be decided.
// Source: Delta PROTOCOL.md "Add File and Remove File"; spec/delta-vacuum.md 1.6.
func (r Root) LogPath(s string, also ...Root) (Paths, error) {
	if plain(s) {
		return Paths{Key: Key(s)}, nil
	}
	scheme, rest, absolute := cutScheme(s)
	switch {
	case absolute && !strings.HasPrefix(rest, "/"):
		return Paths{}, pathError(s, Damaged, errors.New("an opaque URI is no path"))
	case absolute, strings.HasPrefix(s, "/"):
		return r.absolutePath(s, scheme, rest, absolute, also)
	}
	return relativePath(s, s)
}

func (r Root) absolutePath(s, scheme, rest string, hasScheme bool, also []Root) (Paths, error) {
	class := storeClasses[scheme]
	if hasScheme && class == "" {
		return Paths{}, pathError(s, Unsupported, fmt.Errorf("can't tell whether the scheme %q leads into the table", scheme))
	}
	authority, hasAuthority := "", false
	if strings.HasPrefix(rest, "//") {
		authority, rest, _ = strings.Cut(rest[2:], "/")
		rest, hasAuthority = "/"+rest, authority != ""
	}
	out := Paths{Outside: true}
	for _, root := range append([]Root{r}, also...) {
		rel, ok, err := below(root, rest)
		same := !hasScheme || class == root.Class()
		same = same && (!hasAuthority || class == "file" && authority == "localhost" || sameAuthority(root, authority))
		switch {
		case err != nil && same:
			return Paths{}, pathError(s, Damaged, err)
		case ok && same:
			return relativePath(s, rel)
		case ok:
			if p, err := relativePath(s, rel); err == nil {
				out.Protect = append(append(out.Protect, p.Key), p.Protect...)
			}
		case !same && root.hadoop() && hadoopClass(class):
			out.Protect = append(out.Protect, suffixes(rest)...)
		}
	}
	return out, nil
}

// hadoop reports whether other names of the file system may give its folders
// other paths: routers and mount tables do.
func (r Root) hadoop() bool { return hadoopClass(r.Class()) }

func hadoopClass(class string) bool { return class == "hdfs" || class == "viewfs" }

// suffixes returns every relative path that the absolute path p, still encoded,
// ends in.
func suffixes(p string) (keys []Key) {
	decoded, err := decode(p)
	if err != nil {
		return nil
	}
	rest := strings.TrimPrefix(resolveSlashes(decoded), "/")
	for rest != "" {
		keys = append(keys, Key(rest))
		_, rest, _ = strings.Cut(rest, "/")
	}
	return keys
}

// below returns the part of the still encoded absolute path p below root. Both
// readings of the root count: its name may stand in p as it is or encoded.
func below(root Root, p string) (rel string, ok bool, err error) {
	decoded, err := decode(p)
	if err != nil {
		return "", false, err
	}
	for _, resolve := range []func(string) string{func(s string) string { return s }, resolveSlashes} {
		if !strings.HasPrefix(resolve(decoded), "/"+root.Path+"/") && !strings.HasPrefix(resolve(p), "/"+root.Path+"/") {
			continue
		}
		// Cut as many components from the encoded form as the root has.
		encoded := strings.TrimPrefix(resolve(p), "/")
		rest := encoded
		for range strings.Count(root.Path, "/") + 1 {
			_, rest, _ = strings.Cut(rest, "/")
		}
		prefix := strings.TrimSuffix(strings.TrimSuffix(encoded, rest), "/")
		if plain, err := decode(prefix); prefix != root.Path && plain != root.Path {
			return "", false, errors.Join(err, errors.New("slashes of the table's root are encoded"))
		}
		return rest, rest != "", nil
	}
	return "", false, nil
}

func relativePath(s, rel string) (Paths, error) {
	if i := strings.IndexFunc(rel, illegal); i >= 0 {
		return Paths{}, pathError(s, Damaged, fmt.Errorf("raw %q in a URI, which no writer leaves unescaped", rel[i]))
	}
	decoded, err := decode(rel)
	if err != nil {
		return Paths{}, pathError(s, Damaged, err)
	}
	spellings := []string{decoded, rel}
	if i := strings.IndexAny(rel, "#?"); i > 0 {
		// A URI parser would take the rest for a fragment or a query.
		cut, err := decode(rel[:i])
		if err != nil {
			return Paths{}, pathError(s, Damaged, err)
		}
		spellings = append(spellings, cut, rel[:i])
	}
	resolved := strings.TrimPrefix(resolveSlashes(decoded), "/")
	if resolved == "" || resolved == "." {
		return Paths{}, pathError(s, Damaged, errors.New("names the table's root, no file"))
	} else if strings.HasPrefix(resolved, "../") || resolved == ".." {
		return Paths{}, pathError(s, Unsupported, errors.New("leads out of the table by '..'"))
	}
	p := Paths{Key: Key(resolved)}
	for _, sp := range spellings {
		for _, k := range [2]string{sp, resolveSlashes(sp)} {
			if Key(k) != p.Key && k != "" && !contains(p.Protect, Key(k)) {
				p.Protect = append(p.Protect, Key(k))
			}
		}
	}
	return p, nil
}

func contains(keys []Key, k Key) bool {
	for _, have := range keys {
		if have == k {
			return true
		}
	}
	return false
}

// Listed returns the key of a name that a store listed below the root: the
// name as it is, never decoded.
func Listed(name string) Key { return Key(name) }

// illegal reports the ASCII characters that java.net.URI refuses in a path.
func illegal(c rune) bool {
	return c <= ' ' || c == 0x7f || c < 0x80 && strings.ContainsRune("\"<>[\\]^`{|}", c)
}

// resolveSlashes folds "//", "/./" and "x/../" and drops a trailing slash, as
// Hadoop's Path does. A leading slash stays.
func resolveSlashes(s string) string {
	if !strings.Contains(s, "//") && !strings.Contains(s, "./") && !strings.HasSuffix(s, "/") &&
		!strings.HasSuffix(s, "/.") && !strings.HasSuffix(s, "/..") && s != "." && s != ".." {
		return s
	}
	var out []string
	for c := range strings.SplitSeq(s, "/") {
		switch {
		case c == "" || c == ".":
		case c == ".." && len(out) > 0 && out[len(out)-1] != "..":
			out = out[:len(out)-1]
		default:
			out = append(out, c)
		}
	}
	joined := strings.Join(out, "/")
	if strings.HasPrefix(s, "/") {
		return "/" + joined
	}
	return joined
}

// decode replaces each %XX by its byte, once. '+' is a plus.
func decode(s string) (string, error) {
	i := strings.IndexByte(s, '%')
	if i < 0 {
		return s, nil
	}
	out := make([]byte, 0, len(s))
	for start := 0; ; {
		out = append(out, s[start:i]...)
		if i+2 >= len(s) {
			return "", fmt.Errorf("malformed escape %q", s[i:])
		}
		hi, lo := unhex(s[i+1]), unhex(s[i+2])
		if hi > 15 || lo > 15 {
			return "", fmt.Errorf("malformed escape %q", s[i:i+3])
		}
		out = append(out, hi<<4|lo)
		start = i + 3
		next := strings.IndexByte(s[start:], '%')
		if next < 0 {
			return string(append(out, s[start:]...)), nil
		}
		i = start + next
	}
}

func unhex(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10
	}
	return 255
}

func pathError(s string, kind Kind, err error) error {
	return &Error{Op: "read log path", Key: Key(s), Kind: kind, Err: err,
		Hint: "Nothing was deleted. Look at the log entry that holds this path."}
}

// Named returns every key that a path written by a person or another tool may
// mean: relative or absolute, as it is or percent-encoded. All of them are to
// be kept. It is empty for a path outside the root.
func (r Root) Named(s string, also ...Root) (keys []Key) {
	add := func(k string) {
		if k = strings.TrimPrefix(k, "/"); k != "" && !contains(keys, Key(k)) {
			keys = append(keys, Key(k))
		}
	}
	if p, err := r.LogPath(s, also...); err == nil && !p.Outside {
		keys = append(append(keys, p.Key), p.Protect...)
	}
	_, _, absolute := cutScheme(s)
	if !absolute && !strings.HasPrefix(s, "/") {
		add(s)
		add(resolveSlashes(s))
		return keys
	}
	place, err := parsePlace(s)
	if err != nil {
		return keys
	}
	for _, root := range append([]Root{r}, also...) {
		if root.Contains(place) && len(place.Path) > len(root.Path) {
			add(place.Path[len(root.Path):])
			add(resolveSlashes(place.Path[len(root.Path):]))
		}
	}
	return keys
}

// ParseURI reads the absolute path of a log action that leads out of a table:
// percent-decoded once; without a scheme it lies in the same store as from.
//
// Errors: Damaged for a malformed escape, Unsupported for an unknown scheme.
func ParseURI(s string, from Root) (Root, error) {
	decoded, err := decode(s)
	if err != nil {
		return Root{}, pathError(s, Damaged, err)
	}
	if strings.HasPrefix(decoded, "/") && !strings.HasPrefix(decoded, "//") {
		return Root{Scheme: from.Scheme, Authority: from.Authority, Path: strings.TrimPrefix(resolveSlashes(decoded), "/")}, nil
	}
	r, err := parsePlace(decoded)
	if err != nil {
		return Root{}, pathError(s, Unsupported, err)
	}
	if r.Authority == "" && r.Class() == from.Class() {
		r.Authority = from.Authority
	}
	return r, nil
}
