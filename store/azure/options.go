package azure

import (
	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/lakesweep/lakesweep/store"
)

// Options say how containers are reached. The zero value takes the SDK's
// default chain: AZURE_* variables, workload and managed identities, and what
// the command-line tools are logged in with.
type Options struct {
	Account    string // for places that name none, such as az://container/path; "" from AZURE_STORAGE_ACCOUNT
	Endpoint   string // URL of an account at another server, container not included: "http://127.0.0.1:10000/devstoreaccount1"
	AccountKey string // the account's key instead of an identity; "" from AZURE_STORAGE_KEY
	SASToken   string // a shared access signature instead; "" from AZURE_STORAGE_SAS_TOKEN
	Anonymous  bool   // send no credentials; for public containers

	Hierarchical string // "on", "off": whether the account has a hierarchical namespace; "" asks it
	StartFrom    string // "on", "off": whether listings can start in the middle; "" tries
	BatchDelete  string // "off": one request for each blob; "" for auto: batches, and single deletes where they are refused

	Transport  policy.Transporter     // nil: one of our own
	Credential azcore.TokenCredential // nil: the default chain
}

// Settings lists all options that can be given as text.
func Settings() []store.Setting[Options] {
	return []store.Setting[Options]{
		store.Text("account", "storage account of places that name none (else AZURE_STORAGE_ACCOUNT)",
			func(o *Options) *string { return &o.Account }),
		store.Text("endpoint", "URL of the account at another server than Azure's",
			func(o *Options) *string { return &o.Endpoint }),
		store.Text("account-key", "key of the storage account (else AZURE_STORAGE_KEY), instead of an identity",
			func(o *Options) *string { return &o.AccountKey }),
		store.Text("sas-token", "shared access signature (else AZURE_STORAGE_SAS_TOKEN), instead of an identity",
			func(o *Options) *string { return &o.SASToken }),
		store.Switch("anonymous", "true: send no credentials",
			func(o *Options) *bool { return &o.Anonymous }),
		store.Text("hierarchical", "on or off: whether the account has a hierarchical namespace (default: it is asked)",
			func(o *Options) *string { return &o.Hierarchical }, "on", "off", ""),
		store.Text("start-from", "on or off: whether listings can start in the middle (default: it is tried)",
			func(o *Options) *string { return &o.StartFrom }, "on", "off", ""),
		store.Text("batch-delete", "off: one request for each deleted blob",
			func(o *Options) *string { return &o.BatchDelete }, "off", ""),
	}
}

// FromEnv reads the settings from LAKESWEEP_AZURE_* by lookup, such as os.LookupEnv.
//
// Errors: Invalid, naming the variable.
func FromEnv(lookup func(string) (string, bool)) (Options, error) {
	return store.FromEnv("LAKESWEEP_AZURE_", Settings(), lookup)
}
