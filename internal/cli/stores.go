package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lakesweep/lakesweep/internal/cli/internal/settings"
	"github.com/lakesweep/lakesweep/internal/cli/internal/value"
	"github.com/lakesweep/lakesweep/store/azure"
	"github.com/lakesweep/lakesweep/store/gcs"
	"github.com/lakesweep/lakesweep/store/hdfs"
	"github.com/lakesweep/lakesweep/store/s3"
)

// storeSetting is a setting of a store as a flag: "s3-region".
type storeSetting struct{ flag, help string }

// storeSettings lists the settings of all stores.
func storeSettings() []storeSetting {
	var all []storeSetting
	for _, s := range s3.Settings() {
		all = append(all, storeSetting{"s3-" + s.Name, s.Help})
	}
	for _, s := range azure.Settings() {
		all = append(all, storeSetting{"azure-" + s.Name, s.Help})
	}
	for _, s := range gcs.Settings() {
		all = append(all, storeSetting{"gcs-" + s.Name, s.Help})
	}
	for _, s := range hdfs.Settings() {
		all = append(all, storeSetting{"hdfs-" + s.Name, s.Help})
	}
	return all
}

// storeFlags holds the settings of stores that were given, by their names in
// the environment.
type storeFlags map[string]string

// bind binds a flag for each setting. They stand in `lakesweep help stores`
// instead of in every command's help.
func (f *storeFlags) bind(fs *pflag.FlagSet) {
	*f = storeFlags{}
	for _, s := range storeSettings() {
		name := settings.EnvName(s.flag)
		var to string
		fs.Var(value.New(&to, "VALUE", func(text string) (string, error) {
			(*f)[name] = text
			return text, nil
		}), s.flag, s.help)
		fs.Lookup(s.flag).Hidden = true
	}
}

func (f *storeFlags) lookup(name string) (string, bool) {
	v, ok := (*f)[name]
	return v, ok
}

// storesTopic is the help on stores.
func storesTopic() *cobra.Command {
	var b strings.Builder
	b.WriteString(`A table lies on a local disk (a path or file://), in a bucket (s3://, gs://), in
an Azure container (az://container@account, abfss://) or on HDFS (hdfs://).
Stores take credentials, region and endpoint from where the vendor's own tools
take them: for S3 the AWS_* variables, the shared configuration files, and the
role of the instance or pod; for Google the application default credentials; for
Azure the AZURE_* variables, the workload's or machine's identity, and az login;
for HDFS HADOOP_CONF_DIR and the tickets of kinit.
These flags of every command, which may also be set as LAKESWEEP_S3_REGION and
so on or in the --settings file, say otherwise:
`)
	for _, s := range storeSettings() {
		b.WriteString("\n  --" + s.flag + "\n      " + s.help)
	}
	return &cobra.Command{Use: "stores", Short: "Where tables lie, and the flags of stores", Long: b.String()}
}
