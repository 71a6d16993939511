package s3_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/s3"
	"github.com/lakesweep/lakesweep/store/s3/s3test"
	"github.com/lakesweep/lakesweep/store/storetest"
)

func options(endpoint string) s3.Options {
	return s3.Options{Endpoint: endpoint, Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("test", "testtest", "")}
}

func open(t *testing.T, opt s3.Options, place string) store.Store {
	t.Helper()
	root, err := lake.ParsePlace(place)
	if err != nil {
		t.Fatal(err)
	}
	s, err := s3.New(opt).Open(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store {
		opt := options(s3test.New(t).URL)
		opt.DeleteMatch = "on"
		return open(t, opt, "s3://bucket/my dir#1%2Bx/é")
	}, storetest.Options{})
}

func TestStoreOfAWholeBucket(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store { return open(t, options(s3test.New(t).URL), "s3://bucket.with.dots") }, storetest.Options{Slow: true})
}

func TestStoreWithoutBulkDelete(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store {
		server := s3test.New(t)
		server.NoBulkDelete = true
		return open(t, options(server.URL), "s3://bucket/t")
	}, storetest.Options{Slow: true})
}

// TestStoreOnAServer runs the suite against the servers that LAKESWEEP_TEST_S3
// names; test/servers.sh starts some.
func TestStoreOnAServer(t *testing.T) {
	endpoints := strings.Fields(os.Getenv("LAKESWEEP_TEST_S3"))
	if len(endpoints) == 0 {
		t.Skip("LAKESWEEP_TEST_S3 names no server")
	}
	for _, endpoint := range endpoints {
		t.Run(endpoint, func(t *testing.T) {
			endpoint, posix := strings.CutSuffix(endpoint, "#posix")
			opt := options(endpoint)
			admin := awss3.New(awss3.Options{Region: "us-east-1", BaseEndpoint: &endpoint, UsePathStyle: true, Credentials: opt.Credentials})
			n := 0
			storetest.Run(t, func(t *testing.T) store.Store {
				n++
				bucket := fmt.Sprintf("suite-%d-%d", os.Getpid(), n)
				if _, err := admin.CreateBucket(t.Context(), &awss3.CreateBucketInput{Bucket: &bucket}); err != nil {
					t.Fatal(err)
				}
				return open(t, opt, "s3://"+bucket+"/a b/t")
			}, storetest.Options{Slow: true, NoSlashNames: posix, PlainNames: true})
		})
	}
}

func fill(s *s3test.Server, n int) {
	for i := range n {
		s.Bucket("b").PutSized(fmt.Sprintf("t/f%04d", i), 7, time.Time{})
	}
}

func list(t *testing.T, s store.Reader, req store.PageRequest) (names []string, err error) {
	t.Helper()
	for {
		page, err := s.List(t.Context(), req)
		if err != nil {
			return names, err
		}
		for _, e := range page.Entries {
			names = append(names, e.Listed())
		}
		if page.Next == "" {
			return names, nil
		}
		req.Token, req.After = page.Next, ""
	}
}

func TestFullPages(t *testing.T) {
	for _, n := range []int{999, 1000, 1001, 2500} {
		server := s3test.New(t)
		fill(server, n)
		names, err := list(t, open(t, options(server.URL), "s3://b/t"), store.PageRequest{})
		if err != nil || len(names) != n {
			t.Errorf("%d objects: %d, %v", n, len(names), err)
		}
		if want := int64((n + 999) / 1000); server.Requests.Load() != want {
			t.Errorf("%d objects: %d requests", n, server.Requests.Load())
		}
	}
}

func TestBadAnswersAreErrorsOfTheRightKind(t *testing.T) {
	for what, c := range map[string]struct {
		fault s3test.Fault
		want  error
		kind  lake.Kind
	}{
		"slow down":          {s3test.Fault{Status: 503, Code: "SlowDown"}, store.ErrThrottled, lake.Transient},
		"too many requests":  {s3test.Fault{Status: 429, Code: "TooManyRequests"}, store.ErrThrottled, lake.Transient},
		"internal error":     {s3test.Fault{Status: 500, Code: "InternalError"}, nil, lake.Transient},
		"denied":             {s3test.Fault{Status: 403, Code: "AccessDenied"}, fs.ErrPermission, lake.Denied},
		"no bucket":          {s3test.Fault{Status: 404, Code: "NoSuchBucket"}, nil, lake.NotTable},
		"another region":     {s3test.Fault{Status: 301, Code: "PermanentRedirect"}, nil, lake.Invalid},
		"a body cut clean":   {s3test.Fault{CutAfter: 900}, store.ErrTruncated, lake.Transient},
		"a wrong key count":  {s3test.Fault{WrongCount: true}, store.ErrTruncated, lake.Transient},
		"a lost connection":  {s3test.Fault{Lost: true}, nil, lake.Transient},
		"no end of the body": {s3test.Fault{CutAfter: 1}, store.ErrTruncated, lake.Transient},
	} {
		server := s3test.New(t)
		fill(server, 10)
		server.Fault = func(*http.Request) s3test.Fault { return c.fault }
		_, err := list(t, open(t, options(server.URL), "s3://b/t"), store.PageRequest{})
		if err == nil || c.want != nil && !errors.Is(err, c.want) || lake.KindOf(err) != c.kind {
			t.Errorf("%s: %v (%v)", what, err, lake.KindOf(err))
		}
		if errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s looks like a missing object: %v", what, err)
		}
	}
}

func TestRetryHealsPages(t *testing.T) {
	server := s3test.New(t)
	fill(server, 2500)
	var n atomic.Int64
	faults := []s3test.Fault{{Status: 503, Code: "SlowDown"}, {CutAfter: 5000}, {}, {Status: 500, Code: "InternalError"}, {Lost: true}, {WrongCount: true}}
	server.Fault = func(*http.Request) s3test.Fault { return faults[int(n.Add(1)-1)%len(faults)] }
	s := store.Retry(open(t, options(server.URL), "s3://b/t"), store.RetryOptions{Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }})
	names, err := list(t, s, store.PageRequest{})
	if err != nil || len(names) != 2500 {
		t.Fatal(len(names), err)
	}
	for i, name := range names {
		if name != fmt.Sprintf("f%04d", i) {
			t.Fatalf("%d is %s", i, name)
		}
	}
}

func TestReadsGoOnWhereTheyBroke(t *testing.T) {
	server := s3test.New(t)
	data := strings.Repeat("0123456789", 10000)
	server.Bucket("b").Put("t/f", []byte(data), time.Time{})
	var n atomic.Int64
	server.Fault = func(*http.Request) s3test.Fault {
		if n.Add(1) < 4 {
			return s3test.Fault{CutAfter: 30000}
		}
		return s3test.Fault{}
	}
	noPause := store.RetryOptions{Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }}
	s := store.Retry(open(t, options(server.URL), "s3://b/t"), noPause)
	r, err := s.Open(t.Context(), "f", 5, -1)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(r)
	if err = errors.Join(err, r.Close()); err != nil || string(got) != data[5:] {
		t.Fatal(len(got), err)
	}
	n.Store(0)
	r, err = s.Open(t.Context(), "f", 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(r, make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	server.Bucket("b").Put("t/f", []byte(strings.Repeat("x", len(data))), time.Time{})
	if _, err := io.ReadAll(r); !errors.Is(err, store.ErrChanged) {
		t.Fatalf("two objects were read as one: %v", err)
	}
}

func TestBulkDeleteTellsEachKey(t *testing.T) {
	server := s3test.New(t)
	fill(server, 100)
	codes := map[string]string{"t/f0003": "AccessDenied", "t/f0005": "SlowDown", "t/f0007": "InternalError"}
	server.KeyError = func(key string) string { return codes[key] }
	s := open(t, options(server.URL), "s3://b/t")
	var targets []store.Target
	for i := range 100 {
		targets = append(targets, store.Target{Name: fmt.Sprintf("f%04d", i)})
	}
	targets = append(targets, targets[9]) // named twice
	outcomes, err := s.Delete(t.Context(), targets)
	if err != nil || len(outcomes) != 101 {
		t.Fatal(len(outcomes), err)
	}
	for i, o := range outcomes {
		switch i {
		case 3:
			if !errors.Is(o.Err, fs.ErrPermission) || lake.KindOf(o.Err) != lake.Denied {
				t.Error(o)
			}
		case 5:
			if !errors.Is(o.Err, store.ErrThrottled) {
				t.Error(o)
			}
		case 7:
			if lake.KindOf(o.Err) != lake.Transient {
				t.Error(o)
			}
		default:
			if o.Err != nil || o.Target != targets[i] {
				t.Error(o)
			}
		}
	}
	if left := server.Bucket("b").Names(); len(left) != 3 {
		t.Errorf("left: %q", left)
	}
}

func TestObjectLockIsReportedAndNotRepeated(t *testing.T) {
	server := s3test.New(t)
	fill(server, 3)
	server.KeyError = func(key string) string {
		if key == "t/f0001" {
			return "AccessDenied: Access Denied because object protected by object lock."
		}
		return ""
	}
	s := store.Retry(open(t, options(server.URL), "s3://b/t"), store.RetryOptions{})
	outcomes, err := s.Delete(t.Context(), []store.Target{{Name: "f0000"}, {Name: "f0001"}, {Name: "f0002"}})
	if err != nil || outcomes[0].Err != nil || outcomes[2].Err != nil {
		t.Fatal(outcomes, err)
	}
	if err := outcomes[1].Err; !errors.Is(err, fs.ErrPermission) || lake.KindOf(err) != lake.Denied || !strings.Contains(lake.HintOf(err), "Object Lock") {
		t.Errorf("%v, hint %q", err, lake.HintOf(err))
	}
	if n := server.Requests.Load(); n != 1 {
		t.Errorf("%d requests", n)
	}
}

func TestBulkDeleteWithoutAnAnswerIsNoDelete(t *testing.T) {
	server := s3test.New(t)
	fill(server, 3)
	server.Fault = func(*http.Request) s3test.Fault {
		return s3test.Fault{CutAfter: len(`<?xml version="1.0" encoding="UTF-8"?>` + "\n")}
	}
	outcomes, err := open(t, options(server.URL), "s3://b/t").Delete(t.Context(), []store.Target{{Name: "f0000"}})
	if err == nil {
		err = outcomes[0].Err
	}
	if !store.Retryable(err) {
		t.Error(err)
	}
}

func TestBulkDeleteByMD5(t *testing.T) {
	server := s3test.New(t)
	fill(server, 2)
	server.WantMD5 = true
	opt := options(server.URL)
	_, err := open(t, opt, "s3://b/t").Delete(t.Context(), []store.Target{{Name: "f0000"}})
	if err == nil || !strings.Contains(lake.HintOf(err), "CONTENT_MD5") {
		t.Errorf("%v, hint %q", err, lake.HintOf(err))
	}
	opt.ContentMD5 = true
	outcomes, err := open(t, opt, "s3://b/t").Delete(t.Context(), []store.Target{{Name: "f0000"}})
	if err != nil || outcomes[0].Err != nil || len(server.Bucket("b").Names()) != 1 {
		t.Error(outcomes, err)
	}
}

func TestConditionsHoldAgainstAServerThatIgnoresThem(t *testing.T) {
	server := s3test.New(t)
	server.IgnoreConditions = true
	s := open(t, options(server.URL), "s3://b/t")
	if s.Traits().IfMatch {
		t.Error("relies on ETags away from AWS")
	}
	old, err := s.Replace(t.Context(), "f", []byte("1"), "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Replace(t.Context(), "f", []byte("2"), old); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Replace(t.Context(), "f", []byte("3"), old); !errors.Is(err, store.ErrChanged) {
		t.Error(err)
	}
	if err := s.PutIfAbsent(t.Context(), "f", nil); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	if err := s.Remove(t.Context(), "f", old); !errors.Is(err, store.ErrChanged) {
		t.Error(err)
	}
}

func TestAServerThatIgnoresThePrefixIsRefused(t *testing.T) {
	server := s3test.New(t)
	server.Bucket("b").Put("other/f", nil, time.Time{})
	server.Fault = func(r *http.Request) s3test.Fault {
		r.URL.RawQuery = strings.Replace(r.URL.RawQuery, "prefix=t%2F", "prefix=", 1)
		return s3test.Fault{}
	}
	if names, err := list(t, open(t, options(server.URL), "s3://b/t"), store.PageRequest{}); err == nil {
		t.Errorf("listed %q", names)
	}
}

func TestTheMarkerOfThePlaceIsNoEntry(t *testing.T) {
	server := s3test.New(t)
	for _, key := range []string{"t/", "t/p=1/", "t/p=1/f", "t-other/f"} {
		server.Bucket("b").Put(key, nil, time.Time{})
	}
	names, err := list(t, open(t, options(server.URL), "s3://b/t"), store.PageRequest{})
	if err != nil || fmt.Sprint(names) != "[p=1/ p=1/f]" {
		t.Error(names, err)
	}
}

func TestStatus(t *testing.T) {
	server := s3test.New(t)
	at := time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)
	server.Now = func() time.Time { return at }
	for _, denied := range []bool{false, true} {
		server.NoVersioningCall = denied
		status, err := open(t, options(server.URL), "s3://b/t").Status(t.Context())
		if err != nil || !status.Now.Equal(at) || status.Versioned || (status.Note != "") != denied {
			t.Errorf("denied %v: %+v, %v", denied, status, err)
		}
	}
}

func TestSettingsFromTheEnvironment(t *testing.T) {
	env := map[string]string{"LAKESWEEP_S3_ENDPOINT": "http://x", "LAKESWEEP_S3_ANONYMOUS": "true", "LAKESWEEP_S3_ADDRESSING": "virtual", "OTHER": "x"}
	lookup := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	o, err := s3.FromEnv(lookup)
	if err != nil || o.Endpoint != "http://x" || !o.Anonymous || o.Addressing != "virtual" {
		t.Errorf("%+v, %v", o, err)
	}
	for name, v := range map[string]string{"LAKESWEEP_S3_ANONYMOUS": "perhaps", "LAKESWEEP_S3_ADDRESSING": "odd"} {
		env = map[string]string{name: v}
		if _, err := s3.FromEnv(lookup); lake.KindOf(err) != lake.Invalid || !strings.Contains(err.Error(), name) {
			t.Errorf("%s=%s: %v", name, v, err)
		}
	}
}
