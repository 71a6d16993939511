package decode

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/lakesweep/lakesweep/inventory/internal/columns"
	"github.com/lakesweep/lakesweep/inventory/internal/rowset"
	"github.com/lakesweep/lakesweep/inventory/internal/value"
)

// readJSONL hands on rows that are one JSON object each. Objects may lack members.
func readJSONL(in io.Reader, explicit map[string]string, clock value.Times, b *rowset.Batch) error {
	dec := newJSON(in)
	known := jsonColumns{explicit: explicit, roles: make(map[string]columns.Role)}
	for n := int64(1); ; n++ {
		object, err := jsonObject(dec)
		if err == io.EOF {
			return b.Flush()
		}
		if err != nil {
			return fmt.Errorf("object %d: %w", n, err)
		}
		if rowless(object) {
			continue
		}
		if err := known.learn(object, b); err != nil {
			return err
		}
		r := rowset.Raw{Size: -1}
		for _, m := range object {
			if as := known.roles[m.name]; as != columns.None {
				r.Set(as, m.value, clock)
			}
		}
		if err := b.Add(&r); err != nil {
			return err
		}
	}
}

// jsonColumns holds the role of each member name seen so far, columns.None for none.
type jsonColumns struct {
	explicit map[string]string
	names    []string
	roles    map[string]columns.Role
}

// learn takes in the names of an object.
func (c *jsonColumns) learn(object []member, b *rowset.Batch) error {
	before := len(c.names)
	for _, m := range object {
		if _, ok := c.roles[m.name]; !ok {
			c.names = append(c.names, m.name)
			c.roles[m.name] = columns.None
		}
	}
	if len(c.names) == before {
		return nil
	}
	cols, err := columns.Assign(c.names, c.explicit)
	if err != nil {
		return err
	}
	for _, name := range c.names {
		c.roles[name] = columns.None
	}
	for r, i := range cols {
		c.roles[c.names[i]] = r
	}
	b.Latest = cols.Has(columns.Latest)
	return nil
}

// member is one member of an object: the text of a string, number or boolean, nil for null.
type member struct {
	name  string
	value []byte
}

// jsonObject reads an object. Values that are arrays or objects are left out.
func jsonObject(dec *jsontext.Decoder) ([]member, error) {
	tok, err := dec.ReadToken()
	if err != nil {
		return nil, err
	}
	if tok.Kind() != '{' {
		return nil, errors.New("no JSON object")
	}
	var out []member
	for {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, unexpected(err)
		}
		if name.Kind() == '}' {
			return out, nil
		}
		m := member{name: name.String()}
		switch kind := dec.PeekKind(); kind {
		case '{', '[':
			if err := dec.SkipValue(); err != nil {
				return nil, unexpected(err)
			}
			continue
		default:
			tok, err := dec.ReadToken()
			if err != nil {
				return nil, unexpected(err)
			}
			if kind != 'n' {
				m.value = []byte(tok.String())
			}
		}
		out = append(out, m)
	}
}

func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// rowless reports an object of our own output that is no row.
func rowless(object []member) bool {
	i := slices.IndexFunc(object, func(m member) bool { return m.name == "message_type" })
	return i >= 0 && string(object[i].value) != "file"
}

func newJSON(in io.Reader) *jsontext.Decoder {
	return jsontext.NewDecoder(in, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
}
