package settings

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lakesweep/lakesweep/internal/cli/internal/value"
	"github.com/lakesweep/lakesweep/lake"
)

const envPrefix = "LAKESWEEP_"

// layer maps a flag's name to the values that a lower layer gives it.
type layer map[string][]string

// Fill fills the flags of cmd that the command line left alone from the
// environment, then those still left from the file that the flag --settings
// names. A name that is no flag of any command is an error: a misspelt
// LAKESWEEP_KEEP_VERSION must not go unseen. A flag of other commands is not.
//
// Errors: Invalid.
func Fill(cmd *cobra.Command, env []string) error {
	known := knownFlags(cmd.Root())
	variables, err := readEnv(env, known)
	if err != nil {
		return err
	}
	if err := variables.fill(cmd.Flags(), "the environment", EnvName); err != nil {
		return err
	}
	name := cmd.Flags().Lookup("settings").Value.String()
	if name == "" {
		return nil
	}
	file, err := readFile(name, known)
	if err != nil {
		return err
	}
	return file.fill(cmd.Flags(), name, func(flag string) string { return flag })
}

// fill sets the flags in fs that nothing has set yet.
func (s layer) fill(fs *pflag.FlagSet, from string, spell func(string) string) error {
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

// EnvName is the variable that sets a flag.
func EnvName(flag string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// readEnv collects the variables that are flags. Several values of a flag
// stand on lines of their own.
func readEnv(env []string, known map[string]bool) (layer, error) {
	s := layer{}
	for _, entry := range env {
		name, v, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, envPrefix) || notOurs(name) {
			continue
		}
		flag := strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(name, envPrefix), "_", "-"))
		many, ok := known[flag]
		if !ok {
			return nil, invalid(suggest(flag, known, EnvName), "the environment variable %s is no flag of lakesweep", name)
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

// readFile reads a settings file: lines "flag = value", '#' comments and
// empty lines. A value is what follows, as it stands; a flag that can be given
// several times may have several lines.
func readFile(file string, known map[string]bool) (layer, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, invalid("Name a file that can be read.", "--settings: %w", err)
	}
	defer f.Close() // only read
	return parse(f, file, known)
}

func parse(f io.Reader, file string, known map[string]bool) (layer, error) {
	s := layer{}
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

// cause is the parse error within what pflag makes of it.
func cause(err error) error {
	if inner := errors.Unwrap(err); inner != nil {
		return inner
	}
	return err
}

func invalid(hint, format string, args ...any) error {
	return &lake.Error{Kind: lake.Invalid, Err: fmt.Errorf(format, args...), Hint: hint}
}
