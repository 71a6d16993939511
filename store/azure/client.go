package azure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/service"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
)

// Opener opens places in containers. Places in one container share a client.
// Safe for concurrent use.
type Opener struct {
	opt Options

	mu         sync.Mutex
	credential azcore.TokenCredential
	clients    map[string]*client
}

// New returns an Opener. It does no IO.
func New(opt Options) *Opener { return &Opener{opt: opt, clients: map[string]*client{}} }

// Open opens a place, a container or a folder in it, and finds out what the
// account can do: whether it has directories, and whether a listing can start
// in the middle. It is a store.OpenFunc.
//
// Errors: Invalid for wrong settings, Denied where there are no credentials.
func (o *Opener) Open(ctx context.Context, root lake.Root) (store.Store, error) {
	c, err := o.client(root)
	if err != nil {
		return nil, store.Fail("open", root, "", classify(err))
	}
	s := &Store{client: c, place: root}
	if root.Path != "" {
		s.prefix = root.Path + "/"
	}
	for pause := probePause; ; pause *= 4 {
		err := classify(s.probe(ctx))
		if err == nil {
			return s, nil
		}
		if !store.Retryable(err) || pause > probePatience {
			return nil, s.fail("open", "", err)
		}
		select {
		case <-ctx.Done():
			return nil, s.fail("open", "", ctx.Err())
		case <-time.After(pause):
		}
	}
}

// The pauses between attempts to find out what an account can do.
const (
	probePause    = 100 * time.Millisecond
	probePatience = 5 * time.Second
)

// client is a client for one container.
type client struct {
	container *container.Client
	service   *service.Client
	opt       Options
	sas       string      // appended to the URLs of sources to copy from
	batch     atomic.Bool // there are batches, as far as we know

	mu           sync.Mutex
	hierarchical *bool // nil: not known yet
	startFrom    *bool
}

func (o *Opener) client(root lake.Root) (*client, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	account, name, err := o.opt.address(root)
	if err != nil {
		return nil, err
	}
	if c := o.clients[account+"/"+name]; c != nil {
		return c, nil
	}
	c := &client{opt: o.opt, hierarchical: given(o.opt.Hierarchical), startFrom: given(o.opt.StartFrom)}
	c.batch.Store(o.opt.BatchDelete != "off")
	if err := o.connect(c, account, name); err != nil {
		return nil, err
	}
	o.clients[account+"/"+name] = c
	return c, nil
}

// given is a setting that is on, off or neither.
func given(v string) *bool {
	if v == "" {
		return nil
	}
	on := v == "on"
	return &on
}

// connect makes the SDK's clients. They repeat nothing.
func (o *Opener) connect(c *client, account, name string) (err error) {
	options := policy.ClientOptions{
		Retry:           policy.RetryOptions{MaxRetries: -1}, // store.Retry repeats, so that the pace sees each refusal
		Telemetry:       policy.TelemetryOptions{ApplicationID: "lakesweep"},
		PerCallPolicies: []policy.Policy{decoder{}},
		Transport:       cmp.Or(o.opt.Transport, policy.Transporter(transport())),
	}
	co, so := &container.ClientOptions{ClientOptions: options}, &service.ClientOptions{ClientOptions: options}
	at := account + "/" + url.PathEscape(name)
	key, sas := cmp.Or(o.opt.AccountKey, os.Getenv("AZURE_STORAGE_KEY")), strings.TrimPrefix(cmp.Or(o.opt.SASToken, os.Getenv("AZURE_STORAGE_SAS_TOKEN")), "?")
	switch {
	case o.opt.Anonymous, o.opt.SASToken != "", sas != "" && o.opt.AccountKey == "":
		if !o.opt.Anonymous {
			c.sas = "?" + sas
		}
		if c.container, err = container.NewClientWithNoCredential(at+c.sas, co); err != nil {
			return err
		}
		c.service, err = service.NewClientWithNoCredential(account+"/"+c.sas, so)
		return err
	case key != "":
		shared, err := service.NewSharedKeyCredential(accountName(account), key)
		if err != nil {
			return &lake.Error{Op: "read settings", Kind: lake.Invalid, Err: errors.New("the account key is no base64"), Hint: "Copy the key as `az storage account keys list` prints it."}
		}
		if c.container, err = container.NewClientWithSharedKeyCredential(at, shared, co); err != nil {
			return err
		}
		c.service, err = service.NewClientWithSharedKeyCredential(account+"/", shared, so)
		return err
	}
	if o.credential == nil {
		if o.credential = o.opt.Credential; o.credential == nil {
			if o.credential, err = azidentity.NewDefaultAzureCredential(nil); err != nil {
				return err
			}
		}
	}
	if c.container, err = container.NewClient(at, o.credential, co); err != nil {
		return err
	}
	c.service, err = service.NewClient(account+"/", o.credential, so)
	return err
}

// transport keeps the connections of a parallel listing, and leaves packed
// blobs packed.
func transport() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost, t.DisableCompression = 0, 1024, true
	return &http.Client{Transport: t}
}

// address returns the URL of the account and the name of the container of a
// place: container@account.dfs.core.windows.net, container@account, or the
// container alone. Hierarchical accounts are reached at their blob endpoint too.
func (o Options) address(root lake.Root) (account, name string, err error) {
	name, host, _ := strings.Cut(root.Authority, "@")
	if name == "" {
		return "", "", &lake.Error{Kind: lake.Invalid, Err: errors.New("no container in it"), Hint: "Write az://CONTAINER@ACCOUNT/path/to/table."}
	}
	if o.Endpoint != "" {
		u, err := url.Parse(o.Endpoint)
		if err != nil || u.Host == "" {
			return "", "", &lake.Error{Op: "read settings", Kind: lake.Invalid, Err: fmt.Errorf("%q is no URL", o.Endpoint),
				Hint: "Set LAKESWEEP_AZURE_ENDPOINT to a URL such as http://127.0.0.1:10000/devstoreaccount1."}
		}
		return strings.TrimRight(o.Endpoint, "/"), name, nil
	}
	host = strings.ToLower(cmp.Or(host, o.Account, os.Getenv("AZURE_STORAGE_ACCOUNT")))
	if host == "" {
		return "", "", &lake.Error{Kind: lake.Invalid, Err: errors.New("no storage account in it"),
			Hint: "Write az://CONTAINER@ACCOUNT/path/to/table, or set AZURE_STORAGE_ACCOUNT."}
	}
	if !strings.Contains(host, ".") {
		host += ".blob.core.windows.net"
	}
	return "https://" + strings.Replace(host, ".dfs.", ".blob.", 1), name, nil
}

// accountName is the account in an account's URL: the first label of the host,
// or the path where the host is an address.
func accountName(account string) string {
	u, err := url.Parse(account)
	if err != nil {
		return ""
	}
	if path := strings.Trim(u.Path, "/"); path != "" {
		return path
	}
	name, _, _ := strings.Cut(u.Hostname(), ".")
	return name
}
