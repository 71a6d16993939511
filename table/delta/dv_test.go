package delta

import (
	"strings"
	"testing"

	"github.com/lakesweep/lakesweep/table/delta/logline"
)

func TestZ85(t *testing.T) {
	// The vector of Delta PROTOCOL.md.
	p, ok, err := (&Table{}).dvPaths(&logline.DV{Storage: "u", Text: "ab^-aqEH.-t@S}K{vb[*k^", Offset: -1})
	if err != nil || !ok || p.Key != "ab/deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin" {
		t.Errorf("%+v %v %v", p, ok, err)
	}
	for _, s := range []string{"", "#####", "##########" + "##########", "00000000000000000 00", "0000000000000000000\x00"} {
		if _, err := decodeZ85(s); err == nil {
			t.Errorf("%q decodes", s)
		}
	}
	if _, err := decodeZ85("%nSc0%nSc0%nSc0%nSc0"); err != nil { // the greatest word, 2^32-1
		t.Error(err)
	}
}

func FuzzZ85(f *testing.F) {
	for _, s := range []string{"^-aqEH.-t@S}K{vb[*k^", "ab^-aqEH.-t@S}K{vb[*k^", "", "00000000000000000000", "%nSc1%nSc0%nSc0%nSc0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, ok, err := (&Table{}).dvPaths(&logline.DV{Storage: "u", Text: s, Offset: -1})
		if err != nil {
			return
		}
		if !ok || p.Outside || strings.HasPrefix(string(p.Key), "/") || !strings.HasSuffix(string(p.Key), ".bin") || strings.Contains("/"+string(p.Key), "/../") {
			t.Fatalf("%q gives %+v", s, p)
		}
	})
}

func FuzzWatermark(f *testing.F) {
	for _, s := range []string{"", "{}", `{"latestCommitVersionOutsideOfRetentionWindow":7}`, `{"latestCommitVersionOutsideOfRetentionWindow":-7,"lakesweepLastFullMillis":5}`, "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if w := parseWatermark([]byte(s)); w.Version != nil && *w.Version < 0 {
			t.Fatalf("%q: %d", s, *w.Version)
		}
	})
}
