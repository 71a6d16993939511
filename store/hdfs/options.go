package hdfs

import (
	"context"
	"net"

	"github.com/lakesweep/lakesweep/store"
)

// Options say how a file system is reached. The zero value takes the Hadoop
// configuration of HADOOP_CONF_DIR or HADOOP_HOME, and without one the plain
// protocol as the user HADOOP_USER_NAME or the one that runs the process.
type Options struct {
	ConfDir   string // of core-site.xml and hdfs-site.xml; "" from HADOOP_CONF_DIR, HADOOP_HOME
	User      string // without Kerberos; "" from HADOOP_USER_NAME, else the system's user
	Hostnames bool   // reach data nodes by their names instead of their addresses

	Kerberos   bool   // authenticate by Kerberos though no configuration says so
	Principal  string // "name@REALM", for a keytab; "" for the tickets of the cache
	Keytab     string // file; "" for the tickets of the cache
	Cache      string // ticket cache; "" from KRB5CCNAME, else the system's
	KrbConf    string // krb5.conf; "" from KRB5_CONFIG, else /etc/krb5.conf
	Namenode   string // service principal, "nn/_HOST"; "" from the configuration
	Protection string // of data: authentication, integrity, privacy; "" from the configuration

	Dial func(ctx context.Context, network, address string) (net.Conn, error) // nil: the system's
}

// Settings lists all options that can be given as text.
func Settings() []store.Setting[Options] {
	return []store.Setting[Options]{
		store.Text("conf-dir", "directory of core-site.xml and hdfs-site.xml (else HADOOP_CONF_DIR, HADOOP_HOME)",
			func(o *Options) *string { return &o.ConfDir }),
		store.Text("user", "user without Kerberos (else HADOOP_USER_NAME, else the system's)",
			func(o *Options) *string { return &o.User }),
		store.Switch("hostnames", "true: reach data nodes by their names",
			func(o *Options) *bool { return &o.Hostnames }),
		store.Switch("kerberos", "true: authenticate by Kerberos though no configuration says so",
			func(o *Options) *bool { return &o.Kerberos }),
		store.Text("principal", "Kerberos principal, name@REALM, for a keytab",
			func(o *Options) *string { return &o.Principal }),
		store.Text("keytab", "keytab file (default: the tickets of the cache)",
			func(o *Options) *string { return &o.Keytab }),
		store.Text("ticket-cache", "ticket cache (else KRB5CCNAME, else /tmp/krb5cc_UID)",
			func(o *Options) *string { return &o.Cache }),
		store.Text("krb5-conf", "Kerberos configuration (else KRB5_CONFIG, else /etc/krb5.conf)",
			func(o *Options) *string { return &o.KrbConf }),
		store.Text("namenode-principal", "service principal of the name nodes, nn/_HOST (default: the configuration's)",
			func(o *Options) *string { return &o.Namenode }),
		store.Text("protection", "of data in transfer: authentication, integrity or privacy (default: the configuration's)",
			func(o *Options) *string { return &o.Protection }, "authentication", "integrity", "privacy", ""),
	}
}

// FromEnv reads the settings from LAKESWEEP_HDFS_* by lookup, such as os.LookupEnv.
//
// Errors: Invalid, naming the variable.
func FromEnv(lookup func(string) (string, bool)) (Options, error) {
	return store.FromEnv("LAKESWEEP_HDFS_", Settings(), lookup)
}
