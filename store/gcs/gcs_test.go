package gcs_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/gcs"
	"github.com/lakesweep/lakesweep/store/gcs/gcstest"
	"github.com/lakesweep/lakesweep/store/storetest"
)

func open(t *testing.T, opt gcs.Options, place string) store.Store {
	t.Helper()
	root, err := lake.ParsePlace(place)
	if err != nil {
		t.Fatal(err)
	}
	s, err := gcs.New(opt).Open(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// genuine reaches server by the name of Google's own.
func genuine(server *gcstest.Server) gcs.Options {
	return gcs.Options{Client: &http.Client{Transport: redirect(server.URL)}}
}

// redirect sends all requests to another server.
type redirect string

func (r redirect) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.URL.Scheme, req.URL.Host = "http", strings.TrimPrefix(string(r), "http://")
	return http.DefaultTransport.RoundTrip(req)
}

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store {
		return open(t, genuine(gcstest.New(t)), "gs://bucket/my dir#1%2Bx/é")
	}, storetest.Options{PlainNames: true})
}

func TestStoreOfAWholeBucketWithoutBatches(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store {
		server := gcstest.New(t)
		server.NoBatch = true
		return open(t, gcs.Options{Endpoint: server.URL}, "gs://bucket")
	}, storetest.Options{PlainNames: true, Slow: true})
}

// TestStoreOnAServer runs the suite against the server that LAKESWEEP_TEST_GCS
// names; test/servers.sh starts one.
func TestStoreOnAServer(t *testing.T) {
	endpoint := os.Getenv("LAKESWEEP_TEST_GCS")
	if endpoint == "" {
		t.Skip("LAKESWEEP_TEST_GCS names no server")
	}
	n := 0
	storetest.Run(t, func(t *testing.T) store.Store {
		n++
		bucket := fmt.Sprintf("suite-%d-%d", os.Getpid(), n)
		resp, err := http.Post(endpoint+"/storage/v1/b?project=test", "application/json", strings.NewReader(`{"name":"`+bucket+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		if resp.Body.Close(); resp.StatusCode != http.StatusOK {
			t.Fatal(resp.Status)
		}
		return open(t, gcs.Options{Endpoint: endpoint}, "gs://"+bucket+"/a b/t")
	}, storetest.Options{Slow: true, PlainNames: true, LongDirPages: true})
}

func TestErrorsAreOfTheRightKind(t *testing.T) {
	for what, c := range map[string]struct {
		status          int
		reason, message string
		want            error
		kind            lake.Kind
	}{
		"too many requests": {429, "rateLimitExceeded", "slow down", store.ErrThrottled, lake.Transient},
		"rate as a refusal": {403, "userRateLimitExceeded", "slow down", store.ErrThrottled, lake.Transient},
		"unavailable":       {503, "backendError", "", store.ErrThrottled, lake.Transient},
		"internal error":    {500, "internalError", "", nil, lake.Transient},
		"denied":            {403, "forbidden", "x does not have storage.objects.list access", fs.ErrPermission, lake.Denied},
		"no token":          {401, "authError", "Invalid Credentials", fs.ErrPermission, lake.Denied},
		"no bucket":         {404, "notFound", "The specified bucket does not exist.", nil, lake.NotTable},
	} {
		server := gcstest.New(t)
		server.Fault = func(*http.Request) (int, string, string) { return c.status, c.reason, c.message }
		s := open(t, genuine(server), "gs://b/t")
		_, err := s.List(t.Context(), store.PageRequest{})
		if err == nil || c.want != nil && !errors.Is(err, c.want) || lake.KindOf(err) != c.kind || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v (%v)", what, err, lake.KindOf(err))
		}
		if n := server.Requests.Load(); n != 1 {
			t.Errorf("%s: %d requests; only store.Retry repeats", what, n)
		}
	}
}

func targets(names ...string) (all []store.Target) {
	for _, name := range names {
		all = append(all, store.Target{Name: name})
	}
	return all
}

func TestABatchTellsEachObject(t *testing.T) {
	server := gcstest.New(t)
	for _, name := range []string{"held", "retained", "slow", "free"} {
		server.Put("b", "t/"+name, gcstest.Object{Held: name == "held"})
	}
	server.Fault = func(r *http.Request) (int, string, string) {
		switch {
		case strings.HasSuffix(r.URL.Path, "retained"):
			return 403, "retentionPolicyNotMet", "Object 'b/t/retained' is subject to bucket's retention policy and cannot be deleted or overwritten until 2030"
		case strings.HasSuffix(r.URL.Path, "slow"):
			return 429, "rateLimitExceeded", ""
		}
		return 0, "", ""
	}
	outcomes, err := open(t, genuine(server), "gs://b/t").Delete(t.Context(), targets("held", "gone", "retained", "slow", "free", "bad\xff"))
	if err != nil || server.Requests.Load() != 1 {
		t.Fatal(err, server.Requests.Load())
	}
	for i, want := range []error{fs.ErrPermission, fs.ErrNotExist, fs.ErrPermission, store.ErrThrottled, nil, fs.ErrNotExist} {
		if got := outcomes[i].Err; !errors.Is(got, want) {
			t.Errorf("%s: %v", outcomes[i].Target.Name, got)
		}
	}
	for i, want := range map[int]string{0: "hold", 2: "retention"} {
		if err := outcomes[i].Err; lake.KindOf(err) != lake.Denied || store.Retryable(err) || !strings.Contains(lake.HintOf(err), want) {
			t.Errorf("%v, hint %q", err, lake.HintOf(err))
		}
	}
	if left := fmt.Sprint(server.Names("b")); left != "[t/held t/retained t/slow]" {
		t.Error(left)
	}
}

func TestAnObjectWithoutAnAnswerIsNotDeleted(t *testing.T) {
	server := gcstest.New(t)
	server.Cut = true
	outcomes, err := open(t, genuine(server), "gs://b/t").Delete(t.Context(), targets("1", "2", "3", "4"))
	if err != nil {
		t.Fatal(err)
	}
	for i, o := range outcomes {
		if cut := errors.Is(o.Err, store.ErrTruncated); cut != (i > 1) {
			t.Errorf("%s: %v", o.Target.Name, o.Err)
		}
	}
}

func TestConditionsHoldAgainstAServerThatIgnoresThem(t *testing.T) {
	server := gcstest.New(t)
	s := open(t, gcs.Options{Endpoint: server.URL}, "gs://b/t")
	if s.Traits().IfMatch || s.Traits().PutIfAbsent {
		t.Error("relies on a server that isn't Google's")
	}
	old, err := s.Replace(t.Context(), "f", []byte("1"), "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Replace(t.Context(), "f", []byte("2"), old); err != nil {
		t.Fatal(err)
	}
	if err := s.Remove(t.Context(), "f", old); !errors.Is(err, store.ErrChanged) {
		t.Error(err)
	}
}

func TestTheYoungerTimeCounts(t *testing.T) {
	server := gcstest.New(t)
	early, late := time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC), time.Date(2026, 2, 2, 3, 4, 5, 6e6, time.UTC)
	server.Put("b", "t/edited", gcstest.Object{Created: early, Updated: late})
	server.Put("b", "t/replicated", gcstest.Object{Created: late, Updated: early})
	page, err := open(t, genuine(server), "gs://b/t").List(t.Context(), store.PageRequest{})
	if err != nil || len(page.Entries) != 2 {
		t.Fatal(page, err)
	}
	for _, e := range page.Entries {
		if !e.Modified.Equal(late) {
			t.Errorf("%+v", e)
		}
	}
}

func TestStatusTellsWhatHoldsDeletedObjectsBack(t *testing.T) {
	server := gcstest.New(t)
	at := time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)
	server.Now = func() time.Time { return at }
	server.Bucket = `{"versioning":{"enabled":true},"softDeletePolicy":{"retentionDurationSeconds":"604800"},"retentionPolicy":{"retentionPeriod":"3600"}}`
	s := open(t, genuine(server), "gs://b/t")
	status, err := s.Status(t.Context())
	if err != nil || !status.Now.Equal(at) || !status.Versioned || status.SoftDelete != 7*24*time.Hour || !strings.Contains(status.Note, "1h0m0s") {
		t.Errorf("%+v, %v", status, err)
	}
	server.Fault = func(*http.Request) (int, string, string) { return 403, "forbidden", "no storage.buckets.get" }
	status, err = s.Status(t.Context())
	if err != nil || !status.Now.Equal(at) || status.Versioned || !strings.Contains(status.Note, "storage.buckets.get") {
		t.Errorf("%+v, %v", status, err)
	}
}

func TestAThrottledObjectIsRepeatedAlone(t *testing.T) {
	server := gcstest.New(t)
	n := 0
	server.Fault = func(r *http.Request) (int, string, string) {
		if strings.HasSuffix(r.URL.Path, "/2") {
			if n++; n == 1 {
				return 429, "rateLimitExceeded", ""
			}
		}
		return 0, "", ""
	}
	for i := range 4 {
		server.Put("b", fmt.Sprintf("t/%d", i), gcstest.Object{})
	}
	s := store.Retry(open(t, genuine(server), "gs://b/t"), store.RetryOptions{Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }})
	outcomes, err := s.Delete(t.Context(), targets("0", "1", "2", "3"))
	if err != nil || len(server.Names("b")) != 0 || server.Requests.Load() != 2 {
		t.Error(outcomes, err, server.Requests.Load())
	}
}

func TestSettingsFromTheEnvironment(t *testing.T) {
	env := map[string]string{"LAKESWEEP_GCS_USER_PROJECT": "p", "LAKESWEEP_GCS_ANONYMOUS": "true"}
	lookup := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	o, err := gcs.FromEnv(lookup)
	if err != nil || o.UserProject != "p" || !o.Anonymous {
		t.Errorf("%+v, %v", o, err)
	}
	for name, v := range map[string]string{"LAKESWEEP_GCS_ANONYMOUS": "perhaps", "LAKESWEEP_GCS_BATCH_DELETE": "odd"} {
		env = map[string]string{name: v}
		if _, err := gcs.FromEnv(lookup); lake.KindOf(err) != lake.Invalid || !strings.Contains(err.Error(), name) {
			t.Errorf("%s=%s: %v", name, v, err)
		}
	}
}
