package azure_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/azure"
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
