package main

import (
	"net/url"
	"strings"
	"testing"
)

func TestKeysAreEscapedAsTheStandardLibraryDoes(t *testing.T) {
	var all strings.Builder
	for c := range 256 {
		all.WriteByte(byte(c))
		all.WriteString("a/")
	}
	for _, k := range []string{"", "a", "p=1/part 1+2.parquet", "é/日", all.String()} {
		want := strings.ReplaceAll(url.QueryEscape(k), "%2F", "/")
		if got := string(appendEscaped([]byte("x"), k)); got != "x"+want {
			t.Errorf("%q: got %q, want %q", k, got[1:], want)
		}
	}
}
