package gcs

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/lakesweep/lakesweep/lake"
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

// A Setting is an option that can be given as text.
type Setting struct {
	Name string // "user-project"; as an environment variable LAKESWEEP_GCS_USER_PROJECT
	Help string
	set  func(*Options, string) error
}

// Settings lists all options that can be given as text.
func Settings() []Setting {
	text := func(field func(*Options) *string, allowed ...string) func(*Options, string) error {
		return func(o *Options, v string) error {
			if len(allowed) > 0 && !slices.Contains(allowed, v) {
				return fmt.Errorf("%q is none of %s", v, strings.Join(allowed, ", "))
			}
			*field(o) = v
			return nil
		}
	}
	return []Setting{
		{"endpoint", "URL of another server than Google's (else STORAGE_EMULATOR_HOST)", text(func(o *Options) *string { return &o.Endpoint })},
		{"impersonate", "service account to act as, with the credentials found", text(func(o *Options) *string { return &o.Impersonate })},
		{"anonymous", "true: send no credentials", func(o *Options, v string) (err error) {
			o.Anonymous, err = strconv.ParseBool(v)
			return err
		}},
		{"user-project", "project that pays for requests to a requester-pays bucket", text(func(o *Options) *string { return &o.UserProject })},
		{"kms-key", "Cloud KMS key of what is written (default: the bucket's)", text(func(o *Options) *string { return &o.KMSKey })},
		{"batch-delete", "off: one request for each deleted object", text(func(o *Options) *string { return &o.BatchDelete }, "off", "")},
	}
}

// FromEnv reads the settings from LAKESWEEP_GCS_* by lookup, such as os.LookupEnv.
//
// Errors: Invalid, naming the variable.
func FromEnv(lookup func(string) (string, bool)) (Options, error) {
	var o Options
	for _, s := range Settings() {
		name := "LAKESWEEP_GCS_" + strings.ToUpper(strings.ReplaceAll(s.Name, "-", "_"))
		v, ok := lookup(name)
		if !ok {
			continue
		}
		if err := s.set(&o, v); err != nil {
			return Options{}, &lake.Error{Op: "read settings", Kind: lake.Invalid, Err: fmt.Errorf("%s: %w", name, err), Hint: s.Help}
		}
	}
	if o.Endpoint == "" {
		o.Endpoint, _ = lookup("STORAGE_EMULATOR_HOST")
	}
	return o, nil
}
