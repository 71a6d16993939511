package lex

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplit(t *testing.T) {
	cases := []struct {
		text string
		want string // kind letter and text, by spaces
	}{
		{"a>=1", "I:a O:>= N:1"},
		{"`a``b` <=> 'x'", "Q:a`b O:<=> S:x"},
		{"a||b -- rest", "I:a O:|| I:b"},
		{"/* a /* b */ c */ x", "I:x"},
		{"1a.123_", "I:1a O:. I:123_"},
		{"a.123E3_column", "I:a O:. I:123E3_column"},
		{"1.5 .5 5. 1e3 1E-3d 10L 10BD 1Y", "N:1.5 N:.5 N:5. N:1e3 N:1E-3d N:10L N:10BD N:1Y"},
		{"1.a", "N:1 O:. I:a"},
		{"1.5L", "N:1 O:. N:5L"},
		{`'a\'b' "c\"d"`, `S:a'b S:c"d`},
		{`'50\%' '\\%' r'\d'`, `S:50\% S:\% S:\d`},
		{`'\101\u00e9\U0001F600\q'`, "S:Aé😀q"},
		{"x<>y!=z", "I:x O:<> I:y O:!= I:z"},
		{"дата='а'", "I:дата O:= S:а"},
	}
	for _, c := range cases {
		tokens, err := Split(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		var got []string
		for _, tok := range tokens[:len(tokens)-1] {
			got = append(got, string("EIQSNO"[tok.Kind])+":"+tok.Text)
		}
		if d := cmp.Diff(c.want, strings.Join(got, " ")); d != "" {
			t.Errorf("%s: %s", c.text, d)
		}
	}
}

func TestSplitErrors(t *testing.T) {
	for text, pos := range map[string]int{"a = 'b": 4, "`x": 0, "a /* b": 2, "'it''s'": 3, "a = \xff": 4, "a = ‘x’": 4, "r'x": 0} {
		_, err := Split(text)
		if e, ok := err.(*Error); !ok || e.Pos != pos {
			t.Errorf("%q: got %v, want a fault at %d", text, err, pos)
		}
	}
}

func FuzzSplit(f *testing.F) {
	for _, s := range []string{"a = 'x\\u0041'", "1.5e3 || `q``q`", "/* /* */ */ -- \n r'x'", "'\\1'", ".5.5"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		tokens, err := Split(s)
		if err != nil {
			return
		}
		last := 0
		for _, tok := range tokens {
			if tok.Pos < last || tok.End < tok.Pos || tok.End > len(s) || tok.Kind != EOF && tok.End == tok.Pos {
				t.Fatalf("%q: token %+v after %d", s, tok, last)
			}
			last = tok.End
		}
	})
}
