// Package duckdb runs SQL over lists with the duckdb program, where it is
// installed. The program is started for each query, so that lakesweep itself
// stays one static binary.
//
// The query is DuckDB's SQL, besides Spark's way to name files: parquet.`path`,
// csv.`path`, json.`path` and delta.`path`.
package duckdb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"path"
	"slices"
	"strings"

	"github.com/lakesweep/lakesweep/lake"
)

// Program is an inventory.Engine. The zero value looks for "duckdb" on the PATH.
type Program struct {
	Path string // of the program
}

// Query runs one SELECT and writes its rows to out as a Parquet file. The
// program reads stores with credentials of its own (its extensions httpfs, aws
// and azure).
//
// Errors: Unsupported where there is no program; Invalid with its message for a
// query that it refuses.
func (p Program) Query(ctx context.Context, views map[string]string, query, out string) error {
	name := p.Path
	if name == "" {
		name = "duckdb"
	}
	program, err := exec.LookPath(name)
	if err != nil {
		return &lake.Error{Op: "query inventory", Kind: lake.Unsupported, Err: err,
			Hint: "Install the duckdb program (a single file from duckdb.org), or run the query elsewhere, write its rows as Parquet and name that file."}
	}
	cmd := exec.CommandContext(ctx, program, "-batch", "-bail", "-init", "/dev/null")
	cmd.Stdin = strings.NewReader(script(views, query, out))
	var message bytes.Buffer
	cmd.Stderr = &message
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		text := strings.TrimSpace(message.String())
		if text == "" {
			text = err.Error()
		}
		return &lake.Error{Op: "query inventory", Kind: lake.Invalid, Err: errors.New(text), Hint: "The query runs in DuckDB; it must give a column path, and should give size and modified."}
	}
	return nil
}

func script(views map[string]string, query, out string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(views)) {
		fmt.Fprintf(&b, "CREATE VIEW %s AS SELECT * FROM read_parquet(%s);\n", identifier(name), literal(views[name]))
	}
	query = strings.TrimRight(strings.TrimSpace(translate(query)), "; \n")
	fmt.Fprintf(&b, "COPY (\n%s\n) TO %s (FORMAT parquet);\n", query, literal(out))
	return b.String()
}

func literal(s string) string    { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
func identifier(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

// translate makes DuckDB's calls and identifiers of Spark's backquoted names.
// Texts in quotes and comments stay as they are.
func translate(query string) string {
	var out strings.Builder
	for i := 0; i < len(query); {
		n := span(query[i:])
		token := query[i : i+n]
		i += n
		if token[0] != '`' || len(token) < 2 || token[n-1] != '`' {
			out.WriteString(token)
			continue
		}
		name := strings.ReplaceAll(token[1:n-1], "``", "`")
		before, format := cutFormat(out.String())
		if format == "" {
			out.WriteString(identifier(name))
			continue
		}
		out.Reset()
		out.WriteString(before + call(format, name))
	}
	return out.String()
}

// span returns the length of the quoted text, comment or single byte that s begins with.
func span(s string) int {
	ends := func(end string, from int) int {
		if i := strings.Index(s[from:], end); i >= 0 {
			return from + i + len(end)
		}
		return len(s)
	}
	switch {
	case strings.HasPrefix(s, "--"):
		return ends("\n", 2)
	case strings.HasPrefix(s, "/*"):
		return ends("*/", 2)
	case s[0] == '\'', s[0] == '"', s[0] == '`':
		quote := s[:1]
		n := ends(quote, 1)
		for n < len(s) && s[n] == s[0] { // doubled
			n = ends(quote, n+1)
		}
		return n
	}
	return 1
}

var functions = [...]struct{ format, function, files string }{
	{"parquet", "read_parquet", "*.parquet"}, {"csv", "read_csv", "*.csv*"}, {"json", "read_json", "*.json*"}, {"delta", "delta_scan", ""},
}

// cutFormat takes the format and the point off the end of what stands before a name.
func cutFormat(s string) (before, format string) {
	for _, f := range functions {
		at := len(s) - len(f.format) - 1
		if at < 0 || !strings.EqualFold(s[at:], f.format+".") {
			continue
		}
		if at > 0 && (s[at-1] == '.' || s[at-1] == '_' || s[at-1]|0x20 >= 'a' && s[at-1]|0x20 <= 'z' || s[at-1] >= '0' && s[at-1] <= '9') {
			continue
		}
		return s[:at], f.format
	}
	return s, ""
}

// call reads a file, or all files of a folder.
func call(format, name string) string {
	for _, f := range functions {
		if f.format != format {
			continue
		}
		if f.files != "" && path.Ext(name) == "" && !strings.ContainsAny(name, "*?[") {
			name = strings.TrimSuffix(name, "/") + "/**/" + f.files
		}
		return f.function + "(" + literal(name) + ")"
	}
	return identifier(name)
}
