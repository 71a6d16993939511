package s3

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/lakesweep/lakesweep/store"
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

// Settings lists all options that can be given as text.
func Settings() []store.Setting[Options] {
	return []store.Setting[Options]{
		store.Text("region", "region of the bucket (else AWS_REGION, the profile's, or the bucket's own)",
			func(o *Options) *string { return &o.Region }),
		store.Text("endpoint", "URL of an S3-compatible server (else AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL)",
			func(o *Options) *string { return &o.Endpoint }),
		store.Text("addressing", "path or virtual (default: path at servers other than AWS and for buckets with a dot)",
			func(o *Options) *string { return &o.Addressing }, "path", "virtual", ""),
		store.Text("profile", "profile of the shared configuration files (else AWS_PROFILE)",
			func(o *Options) *string { return &o.Profile }),
		store.Text("role-arn", "role to assume with the credentials found",
			func(o *Options) *string { return &o.RoleARN }),
		store.Text("external-id", "external id for that role",
			func(o *Options) *string { return &o.ExternalID }),
		store.Switch("anonymous", "true: sign no request",
			func(o *Options) *bool { return &o.Anonymous }),
		store.Switch("requester-pays", "true: the caller pays for requests",
			func(o *Options) *bool { return &o.RequesterPays }),
		store.Text("sse", "encryption of what is written: AES256, aws:kms or aws:kms:dsse",
			func(o *Options) *string { return &o.SSE }, "AES256", "aws:kms", "aws:kms:dsse", ""),
		store.Text("kms-key", "key for aws:kms",
			func(o *Options) *string { return &o.KMSKey }),
		store.Text("customer-key", "base64 of the 256-bit key of objects encrypted by SSE-C",
			func(o *Options) *string { return &o.CustomerKey }),
		store.Text("checksum", "required or supported: when writes carry a checksum (default: only where S3 demands one)",
			func(o *Options) *string { return &o.Checksum }, "required", "supported", ""),
		store.Switch("content-md5", "true: bulk deletes carry Content-MD5, as older servers demand",
			func(o *Options) *bool { return &o.ContentMD5 }),
		store.Text("bulk-delete", "off: one request for each deleted object",
			func(o *Options) *string { return &o.BulkDelete }, "off", ""),
		store.Text("delete-match", "on or off: bulk deletes depend on each object's ETag (default: at AWS only)",
			func(o *Options) *string { return &o.DeleteMatch }, "on", "off", ""),
	}
}

// FromEnv reads the settings from LAKESWEEP_S3_* by lookup, such as os.LookupEnv.
//
// Errors: Invalid, naming the variable.
func FromEnv(lookup func(string) (string, bool)) (Options, error) {
	return store.FromEnv("LAKESWEEP_S3_", Settings(), lookup)
}
