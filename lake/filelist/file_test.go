package filelist_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/lakesweep/lakesweep/lake/filelist"
)

func TestReplace(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.WriteFile(at("old"), []byte("old"), 0o600), os.Mkdir(at("folder"), 0o755),
		os.Symlink("old", at("link")), os.Symlink("folder", at("linked folder")), os.Symlink("/dev/null", at("device"))); err != nil {
		t.Fatal(err)
	}
	failed := errors.New("as the test wishes")
	for _, c := range []struct {
		name string
		fill error
		is   string // what stands there afterwards; "" for a refusal
	}{
		{"new", nil, "text"}, {"old", failed, "old"}, {"old", nil, "text"}, {"link", nil, "text"},
		{"folder", nil, ""}, {"linked folder", nil, ""}, {"device", nil, ""}, {"absent/new", nil, ""},
	} {
		err := filelist.Replace(at(c.name), func(w io.Writer) error {
			if _, err := io.WriteString(w, "text"); err != nil {
				return err
			}
			return c.fill
		})
		if want := c.fill != nil || c.is == ""; (err != nil) != want {
			t.Errorf("%s: %v", c.name, err)
		}
		if got, _ := os.ReadFile(at(c.name)); c.is != "" && string(got) != c.is {
			t.Errorf("%s holds %q, want %q", c.name, got, c.is)
		}
	}
	if info, err := os.Lstat(at("link")); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", info, err)
	}
	if left, err := filepath.Glob(at(".lakesweep-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}
