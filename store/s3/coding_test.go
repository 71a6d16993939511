package s3

import (
	"encoding/xml"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
)

// TestKeysAreReadAsTheServerMeansThem lists from servers that encode keys when
// asked and say so, that don't, and that encode without saying so.
func TestKeysAreReadAsTheServerMeansThem(t *testing.T) {
	for name, keys := range map[string][]string{
		"hive":           {"p=1/a", "p=2/b"},
		"escaped":        {"p=50%25/f", "p=A%2FA/g"},
		"space and plus": {"a b", "a+b", "a%20b", "a%2Bb"},
		"malformed":      {"100%", "a%zz"},
		"nothing to see": {"a", "b/c"},
	} {
		for _, server := range []string{"says so", "ignores the wish", "is silent"} {
			want := slices.Clone(keys)
			slices.Sort(want)
			var requests atomic.Int64
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				requests.Add(1)
				asked := r.URL.Query().Get("encoding-type") == "url"
				fmt.Fprint(w, `<ListBucketResult>`)
				for _, k := range want {
					if asked && server != "ignores the wish" {
						k = strings.ReplaceAll(url.QueryEscape(k), "%2F", "/")
					}
					fmt.Fprint(w, "<Contents><Key>")
					if err := xml.EscapeText(w, []byte(k)); err != nil {
						t.Error(err)
					}
					fmt.Fprint(w, "</Key><LastModified>2026-01-02T03:04:05Z</LastModified><Size>1</Size></Contents>")
				}
				if asked && server == "says so" {
					fmt.Fprint(w, "<EncodingType>url</EncodingType>")
				}
				fmt.Fprint(w, "<IsTruncated>false</IsTruncated></ListBucketResult>")
			}))
			opener := New(Options{Endpoint: srv.URL, Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("k", "s", "")})
			s, err := opener.Open(t.Context(), lake.Root{Scheme: "s3", Authority: "bucket"})
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				page, err := s.List(t.Context(), store.PageRequest{})
				var got []string
				for _, e := range page.Entries {
					got = append(got, e.Listed())
				}
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("%s, the server %s: got %q, %v; want %q", name, server, got, err, want)
				}
			}
			if n := requests.Load(); n > 5 {
				t.Errorf("%s, the server %s: %d requests for 3 pages", name, server, n)
			}
			srv.Close()
		}
	}
}
