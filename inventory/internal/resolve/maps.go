package resolve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lakesweep/lakesweep/lake"
)

// Map says that names beginning with From are reached at To. Both are prefixes
// of whole path components, or a bare scheme such as "s3a://".
type Map struct{ From, To string }

// mapping is a Map, parsed.
type mapping struct {
	from, to string
	scheme   bool // from and to are bare schemes
}

// Mappings are parsed Maps, the longest From first.
type Mappings []mapping

// ParseMaps reads Maps.
//
// Errors: Invalid for a Map that is empty or maps a scheme to a path.
func ParseMaps(rules []Map) (Mappings, error) {
	var out Mappings
	for _, m := range rules {
		parsed := mapping{from: trimSlash(m.From), to: trimSlash(m.To), scheme: strings.HasSuffix(m.From, "://")}
		if m.From == "" || m.To == "" || parsed.scheme != strings.HasSuffix(m.To, "://") {
			return nil, &lake.Error{Op: "read --map", Kind: lake.Invalid, Err: fmt.Errorf("%q=%q maps nothing", m.From, m.To),
				Hint: "Write --map FROM=TO with two prefixes of whole path components, or two schemes such as s3a://=s3://."}
		}
		out = append(out, parsed)
	}
	slices.SortStableFunc(out, func(a, b mapping) int { return len(b.from) - len(a.from) })
	return out, nil
}

// Apply applies the longest Map that fits.
func (ms Mappings) Apply(name string) string {
	for _, m := range ms {
		rest, ok := strings.CutPrefix(name, m.from)
		if ok && (m.scheme || rest == "" || rest[0] == '/') {
			return m.to + rest
		}
	}
	return name
}

func trimSlash(s string) string {
	if strings.HasSuffix(s, "://") {
		return s
	}
	return strings.TrimRight(s, "/")
}
