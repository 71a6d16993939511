package azure_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/azure"
	"github.com/lakesweep/lakesweep/store/azure/azuretest"
	"github.com/lakesweep/lakesweep/store/storetest"
)

// emulatorKey is the key that the emulators' account has everywhere.
const emulatorKey = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="

func open(t *testing.T, opt azure.Options, place string) store.Store {
	t.Helper()
	root, err := lake.ParsePlace(place)
	if err != nil {
		t.Fatal(err)
	}
	s, err := azure.New(opt).Open(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestStoreOnAServer runs the suite against the account that LAKESWEEP_TEST_AZURE
// names; test/servers.sh starts one.
func TestStoreOnAServer(t *testing.T) {
	endpoint := os.Getenv("LAKESWEEP_TEST_AZURE")
	if endpoint == "" {
		t.Skip("LAKESWEEP_TEST_AZURE names no server")
	}
	n := 0
	storetest.Run(t, func(t *testing.T) store.Store {
		n++
		name := fmt.Sprintf("suite-%d-%d", os.Getpid(), n)
		key, err := container.NewSharedKeyCredential("devstoreaccount1", emulatorKey)
		if err != nil {
			t.Fatal(err)
		}
		c, err := container.NewClientWithSharedKeyCredential(endpoint+"/"+name, key, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Create(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		return open(t, azure.Options{Endpoint: endpoint, AccountKey: emulatorKey}, "az://"+name+"/a b/t")
	}, storetest.Options{Slow: true, PlainNames: true, NoBackslash: true})
}

func anonymous(server *azuretest.Server) azure.Options {
	return azure.Options{Endpoint: server.URL, Anonymous: true}
}

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store {
		server := azuretest.New(t)
		for _, name := range []string{"A", "B"} { // by which Open finds out about startFrom, and which sort before all others
			server.Put("c", "my dir#1%2Bx/é/"+name, azuretest.Blob{})
		}
		s := open(t, anonymous(server), "abfss://c@account.dfs.core.windows.net/my dir#1%2Bx/é")
		if tr := s.Traits(); !tr.StartAfter || !tr.Flat || tr.Directories {
			t.Fatalf("%+v", tr)
		}
		if outcomes, err := s.Delete(t.Context(), targets("A", "B")); err != nil || outcomes[0].Err != nil || outcomes[1].Err != nil {
			t.Fatal(outcomes, err)
		}
		return s
	}, storetest.Options{PlainNames: true})
}

func TestStoreWithoutStartFromAndBatches(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store {
		server := azuretest.New(t)
		server.NoStartFrom, server.NoBatch = true, true
		server.Put("c", "0", azuretest.Blob{})
		server.Put("c", "1", azuretest.Blob{})
		if tr := open(t, anonymous(server), "az://c").Traits(); tr.StartAfter || tr.Flat || tr.Directories {
			t.Fatalf("%+v", tr)
		}
		return open(t, anonymous(server), "az://c/t")
	}, storetest.Options{PlainNames: true, Slow: true})
}

func TestStoreOfAHierarchicalAccount(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store {
		server := azuretest.New(t)
		server.Hierarchical = true
		s := open(t, anonymous(server), "abfss://c/t")
		if tr := s.Traits(); tr.StartAfter || tr.Flat || !tr.Directories {
			t.Fatalf("%+v", tr)
		}
		return s
	}, storetest.Options{PlainNames: true, Slow: true})
}

func targets(names ...string) (all []store.Target) {
	for _, name := range names {
		all = append(all, store.Target{Name: name})
	}
	return all
}

func TestABatchTellsEachBlob(t *testing.T) {
	server := azuretest.New(t)
	codes := map[string]struct {
		status int
		code   string
		want   error
		kind   lake.Kind
		hint   string
	}{
		"busy":   {503, "ServerBusy", store.ErrThrottled, lake.Transient, ""},
		"held":   {409, "BlobImmutableDueToPolicy", fs.ErrPermission, lake.Denied, "immutability"},
		"leased": {412, "LeaseIdMissing", fs.ErrPermission, lake.Denied, "lease"},
		"snaps":  {409, "SnapshotsPresent", fs.ErrPermission, lake.Denied, "snapshots"},
		"denied": {403, "AuthorizationPermissionMismatch", fs.ErrPermission, lake.Denied, "permissions"},
		"odd":    {500, "InternalError", nil, lake.Transient, ""},
	}
	names := []string{"free", "gone"}
	server.Put("c", "t/free", azuretest.Blob{})
	for name := range codes {
		server.Put("c", "t/"+name, azuretest.Blob{})
		names = append(names, name)
	}
	server.Fault = func(r *http.Request) (int, string) {
		c := codes[r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]]
		return c.status, c.code
	}
	s := open(t, anonymous(server), "az://c/t")
	before := server.Requests.Load()
	outcomes, err := s.Delete(t.Context(), targets(names...))
	if err != nil || server.Requests.Load() != before+1 {
		t.Fatal(err, server.Requests.Load()-before)
	}
	for _, o := range outcomes {
		c, ok := codes[o.Target.Name]
		switch {
		case o.Target.Name == "free" && o.Err != nil, o.Target.Name == "gone" && !errors.Is(o.Err, fs.ErrNotExist):
			t.Errorf("%s: %v", o.Target.Name, o.Err)
		case ok && (o.Err == nil || c.want != nil && !errors.Is(o.Err, c.want) || lake.KindOf(o.Err) != c.kind || !strings.Contains(lake.HintOf(o.Err), c.hint)):
			t.Errorf("%s: %v (%v, %q)", o.Target.Name, o.Err, lake.KindOf(o.Err), lake.HintOf(o.Err))
		}
	}
	if left := server.Names("c"); len(left) != len(codes) {
		t.Errorf("left: %q", left)
	}
}

func TestErrorsAreOfTheRightKind(t *testing.T) {
	for what, c := range map[string]struct {
		status int
		code   string
		want   error
		kind   lake.Kind
	}{
		"busy":          {503, "ServerBusy", store.ErrThrottled, lake.Transient},
		"time-out":      {500, "OperationTimedOut", nil, lake.Transient},
		"denied":        {403, "AuthorizationFailure", fs.ErrPermission, lake.Denied},
		"no credential": {401, "NoAuthenticationInformation", fs.ErrPermission, lake.Denied},
		"no container":  {404, "ContainerNotFound", nil, lake.NotTable},
	} {
		server := azuretest.New(t)
		s := open(t, anonymous(server), "az://c/t")
		server.Fault = func(*http.Request) (int, string) { return c.status, c.code }
		before := server.Requests.Load()
		_, err := s.List(t.Context(), store.PageRequest{Dirs: true})
		if err == nil || c.want != nil && !errors.Is(err, c.want) || lake.KindOf(err) != c.kind || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v (%v)", what, err, lake.KindOf(err))
		}
		if n := server.Requests.Load() - before; n != 1 {
			t.Errorf("%s: %d requests; only store.Retry repeats", what, n)
		}
	}
}

func TestAPageThatIsCutIsAnError(t *testing.T) {
	for cut := 1; cut < 900; cut += 37 {
		server := azuretest.New(t)
		s := open(t, anonymous(server), "az://c/t")
		server.Put("c", "t/f", azuretest.Blob{})
		server.Cut = cut
		page, err := s.List(t.Context(), store.PageRequest{Dirs: true})
		if err == nil && (page.Next != "" || len(page.Entries) != 1) || err != nil && !errors.Is(err, store.ErrTruncated) {
			t.Errorf("after %d bytes: %+v, %v", cut, page, err)
		}
	}
}

func TestOpenProbesPatiently(t *testing.T) {
	server := azuretest.New(t)
	server.Hierarchical = true
	n := 0
	server.Fault = func(*http.Request) (int, string) {
		if n++; n < 3 {
			return 503, "ServerBusy"
		}
		return 0, ""
	}
	if tr := open(t, anonymous(server), "az://c/t").Traits(); !tr.Directories {
		t.Errorf("%+v", tr)
	}
	// Where the account may not be asked, the scheme decides.
	server.Fault = func(r *http.Request) (int, string) {
		if r.URL.Query().Get("restype") == "account" {
			return 403, "AuthorizationPermissionMismatch"
		}
		return 0, ""
	}
	for place, want := range map[string]bool{"abfss://c/t": true, "az://c/t": false, "wasbs://c/t": false} {
		if got := open(t, anonymous(server), place).Traits().Directories; got != want {
			t.Errorf("%s: directories %v", place, got)
		}
	}
}

func TestPlaceholdersOfDirectoriesAreNoBlobs(t *testing.T) {
	server := azuretest.New(t)
	server.Put("c", "t/p=1", azuretest.Blob{Directory: true})
	server.Put("c", "t/p=1/f", azuretest.Blob{})
	server.Put("c", "t/p=1-x", azuretest.Blob{})
	page, err := open(t, anonymous(server), "az://c/t").List(t.Context(), store.PageRequest{})
	if err != nil || len(page.Entries) != 2 || page.Entries[0].Name != "p=1-x" || page.Entries[1].Name != "p=1/f" {
		t.Errorf("%+v, %v", page, err)
	}
}

func TestTheYoungerTimeCounts(t *testing.T) {
	server := azuretest.New(t)
	early, late := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), time.Date(2026, 2, 2, 3, 4, 5, 0, time.UTC)
	server.Put("c", "t/edited", azuretest.Blob{Created: early, Modified: late})
	server.Put("c", "t/copied", azuretest.Blob{Created: late, Modified: early})
	s := open(t, anonymous(server), "az://c/t")
	page, err := s.List(t.Context(), store.PageRequest{})
	if err != nil || len(page.Entries) != 2 {
		t.Fatal(page, err)
	}
	for _, e := range page.Entries {
		if info, err := s.Stat(t.Context(), e.Name); err != nil || !e.Modified.Equal(late) || info != e {
			t.Errorf("listed %+v, stat %+v, %v", e, info, err)
		}
	}
}

func TestStatusTellsWhatHoldsDeletedBlobsBack(t *testing.T) {
	server := azuretest.New(t)
	at := time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)
	server.Now = func() time.Time { return at }
	server.Versioned, server.SoftDelete = true, 7
	server.Put("c", "t/f", azuretest.Blob{})
	s := open(t, anonymous(server), "az://c/t")
	status, err := s.Status(t.Context())
	if err != nil || !status.Now.Equal(at) || !status.Versioned || status.SoftDelete != 7*24*time.Hour || status.Note != "" {
		t.Errorf("%+v, %v", status, err)
	}
	server.Fault = func(r *http.Request) (int, string) {
		if r.URL.Query().Get("restype") == "service" {
			return 403, "AuthorizationPermissionMismatch"
		}
		return 0, ""
	}
	status, err = s.Status(t.Context())
	if err != nil || !status.Now.Equal(at) || !status.Versioned || !strings.Contains(status.Note, "soft delete") {
		t.Errorf("%+v, %v", status, err)
	}
}

func TestVersionsAreListedAndDeleted(t *testing.T) {
	server := azuretest.New(t)
	server.Versioned = true
	for _, name := range []string{"t/f", "t/f", "t/g"} {
		server.Put("c", name, azuretest.Blob{})
	}
	s := open(t, anonymous(server), "az://c/t")
	if !s.Traits().Versions {
		t.Fatal("no versions")
	}
	if outcomes, err := s.Delete(t.Context(), targets("f")); err != nil || outcomes[0].Err != nil {
		t.Fatal(outcomes, err)
	}
	page, err := s.List(t.Context(), store.PageRequest{Prefix: "f", Versions: true})
	if err != nil || len(page.Entries) != 2 {
		t.Fatal(page, err)
	}
	var old []store.Target
	for _, e := range page.Entries {
		if e.Name != "f" || e.Version == "" || e.Kind != store.File {
			t.Errorf("%+v", e)
		}
		old = append(old, store.Target{Name: e.Name, Version: e.Version})
	}
	if outcomes, err := s.Delete(t.Context(), old); err != nil || outcomes[0].Err != nil || outcomes[1].Err != nil {
		t.Fatal(outcomes, err)
	}
	page, err = s.List(t.Context(), store.PageRequest{Versions: true})
	if err != nil || len(page.Entries) != 1 || page.Entries[0].Name != "g" {
		t.Errorf("%+v, %v", page, err)
	}
}

func TestPlaces(t *testing.T) {
	for place, want := range map[string]string{
		"az://c@acc/t":                              "https://acc.blob.core.windows.net/c/t/f",
		"abfss://c@acc.dfs.core.windows.net/t":      "https://acc.blob.core.windows.net/c/t/f",
		"wasbs://c@acc.blob.core.windows.net/t":     "https://acc.blob.core.windows.net/c/t/f",
		"abfss://c@acc.dfs.core.chinacloudapi.cn/t": "https://acc.blob.core.chinacloudapi.cn/c/t/f",
		"az://c/t": "https://mine.blob.core.windows.net/c/t/f",
	} {
		t.Setenv("AZURE_STORAGE_SAS_TOKEN", "?sig=secret")
		asked := ""
		opt := azure.Options{Account: "mine", Hierarchical: "on", StartFrom: "off"}
		opt.Transport = transport(func(r *http.Request) (*http.Response, error) {
			asked = r.URL.Scheme + "://" + r.URL.Host + strings.ReplaceAll(r.URL.EscapedPath(), "%2F", "/")
			if r.URL.Query().Get("sig") != "secret" {
				t.Error("no signature")
			}
			return nil, errors.New("not today")
		})
		_, err := open(t, opt, place).Stat(t.Context(), "f")
		if asked != want || err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: asked %s, %v", place, asked, err)
		}
	}
	if _, err := azure.New(azure.Options{}).Open(t.Context(), lake.Root{Scheme: "az", Authority: "c", Path: "t"}); lake.KindOf(err) != lake.Invalid {
		t.Error(err)
	}
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) Do(r *http.Request) (*http.Response, error) { return f(r) }

func TestSettingsFromTheEnvironment(t *testing.T) {
	env := map[string]string{"LAKESWEEP_AZURE_ACCOUNT": "a", "LAKESWEEP_AZURE_ANONYMOUS": "true", "LAKESWEEP_AZURE_START_FROM": "off"}
	lookup := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	if o, err := azure.FromEnv(lookup); err != nil || o.Account != "a" || !o.Anonymous || o.StartFrom != "off" {
		t.Errorf("%+v, %v", o, err)
	}
	env = map[string]string{"LAKESWEEP_AZURE_HIERARCHICAL": "odd"}
	if _, err := azure.FromEnv(lookup); lake.KindOf(err) != lake.Invalid {
		t.Error(err)
	}
}
