package hdfs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/user"
	"strconv"
	"strings"
	"sync"

	native "github.com/colinmarc/hdfs/v2"
	"github.com/colinmarc/hdfs/v2/hadoopconf"
	"github.com/jcmturner/gokrb5/v8/client"
	"github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/credentials"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
)

// defaultPort is a name node's where a place names none.
const defaultPort = "8020"

// Opener opens places in file systems. Places in one share connections. Safe
// for concurrent use.
type Opener struct {
	opt Options

	mu    sync.Mutex
	pools map[string]*pool
}

// New returns an Opener. It does no IO.
func New(opt Options) *Opener { return &Opener{opt: opt, pools: map[string]*pool{}} }

// Open opens a directory. It is a store.OpenFunc.
//
// Errors: Invalid for wrong settings, Denied where Kerberos has no tickets.
func (o *Opener) Open(_ context.Context, root lake.Root) (store.Store, error) {
	p, err := o.pool(root.Authority)
	if err != nil {
		return nil, store.Fail("open", root, "", classify(err))
	}
	return &Store{pool: p, place: root, base: "/" + root.Path, streams: map[string]*stream{}}, nil
}

func (o *Opener) pool(authority string) (*pool, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if p := o.pools[authority]; p != nil {
		return p, nil
	}
	opt, err := o.opt.native(authority)
	if err != nil {
		return nil, err
	}
	p := newPool(opt, o.opt.Dial)
	o.pools[authority] = p
	return p, nil
}

// native makes the options of the client library for a name service, a name
// node, or with "" the default file system of the configuration.
func (o Options) native(authority string) (native.ClientOptions, error) {
	conf, err := o.conf()
	if err != nil {
		return native.ClientOptions{}, &lake.Error{Op: "read the Hadoop configuration", Kind: lake.Invalid, Err: err, Hint: "Check HADOOP_CONF_DIR."}
	}
	opt := native.ClientOptionsFromConf(conf)
	if authority != "" {
		opt.Addresses = namenodes(conf, authority)
	}
	if len(opt.Addresses) == 0 {
		return opt, &lake.Error{Op: "read the Hadoop configuration", Kind: lake.Invalid, Err: errors.New("it names no name node"),
			Hint: "Write hdfs://NAMENODE:PORT/path/to/table, or set HADOOP_CONF_DIR."}
	}
	opt.UseDatanodeHostname = opt.UseDatanodeHostname || o.Hostnames
	opt.KerberosServicePrincipleName = cmp.Or(o.Namenode, opt.KerberosServicePrincipleName)
	opt.DataTransferProtection = cmp.Or(o.Protection, opt.DataTransferProtection)
	if o.Kerberos || opt.KerberosClient != nil {
		opt.KerberosServicePrincipleName = cmp.Or(opt.KerberosServicePrincipleName, "nn/_HOST")
		if opt.KerberosClient, err = o.kerberos(); err != nil {
			return opt, &lake.Error{Op: "log in by Kerberos", Kind: lake.Denied, Err: err,
				Hint: "Run kinit, or set LAKESWEEP_HDFS_KEYTAB and LAKESWEEP_HDFS_PRINCIPAL."}
		}
		return opt, nil
	}
	if opt.User = cmp.Or(o.User, os.Getenv("HADOOP_USER_NAME")); opt.User == "" {
		u, err := user.Current()
		if err != nil {
			return opt, err
		}
		opt.User = u.Username
	}
	return opt, nil
}

func (o Options) conf() (hadoopconf.HadoopConf, error) {
	if o.ConfDir == "" {
		return hadoopconf.LoadFromEnvironment()
	}
	conf, err := hadoopconf.Load(o.ConfDir)
	if conf == nil && err == nil {
		err = fmt.Errorf("no core-site.xml in %s", o.ConfDir)
	}
	return conf, err
}

// namenodes returns the addresses of a name service of the configuration, or
// that of a single name node.
// Source: Hadoop, "HDFS High Availability Using the Quorum Journal Manager", Configuration details.
func namenodes(conf hadoopconf.HadoopConf, authority string) []string {
	var all []string
	for id := range strings.SplitSeq(conf["dfs.ha.namenodes."+authority], ",") {
		if address := conf["dfs.namenode.rpc-address."+authority+"."+strings.TrimSpace(id)]; address != "" {
			all = append(all, address)
		}
	}
	if address := conf["dfs.namenode.rpc-address."+authority]; len(all) == 0 && address != "" {
		all = append(all, address)
	}
	if len(all) > 0 {
		return all
	}
	if _, _, err := net.SplitHostPort(authority); err != nil {
		authority = net.JoinHostPort(authority, defaultPort)
	}
	return []string{authority}
}

// kerberos logs in by a keytab, or takes the tickets of the cache.
func (o Options) kerberos() (*client.Client, error) {
	conf, err := config.Load(cmp.Or(o.KrbConf, os.Getenv("KRB5_CONFIG"), "/etc/krb5.conf"))
	if err != nil {
		return nil, err
	}
	if o.Keytab != "" {
		name, realm, ok := strings.Cut(o.Principal, "@")
		if !ok {
			return nil, fmt.Errorf("principal %q is no name@REALM", o.Principal)
		}
		kt, err := keytab.Load(o.Keytab)
		if err != nil {
			return nil, err
		}
		c := client.NewWithKeytab(name, realm, kt, conf)
		return c, c.Login()
	}
	path := strings.TrimPrefix(cmp.Or(o.Cache, os.Getenv("KRB5CCNAME"), "/tmp/krb5cc_"+strconv.Itoa(os.Getuid())), "FILE:")
	if strings.Contains(path, ":") {
		return nil, fmt.Errorf("ticket cache %q is no file", path)
	}
	cache, err := credentials.LoadCCache(path)
	if err != nil {
		return nil, err
	}
	return client.NewFromCCache(cache, conf)
}
