package hfile

import (
	"errors"

	"google.golang.org/protobuf/encoding/protowire"
)

// trailer holds the fields of the trailer that readers need, by their numbers.
type trailer struct {
	infoOffset    uint64 // 1
	loadOnOpen    uint64 // 2
	totalBytes    uint64 // 4, uncompressed
	dataIndex     uint64 // 5, entries of the root index
	metaIndex     uint64 // 6
	entries       uint64 // 7
	levels        uint64 // 8
	firstData     uint64 // 9
	lastData      uint64 // 10
	comparator    string // 11
	codec         uint64 // 12
	encryptionKey []byte // 13
}

const (
	noOffset   = ^uint64(0) // of the first and last data block of an empty file
	comparator = "org.apache.hudi.io.storage.HoodieHBaseKVComparator"
)

func parseTrailer(b []byte) (trailer, error) {
	t := trailer{codec: uint64(None), levels: 1}
	if string(b[:8]) != trailerMagic {
		return t, damaged("no trailer at the end")
	}
	if minor, major := b[trailerSize-4], int(b[trailerSize-3])<<16|int(b[trailerSize-2])<<8|int(b[trailerSize-1]); major != 3 {
		return t, unsupported("version %d.%d", major, minor)
	}
	body, n := protowire.ConsumeBytes(b[8 : trailerSize-4])
	if n < 0 {
		return t, damaged("trailer: %w", protowire.ParseError(n))
	}
	varints := map[protowire.Number]*uint64{1: &t.infoOffset, 2: &t.loadOnOpen, 4: &t.totalBytes, 5: &t.dataIndex, 6: &t.metaIndex,
		7: &t.entries, 8: &t.levels, 9: &t.firstData, 10: &t.lastData, 12: &t.codec}
	err := fields(body, func(num protowire.Number, v uint64, s []byte) {
		switch p := varints[num]; {
		case p != nil:
			*p = v
		case num == 11:
			t.comparator = string(s)
		case num == 13:
			t.encryptionKey = s
		}
	})
	return t, err
}

func (t trailer) append(dst []byte) []byte {
	var body []byte
	for _, f := range []struct {
		num protowire.Number
		v   uint64
	}{{1, t.infoOffset}, {2, t.loadOnOpen}, {3, t.totalBytes}, {4, t.totalBytes}, {5, t.dataIndex}, {6, t.metaIndex}, {7, t.entries}, {8, t.levels}, {9, t.firstData}, {10, t.lastData}} {
		body = protowire.AppendVarint(protowire.AppendTag(body, f.num, protowire.VarintType), f.v)
	}
	body = protowire.AppendString(protowire.AppendTag(body, 11, protowire.BytesType), t.comparator)
	body = protowire.AppendVarint(protowire.AppendTag(body, 12, protowire.VarintType), t.codec)
	start := len(dst)
	dst = append(dst, trailerMagic...)
	dst = protowire.AppendBytes(dst, body)
	dst = append(dst, make([]byte, trailerSize-(len(dst)-start))...)
	dst[len(dst)-1] = 3
	return dst
}

// fields calls f for each varint or bytes field of a protobuf message.
func fields(b []byte, f func(num protowire.Number, v uint64, s []byte)) error {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return damaged("protobuf: %w", protowire.ParseError(n))
		}
		b = b[n:]
		switch typ {
		case protowire.VarintType:
			v, n := protowire.ConsumeVarint(b)
			if n < 0 {
				return damaged("protobuf: %w", protowire.ParseError(n))
			}
			f(num, v, nil)
			b = b[n:]
		case protowire.BytesType:
			s, n := protowire.ConsumeBytes(b)
			if n < 0 {
				return damaged("protobuf: %w", protowire.ParseError(n))
			}
			f(num, 0, s)
			b = b[n:]
		default:
			n := protowire.ConsumeFieldValue(num, typ, b)
			if n < 0 {
				return damaged("protobuf: %w", protowire.ParseError(n))
			}
			b = b[n:]
		}
	}
	return nil
}

// parseInfo reads the payload of a file info block: "PBUF", a length and a
// message of repeated {1: key, 2: value} in field 1.
func parseInfo(b []byte) (map[string][]byte, error) {
	if len(b) < 4 || string(b[:4]) != "PBUF" {
		return nil, damaged("file info: no PBUF")
	}
	body, n := protowire.ConsumeBytes(b[4:])
	if n < 0 {
		return nil, damaged("file info: %w", protowire.ParseError(n))
	}
	info := make(map[string][]byte)
	var inner []error
	err := fields(body, func(num protowire.Number, _ uint64, pair []byte) {
		if num != 1 {
			return
		}
		var key, value []byte
		inner = append(inner, fields(pair, func(num protowire.Number, _ uint64, s []byte) {
			switch num {
			case 1:
				key = s
			case 2:
				value = s
			}
		}))
		info[string(key)] = value
	})
	return info, errors.Join(append(inner, err)...)
}
