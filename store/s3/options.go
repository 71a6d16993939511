package s3

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/lakesweep/lakesweep/lake"
)

// Options say how buckets are reached. The zero value takes all from the SDK's
// default chain: AWS_* variables (AWS_REGION, AWS_ENDPOINT_URL_S3, AWS_PROFILE,
// AWS_ROLE_ARN, …), the shared configuration files, the instance's or pod's role.
type Options struct {
	Region     string // of the bucket; "" from the chain, else asked of AWS, else us-east-1
	Endpoint   string // URL of an S3-compatible server; "" from the chain, else AWS
	Addressing string // "path", "virtual", or "" for auto: path at servers other than AWS and for buckets with a dot
	Profile    string // of the shared configuration files
	RoleARN    string // a role to assume with the credentials found
	ExternalID string // for that role
	Anonymous  bool   // sign nothing; for public buckets

	RequesterPays bool   // the caller pays for requests
	SSE           string // server-side encryption of what is written: "AES256", "aws:kms", "aws:kms:dsse"
	KMSKey        string // for aws:kms
	CustomerKey   string // SSE-C: the base64 of a 256-bit key, for all reads and writes

	Checksum    string // "supported": send checksums with all writes; "" or "required": only where S3 demands one
	ContentMD5  bool   // send Content-MD5 with bulk deletes, for servers that know no newer checksum
	BulkDelete  string // "off": one request for each object; "" for auto: bulk, and single deletes where the server refuses it
	DeleteMatch string // "on", "off": whether bulk deletes depend on each object's ETag; "" for auto: at AWS only

	Client      aws.HTTPClient          // nil: one of our own
	Credentials aws.CredentialsProvider // nil: from the chain
}

// A Setting is an option that can be given as text.
type Setting struct {
	Name string // "role-arn"; as an environment variable LAKESWEEP_S3_ROLE_ARN
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
	flag := func(field func(*Options) *bool) func(*Options, string) error {
		return func(o *Options, v string) (err error) {
			*field(o), err = strconv.ParseBool(v)
			return err
		}
	}
	return []Setting{
		{"region", "region of the bucket (else AWS_REGION, the profile's, or the bucket's own)", text(func(o *Options) *string { return &o.Region })},
		{"endpoint", "URL of an S3-compatible server (else AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL)", text(func(o *Options) *string { return &o.Endpoint })},
		{"addressing", "path or virtual (default: path at servers other than AWS and for buckets with a dot)", text(func(o *Options) *string { return &o.Addressing }, "path", "virtual", "")},
		{"profile", "profile of the shared configuration files (else AWS_PROFILE)", text(func(o *Options) *string { return &o.Profile })},
		{"role-arn", "role to assume with the credentials found", text(func(o *Options) *string { return &o.RoleARN })},
		{"external-id", "external id for that role", text(func(o *Options) *string { return &o.ExternalID })},
		{"anonymous", "true: sign no request", flag(func(o *Options) *bool { return &o.Anonymous })},
		{"requester-pays", "true: the caller pays for requests", flag(func(o *Options) *bool { return &o.RequesterPays })},
		{"sse", "encryption of what is written: AES256, aws:kms or aws:kms:dsse", text(func(o *Options) *string { return &o.SSE }, "AES256", "aws:kms", "aws:kms:dsse", "")},
		{"kms-key", "key for aws:kms", text(func(o *Options) *string { return &o.KMSKey })},
		{"customer-key", "base64 of the 256-bit key of objects encrypted by SSE-C", text(func(o *Options) *string { return &o.CustomerKey })},
		{"checksum", "required or supported: when writes carry a checksum (default: only where S3 demands one)", text(func(o *Options) *string { return &o.Checksum }, "required", "supported", "")},
		{"content-md5", "true: bulk deletes carry Content-MD5, as older servers demand", flag(func(o *Options) *bool { return &o.ContentMD5 })},
		{"bulk-delete", "off: one request for each deleted object", text(func(o *Options) *string { return &o.BulkDelete }, "off", "")},
		{"delete-match", "on or off: bulk deletes depend on each object's ETag (default: at AWS only)", text(func(o *Options) *string { return &o.DeleteMatch }, "on", "off", "")},
	}
}

// FromEnv reads the settings from LAKESWEEP_S3_* by lookup, such as os.LookupEnv.
//
// Errors: Invalid, naming the variable.
func FromEnv(lookup func(string) (string, bool)) (Options, error) {
	var o Options
	for _, s := range Settings() {
		name := "LAKESWEEP_S3_" + strings.ToUpper(strings.ReplaceAll(s.Name, "-", "_"))
		v, ok := lookup(name)
		if !ok {
			continue
		}
		if err := s.set(&o, v); err != nil {
			return Options{}, &lake.Error{Op: "read settings", Kind: lake.Invalid, Err: fmt.Errorf("%s: %w", name, err), Hint: s.Help}
		}
	}
	return o, nil
}
