package s3_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/google/go-cmp/cmp"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
)

func versions(t *testing.T, s store.Store, req store.PageRequest) []store.Info {
	t.Helper()
	req.Versions = true
	var all []store.Info
	for {
		page, err := s.List(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, page.Entries...)
		if req.Token = page.Next; req.Token == "" {
			return all
		}
	}
}

// The answer is Amazon's, from the documentation of ListObjectVersions, with an
// encoded key and a second page.
func TestVersionsAreDecodedPageByPage(t *testing.T) {
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Query().Get("key-marker")+"|"+r.URL.Query().Get("version-id-marker"))
		next := `<IsTruncated>true</IsTruncated><NextKeyMarker>t%2Fa+b%2Bc</NextKeyMarker><NextVersionIdMarker>v2</NextVersionIdMarker>`
		body := `<Version><Key>t%2Fa+b%2Bc</Key><VersionId>v2</VersionId><IsLatest>false</IsLatest><LastModified>2009-10-12T17:50:30.000Z</LastModified><ETag>"e"</ETag><Size>434234</Size></Version>`
		if r.URL.Query().Get("version-id-marker") == "v2" {
			next = `<IsTruncated>false</IsTruncated>`
			body = `<DeleteMarker><Key>t%2Fa+b%2Bc</Key><VersionId>null</VersionId><IsLatest>true</IsLatest><LastModified>2009-11-12T17:50:30.000Z</LastModified></DeleteMarker>`
		}
		fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?><ListVersionsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>b</Name><EncodingType>url</EncodingType>%s%s</ListVersionsResult>`, next, body)
	}))
	defer server.Close()
	got := versions(t, open(t, options(server.URL), "s3://b/t"), store.PageRequest{Prefix: "a b+c"})
	want := []store.Info{
		{Name: "a b+c", Version: "v2", ETag: `"e"`, Size: 434234, Modified: time.Date(2009, 10, 12, 17, 50, 30, 0, time.UTC)},
		{Name: "a b+c", Version: "null", Modified: time.Date(2009, 11, 12, 17, 50, 30, 0, time.UTC)},
	}
	if diff := cmp.Diff(want, got) + cmp.Diff([]string{"|", "t/a b+c|v2"}, asked); diff != "" {
		t.Error(diff)
	}
}

// TestVersionsAreSpelledAsTheServerMeansThem asks servers of three kinds for
// keys that read otherwise if decoded.
func TestVersionsAreSpelledAsTheServerMeansThem(t *testing.T) {
	keys := []string{"t/p=a%20b/x", "t/p=a b/x", "t/p=a+b/x"}
	for kind, c := range map[string]struct {
		says, encodes bool
		requests      int
	}{
		"says so":          {true, true, 2},
		"ignores the wish": {false, false, 4},
		"is silent":        {false, true, 4},
	} {
		t.Run(kind, func(t *testing.T) {
			requests := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				requests++
				encodes := c.encodes && r.URL.Query().Get("encoding-type") == "url"
				spell := func(key string) string {
					if encodes {
						key = url.QueryEscape(key)
					}
					return key
				}
				page, next := keys[:2], "<IsTruncated>true</IsTruncated><NextKeyMarker>"+spell(keys[1])+"</NextKeyMarker><NextVersionIdMarker>v</NextVersionIdMarker>"
				if marker := r.URL.Query().Get("key-marker"); marker != "" {
					if marker != keys[1] {
						t.Errorf("asked to go on after %q", marker)
					}
					page, next = keys[2:], ""
				}
				fmt.Fprint(w, `<ListVersionsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>b</Name>`, next)
				if c.says && encodes {
					fmt.Fprint(w, `<EncodingType>url</EncodingType>`)
				}
				for _, key := range page {
					fmt.Fprintf(w, `<Version><Key>%s</Key><VersionId>v</VersionId><LastModified>2009-10-12T17:50:30.000Z</LastModified><ETag>"e"</ETag><Size>1</Size></Version>`, spell(key))
				}
				fmt.Fprint(w, `</ListVersionsResult>`)
			}))
			defer server.Close()
			var got []string
			for _, v := range versions(t, open(t, options(server.URL), "s3://b/t"), store.PageRequest{}) {
				got = append(got, "t/"+v.Name)
			}
			if diff := cmp.Diff(keys, got); diff != "" || requests != c.requests {
				t.Errorf("%d requests, want %d\n%s", requests, c.requests, diff)
			}
		})
	}
}

func TestVersionsOnAServer(t *testing.T) {
	endpoints := strings.Fields(os.Getenv("LAKESWEEP_TEST_S3"))
	if len(endpoints) == 0 {
		t.Skip("LAKESWEEP_TEST_S3 names no server")
	}
	for _, endpoint := range endpoints {
		t.Run(endpoint, func(t *testing.T) {
			endpoint, _ := strings.CutSuffix(endpoint, "#posix")
			opt := options(endpoint)
			admin := awss3.New(awss3.Options{Region: "us-east-1", BaseEndpoint: &endpoint, UsePathStyle: true, Credentials: opt.Credentials})
			bucket := fmt.Sprintf("versions-%d", os.Getpid())
			if _, err := admin.CreateBucket(t.Context(), &awss3.CreateBucketInput{Bucket: &bucket}); err != nil {
				t.Fatal(err)
			}
			if _, err := admin.PutBucketVersioning(t.Context(), &awss3.PutBucketVersioningInput{Bucket: &bucket,
				VersioningConfiguration: &types.VersioningConfiguration{Status: types.BucketVersioningStatusEnabled}}); err != nil {
				t.Fatal(err)
			}
			s := open(t, opt, "s3://"+bucket+"/t")
			for _, name := range []string{"p=1/ä b+%.x", "p=1/ä b+%.x", "p=1/other"} {
				if _, err := s.Replace(t.Context(), name, []byte(name), ""); err != nil {
					t.Fatal(err)
				}
			}
			remove := func(targets ...store.Target) {
				t.Helper()
				outcomes, err := s.Delete(t.Context(), targets)
				if err != nil {
					t.Fatal(err)
				}
				for _, o := range outcomes {
					if o.Err != nil {
						t.Fatal(o.Err)
					}
				}
			}
			remove(store.Target{Name: "p=1/ä b+%.x"})
			all := versions(t, s, store.PageRequest{Prefix: "p=1/ä b+%.x", Limit: 2})
			if len(all) != 3 {
				t.Fatalf("%+v", all)
			}
			var targets []store.Target
			for _, v := range all {
				if v.Name != "p=1/ä b+%.x" || v.Version == "" {
					t.Errorf("%+v", v)
				}
				targets = append(targets, store.Target{Name: v.Name, Version: v.Version})
			}
			remove(targets...)
			if all := versions(t, s, store.PageRequest{}); len(all) != 1 || all[0].Name != "p=1/other" {
				t.Errorf("left: %+v", all)
			}
		})
	}
}

func TestObjectLockOnAServer(t *testing.T) {
	endpoints := strings.Fields(os.Getenv("LAKESWEEP_TEST_S3"))
	if len(endpoints) == 0 {
		t.Skip("LAKESWEEP_TEST_S3 names no server")
	}
	for _, endpoint := range endpoints {
		t.Run(endpoint, func(t *testing.T) {
			endpoint, _ := strings.CutSuffix(endpoint, "#posix")
			opt := options(endpoint)
			admin := awss3.New(awss3.Options{Region: "us-east-1", BaseEndpoint: &endpoint, UsePathStyle: true, Credentials: opt.Credentials})
			bucket := fmt.Sprintf("lock-%d", os.Getpid())
			if _, err := admin.CreateBucket(t.Context(), &awss3.CreateBucketInput{Bucket: &bucket, ObjectLockEnabledForBucket: aws.Bool(true)}); err != nil {
				t.Fatal(err)
			}
			s := open(t, opt, "s3://"+bucket+"/t")
			for _, name := range []string{"held", "free"} {
				if err := s.PutIfAbsent(t.Context(), name, []byte(name)); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := admin.PutObjectLegalHold(t.Context(), &awss3.PutObjectLegalHoldInput{Bucket: &bucket, Key: aws.String("t/held"),
				LegalHold: &types.ObjectLockLegalHold{Status: types.ObjectLockLegalHoldStatusOn}}); err != nil {
				t.Fatal(err)
			}
			var targets []store.Target
			for _, v := range versions(t, s, store.PageRequest{Versions: true}) {
				targets = append(targets, store.Target{Name: v.Name, Version: v.Version})
			}
			if len(targets) != 2 {
				t.Fatalf("%+v", targets)
			}
			outcomes, err := s.Delete(t.Context(), targets)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range outcomes {
				switch {
				case o.Target.Name == "free" && o.Err != nil:
					t.Error(o.Err)
				case o.Target.Name == "held" && (!errors.Is(o.Err, fs.ErrPermission) || store.Retryable(o.Err) || !strings.Contains(lake.HintOf(o.Err), "Object Lock")):
					t.Errorf("%v, hint %q", o.Err, lake.HintOf(o.Err))
				}
			}
		})
	}
}
