package mdt

import (
	"encoding/binary"
	"encoding/json"
	"strings"
)

// shape is how the records of "files" lie in their bytes by the schema that
// every writer so far gave them: nullable fields of Hudi's own in front, key,
// type, the map of files, and nullable fields behind. It reads them many times
// as fast as a schema does.
type shape struct {
	before int // fields in front
	after  int // fields behind
}

// shapeOf returns the shape that a schema's records have, nil if it is another.
func shapeOf(schema string) *shape {
	var record struct {
		Fields []struct {
			Name string          `json:"name"`
			Type json.RawMessage `json:"type"`
		} `json:"fields"`
	}
	if json.Unmarshal([]byte(schema), &record) != nil {
		return nil
	}
	var s shape
	fields := record.Fields
	for len(fields) > 0 && strings.HasPrefix(fields[0].Name, "_hoodie_") {
		if second, ok := nullable(fields[0].Type); !ok || !primitive(second, "string") {
			return nil
		}
		s.before, fields = s.before+1, fields[1:]
	}
	if len(fields) < 3 || fields[0].Name != "key" || !primitive(fields[0].Type, "string") || fields[1].Name != "type" || !primitive(fields[1].Type, "int") ||
		fields[2].Name != "filesystemMetadata" || !filesMap(fields[2].Type) {
		return nil
	}
	for _, f := range fields[3:] {
		if _, ok := nullable(f.Type); !ok {
			return nil
		}
		s.after++
	}
	return &s
}

// nullable returns the second type of a union that begins with null.
func nullable(t json.RawMessage) (second json.RawMessage, ok bool) {
	var union []json.RawMessage
	if json.Unmarshal(t, &union) != nil || len(union) != 2 || !primitive(union[0], "null") {
		return nil, false
	}
	return union[1], true
}

// primitive reports whether t is the type of that name, by itself or with attributes.
func primitive(t json.RawMessage, name string) bool {
	var have string
	if json.Unmarshal(t, &have) == nil {
		return have == name
	}
	var object struct {
		Type    string          `json:"type"`
		Logical json.RawMessage `json:"logicalType"`
	}
	return json.Unmarshal(t, &object) == nil && object.Type == name && object.Logical == nil
}

// filesMap reports a nullable map of HoodieMetadataFileInfo.
func filesMap(t json.RawMessage) bool {
	second, ok := nullable(t)
	var m struct {
		Type   string `json:"type"`
		Values struct {
			Type   string `json:"type"`
			Fields []struct {
				Name string          `json:"name"`
				Type json.RawMessage `json:"type"`
			} `json:"fields"`
		} `json:"values"`
	}
	if !ok || json.Unmarshal(second, &m) != nil || m.Type != "map" || m.Values.Type != "record" || len(m.Values.Fields) != 2 {
		return false
	}
	size, deleted := m.Values.Fields[0], m.Values.Fields[1]
	return size.Name == "size" && primitive(size.Type, "long") && deleted.Name == "isDeleted" && primitive(deleted.Type, "boolean")
}

// sizes returns name and size of each live file in a partition's record. ok is
// false for bytes that aren't plainly such a record: the schema decides then.
func (s *shape) sizes(value []byte) (files map[string]int64, ok bool) {
	c := cursor{rest: value}
	for range s.before {
		switch c.long() {
		case 0:
		case 1:
			c.text()
		default:
			return nil, false
		}
	}
	c.text() // the key: the HFile's counts
	if c.long() != typePartition {
		return nil, false
	}
	files = make(map[string]int64)
	switch c.long() {
	case 0: // null
		return files, c.nulls(s.after)
	case 1:
	default:
		return nil, false
	}
	text := string(value) // the names share it
	for {
		n := c.long()
		if n == 0 {
			return files, c.nulls(s.after)
		}
		if n < 0 || n > int64(len(c.rest)/3) { // with its length in bytes, or fewer than an entry takes at least
			return nil, false
		}
		if len(files) == 0 {
			files = make(map[string]int64, n)
		}
		for range n {
			length := len(c.text())
			end := len(value) - len(c.rest)
			size, deleted := c.long(), c.byte()
			if c.failed || deleted > 1 {
				return nil, false
			}
			if name := text[end-length : end]; deleted == 1 {
				delete(files, name)
			} else {
				files[name] = size
			}
		}
	}
}

// cursor reads Avro's primitives as writers write them, numbers in as few bytes
// as they need. Past the end it has failed, and reads zeros.
type cursor struct {
	rest   []byte
	failed bool
}

func (c *cursor) long() int64 {
	v, n := binary.Varint(c.rest)
	if n <= 0 || n > 1 && c.rest[n-1] == 0 {
		c.rest, c.failed = nil, true
		return 0
	}
	c.rest = c.rest[n:]
	return v
}

func (c *cursor) byte() byte {
	if len(c.rest) == 0 {
		c.failed = true
		return 0
	}
	b := c.rest[0]
	c.rest = c.rest[1:]
	return b
}

func (c *cursor) text() []byte {
	n := c.long()
	if n < 0 || n > int64(len(c.rest)) {
		c.rest, c.failed = nil, true
		return nil
	}
	t := c.rest[:n]
	c.rest = c.rest[n:]
	return t
}

// nulls reports whether what is left are n nulls.
func (c *cursor) nulls(n int) bool {
	if c.failed || len(c.rest) != n {
		return false
	}
	for _, b := range c.rest {
		if b != 0 {
			return false
		}
	}
	return true
}
