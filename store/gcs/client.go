package gcs

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"google.golang.org/api/impersonate"
	"google.golang.org/api/option"
	raw "google.golang.org/api/storage/v1"
	"google.golang.org/api/transport"
)

const googleEndpoint = "https://storage.googleapis.com"

// Opener opens places in buckets. All share one client. Safe for concurrent use.
type Opener struct {
	opt Options

	mu     sync.Mutex
	client *client
}

// New returns an Opener. It does no IO.
func New(opt Options) *Opener { return &Opener{opt: opt} }

// Open opens a place, a bucket or a prefix in it. It is a store.OpenFunc.
//
// Errors: Invalid for wrong settings, Denied where there are no credentials.
func (o *Opener) Open(ctx context.Context, root lake.Root) (store.Store, error) {
	c, err := o.shared(ctx)
	if err != nil {
		return nil, store.Fail("open", root, "", classify(err))
	}
	s := &Store{client: c, bucket: root.Authority, place: root}
	if root.Path != "" {
		s.prefix = root.Path + "/"
	}
	return s, nil
}

// client calls the JSON API.
type client struct {
	api     *raw.Service // generated calls; repeats none
	http    *http.Client // adds credentials; for the two calls that api can't make
	host    string       // "https://storage.googleapis.com"
	opt     Options
	genuine bool        // Google's own, whose conditions can be relied on
	batch   atomic.Bool // there are batches, as far as we know
}

func (o *Opener) shared(ctx context.Context) (*client, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.client != nil {
		return o.client, nil
	}
	c := &client{opt: o.opt, host: googleEndpoint, genuine: true}
	if endpoint := cmp.Or(o.opt.Endpoint, os.Getenv("STORAGE_EMULATOR_HOST")); endpoint != "" {
		host, err := hostOf(endpoint)
		if err != nil {
			return nil, err
		}
		c.host, c.genuine = host, strings.HasSuffix(host, ".googleapis.com")
	}
	c.batch.Store(o.opt.BatchDelete != "off")
	var err error
	if c.http, err = o.opt.transport(context.WithoutCancel(ctx), c.genuine); err != nil {
		return nil, err
	}
	c.api, err = raw.NewService(ctx, option.WithHTTPClient(c.http), option.WithEndpoint(c.host+"/storage/v1/"))
	if err != nil {
		return nil, err
	}
	c.api.UserAgent = "lakesweep"
	o.client = c
	return c, nil
}

// hostOf reads an endpoint as STORAGE_EMULATOR_HOST has it: with or without a
// scheme, the path doesn't count.
func hostOf(endpoint string) (string, error) {
	if !strings.Contains(endpoint, "://") {
		endpoint = "http://" + endpoint
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" {
		return "", &lake.Error{Op: "read settings", Kind: lake.Invalid, Err: fmt.Errorf("%q is no URL of a server", endpoint),
			Hint: "Set LAKESWEEP_GCS_ENDPOINT or STORAGE_EMULATOR_HOST to a URL such as http://127.0.0.1:4443."}
	}
	return u.Scheme + "://" + u.Host, nil
}

// transport returns the client that adds credentials. Servers that aren't
// Google's get none: an access token is a secret.
func (o Options) transport(ctx context.Context, genuine bool) (*http.Client, error) {
	if o.Client != nil {
		return o.Client, nil
	}
	if o.Anonymous || !genuine {
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.MaxIdleConns, t.MaxIdleConnsPerHost = 0, 1024
		return &http.Client{Transport: t}, nil
	}
	opts := []option.ClientOption{option.WithScopes(raw.DevstorageReadWriteScope)}
	if o.Impersonate != "" {
		source, err := impersonate.CredentialsTokenSource(ctx, impersonate.CredentialsConfig{
			TargetPrincipal: o.Impersonate, Scopes: []string{raw.DevstorageReadWriteScope}})
		if err != nil {
			return nil, err
		}
		opts = []option.ClientOption{option.WithTokenSource(source)}
	}
	c, _, err := transport.NewHTTPClient(ctx, opts...)
	return c, err
}
