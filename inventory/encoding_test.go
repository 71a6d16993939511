package inventory

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lakesweep/lakesweep/inventory/internal/value"
	"github.com/lakesweep/lakesweep/lake"
)

// Encoders as stores have them.
var encoders = map[string]func(string) string{
	"form":    s3Key,                                                                     // Amazon's
	"percent": func(k string) string { return strings.ReplaceAll(s3Key(k), "+", "%20") }, // all but a few
	"path":    func(k string) string { return strings.ReplaceAll(url.PathEscape(k), "%2F", "/") },
	"raw":     func(k string) string { return k },
}

func (s *shelf) encoded(os []object, encode func(string) string) string {
	a, b := halves(os)
	record := func(o object) []string {
		return []string{"b", encode(o.key), "v1", "True", "False", fmt.Sprint(o.size), o.iso(), "abc", "STANDARD"}
	}
	return s.s3Report("CSV", s3Schema, asCSV(',', records(a, record)...), gz(asCSV(',', records(b, record)...)))
}

// Names that S3 encoded are read as they were, and those of other stores too
// or not at all, wherever something in them tells how they are encoded.
func TestEncodingIsDetected(t *testing.T) {
	refused := 0
	rapid.Check(t, func(t *rapid.T) {
		os := anyObjects(t, "objects")
		name := rapid.SampledFrom([]string{"form", "percent", "path", "raw"}).Draw(t, "encoder")
		var seen value.Signs
		for _, o := range os {
			seen.Look([]byte(encoders[name](o.key)))
		}
		const telling = value.Bare | value.Malformed | value.Space
		s := newShelf()
		got, info, err := s.read(t.Context(), Options{Source: s.encoded(os, encoders[name])}, "s3")
		switch lenient := name == "path" || name == "raw"; {
		case lenient && seen&telling == 0 && seen != 0:
			return // as S3 would have written other names
		case err != nil && lenient && lake.KindOf(err) == lake.Invalid && strings.Contains(lake.HintOf(err), "encoding="):
			refused++
			if seen&value.Escape == 0 || seen&(value.Bare|value.Malformed) == 0 {
				t.Fatalf("%s: refused without need: %v", name, err)
			}
			return
		case err != nil:
			t.Fatal(name, err)
		}
		if diff := cmp.Diff(wanted(os, false), got); diff != "" && len(os)+len(got) > 0 {
			t.Fatalf("%s, read as %s: %s", name, info.Encoding, diff)
		}
	})
	if refused == 0 && !testing.Short() { // one of eight is
		t.Error("nothing was in doubt")
	}
}

// The beginnings of the files may tell less than all of them.
func TestEncodingIsCheckedToTheEnd(t *testing.T) {
	var os []object
	for i := range 3000 {
		os = append(os, object{key: fmt.Sprintf("t/%060d", i), ms: 1577836800000})
	}
	os = append(os, object{key: "t/a b", ms: 1577836800000})
	s := newShelf()
	source := s.encoded(os, encoders["percent"])
	_, _, err := s.read(t.Context(), Options{Source: source}, "s3")
	if lake.KindOf(err) != lake.Invalid || !strings.Contains(lake.HintOf(err), "encoding=") {
		t.Fatalf("%v (hint %q)", err, lake.HintOf(err))
	}
	got, _, err := s.read(t.Context(), Options{Source: source, Columns: map[string]string{"encoding": "percent"}}, "s3")
	if err != nil || len(got) != len(os) {
		t.Fatal(len(got), err)
	}
}
