package catalog

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/lakesweep/lakesweep/inventory/internal/part"
	"github.com/lakesweep/lakesweep/lake"
)

// maxManifest bounds a manifest: one of a million files has about 200 MB.
const maxManifest = 512 << 20

// Manifest opens the report that a manifest describes; nil for a JSON file that
// is no manifest.
//
// Errors: Damaged for a manifest that doesn't fit its files; Unsupported for a
// form that can't be read; those of the store.
func (c *Opener) Manifest(ctx context.Context, place lake.Root, p *part.Part) (*List, error) {
	named := strings.HasSuffix(strings.ToLower(p.Name), "manifest.json")
	if !named {
		head, _, err := p.Head(ctx)
		if err != nil || !mentionsManifest(head) {
			return nil, err
		}
	}
	data, err := p.All(ctx, maxManifest)
	if err != nil {
		return nil, err
	}
	m, kind, err := parseManifest(data)
	if !named && (err != nil || kind == "") {
		return nil, nil
	}
	if err == nil && kind == "" {
		err = errors.New("no manifest of S3 Inventory, GCS Storage Insights or Azure Blob Inventory")
	}
	if err != nil {
		return nil, p.Damaged(err)
	}
	l := &List{Kind: kind, Form: c.Form, Rows: -1}
	if kind != "gcs-insights" { // GCS writes no sums
		if err := l.checksum(ctx, p, data); err != nil {
			return nil, err
		}
	}
	if err := l.report(&m, p); err != nil {
		return nil, err
	}
	if err := c.locate(ctx, l, place, m.DestinationBucket); err != nil {
		return nil, err
	}
	if l.Form.Detected {
		if err := l.detect(ctx, c.Source); err != nil {
			return nil, err
		}
	}
	l.Encoding = l.Form.Encoding
	if len(l.Parts) == 0 {
		return l, nil
	}
	return l, l.Form.Probe(ctx, &l.Parts[0])
}

// report takes over what a manifest says.
func (l *List) report(m *manifest, p *part.Part) (err error) {
	l.Form.OfStore, l.TakenFrom = true, "manifest"
	switch l.Kind {
	case "s3-inventory":
		err = l.s3(m, p)
	case "azure-inventory":
		err = l.azure(m, p)
	default:
		err = l.gcs(m, p)
	}
	if l.Taken.IsZero() {
		l.TakenFrom = ""
		l.Notes = append(l.Notes, "the manifest names no time of its scan")
	}
	return err
}

func mentionsManifest(head []byte) bool {
	if !bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("{")) {
		return false
	}
	for _, word := range []string{`"fileSchema"`, `"sourceBucket"`, `"report_shards_file_names"`, `"reportNames"`, `"report_config"`, `"ruleDefinition"`} {
		if bytes.Contains(head, []byte(word)) {
			return true
		}
	}
	return false
}

// checksum compares the manifest with the MD5 sum in the file beside it, if there is one.
func (l *List) checksum(ctx context.Context, p *part.Part, data []byte) error {
	sum := part.Part{Reader: p.Reader, Name: strings.TrimSuffix(p.Name, ".json") + ".checksum", Size: -1}
	sum.Place = path.Dir(p.Place) + "/" + sum.Name
	if _, err := p.Reader.Stat(ctx, sum.Name); part.Missing(err) {
		l.Notes = append(l.Notes, "there is no "+sum.Name+" to check the manifest with")
		return nil
	} else if err != nil {
		return err
	}
	want, err := sum.All(ctx, 1<<10)
	if err != nil {
		return err
	}
	have := md5.Sum(data)
	if fields := bytes.Fields(want); len(fields) == 0 || !strings.EqualFold(string(fields[0]), hex.EncodeToString(have[:])) {
		return p.Damaged(fmt.Errorf("its MD5 sum is %x, not what %s says", have, sum.Name))
	}
	return nil
}
