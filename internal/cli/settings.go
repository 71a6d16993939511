package cli

import (
	"bufio"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lakesweep/lakesweep/internal/cli/internal/value"
)

const envPrefix = "LAKESWEEP_"

// settings maps a flag's name to the values that a lower layer gives it.
type settings map[string][]string

// applySettings fills the flags that the command line left alone from the
// environment, then those still left from the file that --settings names.
// A name that is no flag of any command is an error: a misspelt
// LAKESWEEP_KEEP_VERSION must not go unseen. A flag of other commands is not.
//
// Errors: Invalid.
func (a *app) applySettings(cmd *cobra.Command) error {
	known := knownFlags(cmd.Root())
	env, err := readEnv(a.Env, known)
	if err != nil {
		return err
	}
	if err := env.fill(cmd.Flags(), "the environment", envName); err != nil {
		return err
	}
	if a.flags.settings == "" {
		return nil
	}
	file, err := readSettings(a.flags.settings, known)
	if err != nil {
		return err
	}
	return file.fill(cmd.Flags(), a.flags.settings, func(flag string) string { return flag })
}

// fill sets the flags in fs that nothing has set yet.
func (s settings) fill(fs *pflag.FlagSet, from string, spell func(string) string) error {
	var errs []error
	fs.VisitAll(func(f *pflag.Flag) {
		if f.Changed {
			return
		}
		for _, v := range s[f.Name] {
			if err := fs.Set(f.Name, v); err != nil {
				errs = append(errs, invalid("Correct it there, or give --"+f.Name+" on the command line.", "%s in %s: %w", spell(f.Name), from, cause(err)))
			}
		}
	})
	return errors.Join(errs...)
}

// knownFlags returns the names of all flags of all commands, and whether each
// can be given several times.
func knownFlags(root *cobra.Command) map[string]bool {
	known := map[string]bool{}
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		for _, fs := range []*pflag.FlagSet{c.PersistentFlags(), c.LocalNonPersistentFlags()} {
			fs.VisitAll(func(f *pflag.Flag) {
				if f.Name != "help" {
					known[f.Name] = known[f.Name] || value.Repeats(f.Value)
				}
			})
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(root)
	return known
}

func envName(flag string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// readEnv collects the variables that are flags. Several values of a flag
// stand on lines of their own.
func readEnv(env []string, known map[string]bool) (settings, error) {
	s := settings{}
	for _, entry := range env {
		name, v, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, envPrefix) || notOurs(name) {
			continue
		}
		flag := strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(name, envPrefix), "_", "-"))
		many, ok := known[flag]
		if !ok {
			return nil, invalid(suggest(flag, known, envName), "the environment variable %s is no flag of lakesweep", name)
		}
		if many {
			s[flag] = strings.Split(strings.Trim(v, "\n"), "\n")
		} else {
			s[flag] = []string{v}
		}
	}
	return s, nil
}

// notOurs reports the variables that mean something else: those of the
// project's tests and benchmarks, and those that Kubernetes sets by itself for
// a service called "lakesweep".
// Source: Kubernetes documentation, "Service", section "Environment variables".
func notOurs(name string) bool {
	rest := strings.TrimPrefix(name, envPrefix)
	for _, prefix := range []string{"TEST_", "BENCH_", "PORT_", "SERVICE_HOST", "SERVICE_PORT"} {
		if strings.HasPrefix(rest, prefix) {
			return true
		}
	}
	return rest == "PORT"
}

// readSettings reads a settings file: lines "flag = value", '#' comments and
// empty lines. A value is what follows, as it stands; a flag that can be given
// several times may have several lines.
func readSettings(file string, known map[string]bool) (settings, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, invalid("Name a file that can be read.", "--settings: %w", err)
	}
	defer f.Close() // only read
	return parseSettings(f, file, known)
}

func parseSettings(f io.Reader, file string, known map[string]bool) (settings, error) {
	s := settings{}
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\ufeff")) // a byte order mark, as some editors write
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		flag, v, ok := strings.Cut(line, "=")
		flag = strings.TrimSpace(flag)
		if !ok {
			return nil, invalid("Write flag = value, a flag on each line.", "%s, line %d: no '=' in %q", file, n, line)
		}
		many, isFlag := known[flag]
		if !isFlag || flag == "settings" {
			return nil, invalid(suggest(flag, known, func(f string) string { return f }), "%s, line %d: %q is no flag of lakesweep", file, n, flag)
		}
		if len(s[flag]) > 0 && !many {
			return nil, invalid("Keep one of the lines.", "%s, line %d: %q is given twice", file, n, flag)
		}
		s[flag] = append(s[flag], strings.TrimSpace(v))
	}
	if err := lines.Err(); err != nil {
		return nil, invalid("Name a text file.", "read %s: %w", file, err)
	}
	return s, nil
}

// suggest names the flag nearest to a wrong one.
func suggest(wrong string, known map[string]bool, spell func(string) string) string {
	best, distance := "", 4
	for flag := range known {
		if d := editDistance(wrong, flag); d < distance || d == distance && flag < best {
			best, distance = flag, d
		}
	}
	if best == "" {
		return "lakesweep COMMAND --help lists the flags."
	}
	return "Did you mean " + spell(best) + "?"
}

// editDistance is Levenshtein's.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// checkUnsafe checks that each override names one of the tables as they stand
// on the command line.
//
// Errors: Invalid.
func checkUnsafe(flag string, named, tables []string) error {
	for _, n := range named {
		if !slices.Contains(tables, n) {
			return invalid("Write the table exactly as the command names it, or leave the flag out.",
				"--%s names %q, which is no table of this command", flag, n)
		}
	}
	return nil
}

// cause is the parse error within what pflag makes of it.
func cause(err error) error {
	if inner := errors.Unwrap(err); inner != nil {
		return inner
	}
	return err
}
