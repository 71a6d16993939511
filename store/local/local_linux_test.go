package local_test

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store/local"
)

// A pipe isn't waited for, a circle of links isn't walked.
func TestOpenOddPlaces(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(syscall.Mkfifo(dir+"/pipe", 0o600), os.Symlink("loop", dir+"/loop"), os.WriteFile(dir+"/f", nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]lake.Kind{"pipe": lake.Invalid, "loop": lake.Invalid, "f": lake.Invalid} {
		_, err := local.Open(t.Context(), lake.Root{Scheme: "file", Path: strings.Trim(dir, "/") + "/" + name})
		if err == nil || lake.KindOf(err) != want || lake.HintOf(err) == "" {
			t.Errorf("%s: %v (%v)", name, err, lake.KindOf(err))
		}
	}
	if _, err := local.Open(t.Context(), lake.Root{Scheme: "file", Path: strings.Trim(dir, "/") + "/f/x"}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("below a file: %v", err)
	}
}

// No object has a name that is longer than names can be.
func TestNamesThatAreTooLongNameNothing(t *testing.T) {
	s := open(t, t.TempDir())
	for _, name := range []string{strings.Repeat("x", 5000), "a/" + strings.Repeat("y", 300)} {
		if _, err := s.Stat(t.Context(), name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%d bytes: %v", len(name), err)
		}
	}
}
