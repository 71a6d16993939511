package lake

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// BlobID is the identity of an external blob: a reference's path exactly as
// the records spell it. Two of them may still name one object; what keeps a
// blob alive is therefore compared by BlobNames.Forms, never as text.
type BlobID string

// ClaimName is the marker in a blob root that names the tables which delete
// below it. It is no blob, whatever a record says.
const ClaimName = ".lakesweep-claim.json"

// BlobMap states that names beginning with From are reached at To, and that
// the two are one place. Both are prefixes of whole path components, or bare
// schemes such as "s3a://".
type BlobMap struct{ From, To string }

// BlobOptions says which blobs may die, and which spellings are one.
type BlobOptions struct {
	Table   Root   // of the table whose records refer to blobs
	Aliases []Root // its other names
	Others  []Root // tables that share its blobs: what lies in their folders is no blob
	Roots   []Root // blobs die only below these
	Maps    []BlobMap
}

// Standing says whether a blob may die at all, whoever refers to it.
type Standing uint8

// The standings of a blob.
const (
	MayDie       Standing = iota // below an allowed root, spelled without doubt
	OddSpelling                  // which object it names is in doubt
	InsideTable                  // in a table's own folders
	OutsideRoots                 // below no allowed root
)

// String names a standing as output does.
func (s Standing) String() string {
	return [...]string{"may_die", "odd_spelling", "inside_table", "outside_roots"}[s]
}

// BlobNames reads the spellings of blobs. Safe for concurrent use.
//
// Source: design/blob-safety.md, "The rule" and hole H7.
type BlobNames struct {
	o      BlobOptions
	maps   []blobMapping
	inside []string // forms of the table's roots
}

type blobMapping struct {
	BlobMap
	scheme   bool
	from, to string // folded, without a slash at the end
}

// NewBlobNames checks the options.
//
// Errors: Invalid for a map that maps nothing.
func NewBlobNames(o BlobOptions) (*BlobNames, error) {
	n := &BlobNames{o: o}
	for _, m := range o.Maps {
		scheme := strings.HasSuffix(m.From, "://")
		if m.From == "" || m.To == "" || scheme != strings.HasSuffix(m.To, "://") {
			return nil, &Error{Op: "read --map", Kind: Invalid, Err: fmt.Errorf("%q=%q maps nothing", m.From, m.To),
				Hint: "Write --map FROM=TO with two prefixes of whole path components, or two schemes such as s3a://=s3://."}
		}
		b := blobMapping{BlobMap: BlobMap{m.From, m.To}, scheme: scheme}
		if scheme {
			b.from, b.to = classOf(m.From[:len(m.From)-3])+":", classOf(m.To[:len(m.To)-3])+":"
		} else {
			b.From, b.To = strings.TrimRight(m.From, "/"), strings.TrimRight(m.To, "/")
			b.from, b.to = foldAbsolute(b.From), foldAbsolute(b.To)
		}
		n.maps = append(n.maps, b)
	}
	slices.SortStableFunc(n.maps, func(a, b blobMapping) int { return len(b.From) - len(a.From) })
	for _, r := range slices.Concat([]Root{o.Table}, o.Aliases, o.Others) {
		if r.Scheme != "" {
			n.inside = append(n.inside, n.map1(foldAbsolute(r.String())))
		}
	}
	return n, nil
}

// Options returns what n was made of.
func (n *BlobNames) Options() BlobOptions { return n.o }

// Place returns where a blob is reached, and its standing. The place is valid
// only for one that may die.
func (n *BlobNames) Place(id BlobID) (Root, Standing) {
	s := string(id)
	for _, f := range n.Forms(id) {
		for _, in := range n.inside {
			if f == in || strings.HasPrefix(f, in+"/") {
				return Root{}, InsideTable
			}
		}
	}
	own, ok := n.plain(s)
	if !ok {
		return Root{}, OddSpelling
	}
	at, ok := n.plain(n.reach(s))
	if !ok {
		return Root{}, OddSpelling
	}
	if path.Base(at.Path) == ClaimName {
		return Root{}, OddSpelling
	}
	for _, r := range n.o.Roots {
		if holds(r, own) || holds(r, at) {
			return at, MayDie
		}
	}
	return at, OutsideRoots
}

func holds(r, place Root) bool { return r.Contains(place) && place.Path != r.Path }

// plain reads a spelling that can mean one object only.
func (n *BlobNames) plain(s string) (Root, bool) {
	if !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl) || strings.TrimSpace(s) != s {
		return Root{}, false
	}
	_, rest, absolute := cutScheme(s)
	if !absolute && (!strings.HasPrefix(s, "/") || n.o.Table.Class() != "file") {
		return Root{}, false
	}
	if absolute && strings.HasPrefix(rest, "//") {
		_, after, _ := strings.Cut(rest[2:], "/")
		rest = "/" + after
	}
	if !strings.HasPrefix(rest, "/") {
		return Root{}, false
	}
	for c := range strings.SplitSeq(rest[1:], "/") {
		if c == "" || c == "." || c == ".." {
			return Root{}, false
		}
	}
	place, err := parsePlace(s)
	return place, err == nil && place.Path != ""
}

// reach applies the longest map that fits a spelling.
func (n *BlobNames) reach(s string) string {
	for _, m := range n.maps {
		if rest, ok := strings.CutPrefix(s, m.From); ok && (m.scheme || rest == "" || rest[0] == '/') {
			return m.To + rest
		}
	}
	return s
}
