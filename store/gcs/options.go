package gcs

import (
	"net/http"

	"github.com/lakesweep/lakesweep/store"
)

// Options say how buckets are reached. The zero value takes the application
// default credentials: GOOGLE_APPLICATION_CREDENTIALS, gcloud's own file, or
// the role of the machine, pod or federated workload.
type Options struct {
	Endpoint    string // URL of another server; "" from STORAGE_EMULATOR_HOST, else Google's
	Impersonate string // a service account to act as, with the credentials found
	Anonymous   bool   // send no credentials; for public buckets
	UserProject string // the project that pays for requests to a requester-pays bucket
	KMSKey      string // Cloud KMS key of what is written: "projects/…/cryptoKeys/…"; "" for the bucket's
	BatchDelete string // "off": one request for each object; "" for auto: batches, and single deletes where the server has none

	Client *http.Client // nil: one of our own; otherwise it has the credentials
}

// Settings lists all options that can be given as text.
func Settings() []store.Setting[Options] {
	return []store.Setting[Options]{
		store.Text("endpoint", "URL of another server than Google's (else STORAGE_EMULATOR_HOST)",
			func(o *Options) *string { return &o.Endpoint }),
		store.Text("impersonate", "service account to act as, with the credentials found",
			func(o *Options) *string { return &o.Impersonate }),
		store.Switch("anonymous", "true: send no credentials",
			func(o *Options) *bool { return &o.Anonymous }),
		store.Text("user-project", "project that pays for requests to a requester-pays bucket",
			func(o *Options) *string { return &o.UserProject }),
		store.Text("kms-key", "Cloud KMS key of what is written (default: the bucket's)",
			func(o *Options) *string { return &o.KMSKey }),
		store.Text("batch-delete", "off: one request for each deleted object",
			func(o *Options) *string { return &o.BatchDelete }, "off", ""),
	}
}

// FromEnv reads the settings from LAKESWEEP_GCS_* by lookup, such as os.LookupEnv.
//
// Errors: Invalid, naming the variable.
func FromEnv(lookup func(string) (string, bool)) (Options, error) {
	return store.FromEnv("LAKESWEEP_GCS_", Settings(), lookup)
}
