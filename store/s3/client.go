package s3

import (
	"context"
	"crypto/md5"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go/logging"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
)

// Opener opens places in buckets. Places in one bucket share a client. Safe for
// concurrent use.
type Opener struct {
	opt Options

	mu      sync.Mutex
	buckets map[string]*bucket
}

// New returns an Opener. It does no IO.
func New(opt Options) *Opener { return &Opener{opt: opt, buckets: map[string]*bucket{}} }

// Open opens a place, a bucket or a prefix in it. It is a store.OpenFunc.
//
// Errors: Invalid for wrong settings, Denied where credentials can't be had.
func (o *Opener) Open(ctx context.Context, root lake.Root) (store.Store, error) {
	b, err := o.bucket(ctx, root.Authority)
	if err != nil {
		return nil, store.Fail("open", root, "", classify(err))
	}
	s := &Store{bucket: b, place: root}
	if root.Path != "" {
		s.prefix = root.Path + "/"
	}
	return s, nil
}

// bucket is a client for one bucket.
type bucket struct {
	*s3.Client
	name   string
	opt    Options
	aws    bool         // Amazon's own S3, whose conditions can be relied on
	bulk   atomic.Bool  // DeleteObjects works, as far as we know
	coding atomic.Int32 // codingUnknown, codingIgnored, codingSilent
	key    customerKey
	bodies chan struct{} // room for pages' bodies in memory
}

// pagesAtOnce is how many pages of a bucket are received and decoded at once. More requests
// than that may be waiting for an answer, which takes ten times as long.
const pagesAtOnce = 32

// customerKey is an SSE-C key in the three forms that a request holds; nil without one.
type customerKey struct{ algorithm, key, md5 *string }

func (o *Opener) bucket(ctx context.Context, name string) (*bucket, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if b := o.buckets[name]; b != nil {
		return b, nil
	}
	cfg, err := o.config(ctx)
	if err != nil {
		return nil, err
	}
	b := &bucket{name: name, opt: o.opt, bodies: make(chan struct{}, pagesAtOnce)}
	b.bulk.Store(o.opt.BulkDelete != "off")
	if b.key, err = o.opt.customerKey(); err != nil {
		return nil, err
	}
	endpoint := ""
	b.Client = s3.NewFromConfig(cfg, func(so *s3.Options) {
		if o.opt.Endpoint != "" {
			so.BaseEndpoint = &o.opt.Endpoint
		}
		endpoint = aws.ToString(so.BaseEndpoint)
		so.UsePathStyle = o.opt.pathStyle(endpoint, name)
		so.Retryer = aws.NopRetryer{} // store.Retry repeats, so that the pace sees each refusal
		so.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
		if o.opt.Checksum == "supported" {
			so.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenSupported
		}
		so.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
		if so.Region == "" {
			so.Region = "us-east-1"
			if isAWS(endpoint) {
				so.Region = regionOf(ctx, so.HTTPClient, name)
			}
		}
	})
	b.aws = isAWS(endpoint)
	o.buckets[name] = b
	return b, nil
}

// config loads the SDK's configuration.
func (o *Opener) config(ctx context.Context) (aws.Config, error) {
	load := []func(*config.LoadOptions) error{config.WithHTTPClient(o.client()), config.WithLogger(logging.Nop{})} // what fails comes back as an error
	if o.opt.Region != "" {
		load = append(load, config.WithRegion(o.opt.Region))
	}
	if o.opt.Profile != "" {
		load = append(load, config.WithSharedConfigProfile(o.opt.Profile))
	}
	switch {
	case o.opt.Anonymous:
		load = append(load, config.WithCredentialsProvider(aws.AnonymousCredentials{}))
	case o.opt.Credentials != nil:
		load = append(load, config.WithCredentialsProvider(o.opt.Credentials))
	}
	cfg, err := config.LoadDefaultConfig(ctx, load...)
	if err != nil {
		return aws.Config{}, &lake.Error{Op: "read AWS configuration", Kind: lake.Invalid, Err: err, Hint: "Check AWS_PROFILE and the files in ~/.aws."}
	}
	if o.opt.RoleARN != "" {
		base := cfg.Copy()
		if base.Region == "" {
			base.Region = "us-east-1"
		}
		provider := stscreds.NewAssumeRoleProvider(sts.NewFromConfig(base), o.opt.RoleARN, func(a *stscreds.AssumeRoleOptions) {
			a.RoleSessionName = "lakesweep"
			if o.opt.ExternalID != "" {
				a.ExternalID = &o.opt.ExternalID
			}
		})
		cfg.Credentials = aws.NewCredentialsCache(provider)
	}
	return cfg, nil
}

// client returns the HTTP client. The SDK's own keeps ten idle connections a
// host, which a parallel listing would open and close all the time.
func (o *Opener) client() aws.HTTPClient {
	if o.opt.Client != nil {
		return o.opt.Client
	}
	return awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
		t.MaxIdleConns, t.MaxIdleConnsPerHost = 0, 1024
		t.ResponseHeaderTimeout = time.Minute
	})
}

func (o Options) pathStyle(endpoint, bucket string) bool {
	if o.Addressing != "" {
		return o.Addressing == "path"
	}
	return !isAWS(endpoint) || strings.Contains(bucket, ".")
}

// isAWS reports whether an endpoint is Amazon's S3; "" is.
func isAWS(endpoint string) bool {
	u, err := url.Parse(endpoint)
	if endpoint == "" || err != nil {
		return endpoint == ""
	}
	host := strings.TrimSuffix(u.Hostname(), ".cn")
	return strings.HasSuffix(host, ".amazonaws.com") || strings.HasSuffix(host, ".api.aws")
}

// regionOf asks AWS where a bucket is: every answer to an unsigned HEAD says so,
// refusals included. us-east-1 if it can't be asked; a wrong region is then
// refused by the first request, with a hint.
func regionOf(ctx context.Context, client s3.HTTPClient, bucket string) string {
	const fallback = "us-east-1"
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, "https://s3.amazonaws.com/"+url.PathEscape(bucket), nil)
	if err != nil {
		return fallback
	}
	resp, err := client.Do(req)
	if err != nil {
		return fallback
	}
	resp.Body.Close() // a HEAD has no body
	if region := resp.Header.Get("X-Amz-Bucket-Region"); region != "" {
		return region
	}
	return fallback
}

func (o Options) customerKey() (customerKey, error) {
	if o.CustomerKey == "" {
		return customerKey{}, nil
	}
	key, err := base64.StdEncoding.DecodeString(o.CustomerKey)
	if err != nil || len(key) != 32 {
		return customerKey{}, &lake.Error{Op: "read settings", Kind: lake.Invalid, Err: fmt.Errorf("customer-key is no base64 of 32 bytes"), Hint: "Give the key as `openssl rand -base64 32` prints one."}
	}
	sum := md5.Sum(key)
	return customerKey{aws.String("AES256"), &o.CustomerKey, aws.String(base64.StdEncoding.EncodeToString(sum[:]))}, nil
}

// contentMD5 replaces the SDK's checksum of a bulk delete by Content-MD5.
func contentMD5(o *s3.Options) {
	o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
		// Each of these may be missing, which is what we want.
		_, _ = stack.Initialize.Remove("AWSChecksum:SetupInputContext")
		_, _ = stack.Build.Remove("AWSChecksum:RequestMetricsTracking")
		_, _ = stack.Finalize.Remove("AWSChecksum:ComputeInputPayloadChecksum")
		_, _ = stack.Finalize.Remove("addInputChecksumTrailer")
		return smithyhttp.AddContentChecksumMiddleware(stack)
	})
}
