package timeline

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
)

// Properties are the entries of a Java properties file.
type Properties map[string]string

// ParseProperties reads the text of a properties file: ISO-8859-1, comments in
// lines that begin with '#' or '!', backslash escapes and continued lines,
// keys ended by '=', ':' or a blank. Of repeated keys the last counts.
//
// Errors: Damaged for a malformed \u escape.
// Source: java.util.Properties.load.
func ParseProperties(data []byte) (Properties, error) {
	p := make(Properties)
	for _, line := range logicalLines(data) {
		end := 0
		for end < len(line) && !strings.ContainsRune("=: \t\f", rune(line[end])) {
			if line[end] == '\\' {
				end++
			}
			end++
		}
		end = min(end, len(line))
		rest := strings.TrimLeft(line[end:], " \t\f")
		if rest != "" && (rest[0] == '=' || rest[0] == ':') {
			rest = strings.TrimLeft(rest[1:], " \t\f")
		}
		key, err := unescape(line[:end])
		if err != nil {
			return nil, err
		}
		if p[key], err = unescape(rest); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// logicalLines joins continued lines and drops comments and blank lines. The
// bytes stay as they are.
func logicalLines(data []byte) []string {
	var lines []string
	var open strings.Builder
	continued := false
	for natural := range strings.FieldsFuncSeq(string(data), func(c rune) bool { return c == '\n' || c == '\r' }) {
		natural = strings.TrimLeft(natural, " \t\f")
		if !continued && (natural == "" || natural[0] == '#' || natural[0] == '!') {
			continue
		}
		slashes := len(natural) - len(strings.TrimRight(natural, `\`))
		continued = slashes%2 == 1
		if continued {
			natural = natural[:len(natural)-1]
		}
		open.WriteString(natural)
		if !continued {
			lines = append(lines, open.String())
			open.Reset()
		}
	}
	if open.Len() > 0 {
		lines = append(lines, open.String())
	}
	return lines
}

func unescape(s string) (string, error) {
	units := make([]uint16, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			units = append(units, uint16(s[i]))
			continue
		}
		if i++; i == len(s) {
			break
		}
		switch s[i] {
		case 't':
			units = append(units, '\t')
		case 'n':
			units = append(units, '\n')
		case 'r':
			units = append(units, '\r')
		case 'f':
			units = append(units, '\f')
		case 'u':
			if i+5 > len(s) {
				return "", propertiesError(fmt.Errorf(`malformed \u escape in %q`, s))
			}
			v, err := strconv.ParseUint(s[i+1:i+5], 16, 16)
			if err != nil {
				return "", propertiesError(fmt.Errorf(`malformed \u escape in %q`, s))
			}
			units = append(units, uint16(v))
			i += 4
		default:
			units = append(units, uint16(s[i]))
		}
	}
	return string(utf16.Decode(units)), nil
}

func propertiesError(err error) error {
	return &lake.Error{Op: "read hoodie.properties", Kind: lake.Damaged, Err: err,
		Hint: "Restore hoodie.properties, for instance from hoodie.properties.backup beside it."}
}

const (
	propertiesName = "hoodie.properties"
	backupName     = "hoodie.properties.backup"
)

// valid checks what Hudi checks before it believes a properties file: that it
// names a table, and its checksum, where there is one.
func (p Properties) valid() error {
	name, ok := p["hoodie.table.name"]
	if !ok {
		return propertiesError(errors.New("no hoodie.table.name in it"))
	}
	want, ok := p["hoodie.table.checksum"]
	if got := Checksum(p["hoodie.database.name"], name); ok && want != strconv.FormatUint(uint64(got), 10) {
		return propertiesError(fmt.Errorf("checksum %s, computed %d", want, got))
	}
	return nil
}

// Checksum is the value of hoodie.table.checksum.
func Checksum(database, table string) uint32 {
	return crc32.ChecksumIEEE([]byte(database + "." + table))
}

// Dir is the folder of a table's metadata below its root.
const Dir = ".hoodie"

// ReadProperties reads hoodie.properties in the folder dir of a store, or its
// backup: an update deletes the file for a moment, so both are tried twice.
//
// Errors: NotTable if neither is there, Damaged if neither is valid.
func ReadProperties(ctx context.Context, r store.Reader, dir string) (Properties, error) {
	var firstBad error
	for range 2 {
		for _, name := range []string{propertiesName, backupName} {
			data, err := readFile(ctx, r, dir+"/"+name)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, err
			}
			p, err := ParseProperties(data)
			if err == nil {
				err = p.valid()
			}
			if err == nil {
				return p, nil
			}
			if firstBad == nil {
				firstBad = err
			}
		}
	}
	if firstBad != nil {
		return nil, firstBad
	}
	return nil, &lake.Error{Op: "open table", Kind: lake.NotTable, Err: fmt.Errorf("no %s/%s", dir, propertiesName),
		Hint: "Name the folder that holds .hoodie."}
}
