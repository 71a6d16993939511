package gcs_test

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/gcs"
)

func TestVersionsOnAServer(t *testing.T) {
	endpoint := os.Getenv("LAKESWEEP_TEST_GCS")
	if endpoint == "" {
		t.Skip("LAKESWEEP_TEST_GCS names no server")
	}
	bucket := fmt.Sprintf("versions-%d", os.Getpid())
	resp, err := http.Post(endpoint+"/storage/v1/b?project=test", "application/json", strings.NewReader(`{"name":"`+bucket+`","versioning":{"enabled":true}}`))
	if err != nil {
		t.Fatal(err)
	}
	if resp.Body.Close(); resp.StatusCode != http.StatusOK {
		t.Fatal(resp.Status)
	}
	s := open(t, gcs.Options{Endpoint: endpoint}, "gs://"+bucket+"/t")
	for _, name := range []string{"p=1/ä b+%.x", "p=1/ä b+%.x", "p=1/other"} {
		if _, err := s.Replace(t.Context(), name, []byte(name), ""); err != nil {
			t.Fatal(err)
		}
	}
	remove := func(target store.Target) {
		t.Helper()
		outcomes, err := s.Delete(t.Context(), []store.Target{target})
		if err == nil {
			err = outcomes[0].Err
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	remove(store.Target{Name: "p=1/ä b+%.x"})
	list := func(prefix string) []store.Info {
		t.Helper()
		page, err := s.List(t.Context(), store.PageRequest{Prefix: prefix, Versions: true})
		if err != nil || page.Next != "" {
			t.Fatal(page, err)
		}
		return page.Entries
	}
	all := list("p=1/ä b+%.x")
	if len(all) != 2 {
		t.Fatalf("%+v", all)
	}
	for _, v := range all {
		if v.Name != "p=1/ä b+%.x" || v.Version == "" {
			t.Errorf("%+v", v)
		}
		remove(store.Target{Name: v.Name, Version: v.Version})
	}
	if all := list(""); len(all) != 1 || all[0].Name != "p=1/other" {
		t.Errorf("left: %+v", all)
	}
}
