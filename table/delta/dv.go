package delta

import (
	"encoding/binary"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table/delta/logline"
)

// z85 is ZeroMQ's base-85 alphabet (rfc.zeromq.org/spec/32).
const z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"

// decodeZ85 decodes 20 characters to the 16 bytes of a UUID.
func decodeZ85(s string) (out [16]byte, err error) {
	if len(s) != 20 {
		return out, fmt.Errorf("%d characters of Z85, want 20", len(s))
	}
	for word := range 4 {
		var n uint64
		for _, c := range []byte(s[word*5 : word*5+5]) {
			i := strings.IndexByte(z85, c)
			if i < 0 {
				return out, fmt.Errorf("%q isn't in the Z85 alphabet", c)
			}
			n = n*85 + uint64(i)
		}
		if n > 1<<32-1 {
			return out, errors.New("Z85 group out of range")
		}
		binary.BigEndian.PutUint32(out[word*4:], uint32(n))
	}
	return out, nil
}

// logPath reads the path of an action.
func (t *Table) logPath(s string) (lake.Paths, error) {
	p, err := t.unlinkedPath(s)
	if err != nil {
		return p, err
	}
	return t.linked(p), nil
}

// unlinkedPath is logPath without what symlinks make of a path.
func (t *Table) unlinkedPath(s string) (lake.Paths, error) {
	p, err := t.root.LogPath(s, t.o.Aliases...)
	if err != nil || !p.Outside { // nearly always
		return p, err
	}
	if p.Outside && t.o.Inside != nil {
		if keys := t.o.Inside(s); len(keys) > 0 {
			p = lake.Paths{Key: keys[0], Protect: keys[1:]}
		}
	}
	return p, nil
}

// linked adds the key by which a listing shows a file that its path names
// through a symlinked folder of the table.
func (t *Table) linked(p lake.Paths) lake.Paths {
	if p.Outside || t.o.Linked == nil {
		return p
	}
	if real, ok := t.o.Linked(p.Key.Dir()); ok {
		return through(p, real)
	}
	return p
}

// through adds the key of a file in the folder that its own is a symlink to.
func through(p lake.Paths, real lake.Key) lake.Paths {
	p.Protect = append(p.Protect, lake.Key(path.Join(string(real), p.Key.Base())))
	return p
}

// dvPaths returns the file of a deletion vector; ok is false for an inline one.
//
// Errors: Damaged for a descriptor that can't be read; Unsupported for a kind
// of storage unknown to lakesweep.
// Source: Delta PROTOCOL.md "Deletion Vector Descriptor Schema"; spec/delta-vacuum.md 1.8.
func (t *Table) dvPaths(d *logline.DV) (p lake.Paths, ok bool, err error) {
	fail := func(kind lake.Kind, err error) (lake.Paths, bool, error) {
		return p, false, &lake.Error{Op: "read deletion vector", Key: lake.Key(d.Text), Kind: kind, Err: err,
			Hint: "Nothing was deleted. The log names a deletion vector that lakesweep can't resolve to a file."}
	}
	switch d.Storage {
	case "i":
		return p, false, nil
	case "p":
		if !strings.HasPrefix(d.Text, "/") && !strings.Contains(d.Text, ":") {
			return fail(lake.Damaged, errors.New("storage type p without an absolute path"))
		}
		p, err = t.logPath(d.Text)
		return p, err == nil, err
	case "u":
		if len(d.Text) < 20 {
			return fail(lake.Damaged, errors.New("fewer than 20 characters"))
		}
		prefix, code := d.Text[:len(d.Text)-20], d.Text[len(d.Text)-20:]
		id, err := decodeZ85(code)
		if err != nil {
			return fail(lake.Damaged, err)
		}
		name := fmt.Sprintf("deletion_vector_%x-%x-%x-%x-%x.bin", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
		p, ok, err := dvBelow(prefix, name)
		return t.linked(p), ok, err
	}
	return fail(lake.Unsupported, fmt.Errorf("unknown storage type %q", d.Storage))
}

// dvBelow joins the prefix of a deletion vector, a directory verbatim, with
// its file name. Other readings of an odd prefix are protected too.
func dvBelow(prefix, name string) (lake.Paths, bool, error) {
	if prefix == "" {
		return lake.Paths{Key: lake.Key(name)}, true, nil
	}
	verbatim := lake.Key(prefix + "/" + name)
	p, err := lake.Root{}.LogPath(string(verbatim))
	if err != nil || p.Outside || p.Key != verbatim {
		if strings.HasPrefix(prefix, "/") || strings.Contains("/"+prefix+"/", "/../") {
			return lake.Paths{}, false, &lake.Error{Op: "read deletion vector", Key: verbatim, Kind: lake.Damaged,
				Err: errors.New("its prefix leads out of the table"), Hint: "Nothing was deleted. Look at the log entry that holds this path."}
		}
		q := lake.Paths{Key: verbatim, Protect: p.Protect}
		if err == nil && !p.Outside {
			q.Protect = append(q.Protect, p.Key)
		}
		return q, true, nil
	}
	return p, true, nil
}
