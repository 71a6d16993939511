package inventory

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/base64"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/mem"
)

// shelf is an Opener of one store in memory, seen from any folder of mem://shelf.
type shelf struct {
	*mem.Store
	wrap func(store.Store) store.Store
}

func newShelf() *shelf {
	return &shelf{Store: mem.New(mem.Options{}), wrap: func(s store.Store) store.Store { return s }}
}

func (s *shelf) OpenReader(_ context.Context, root lake.Root) (store.Reader, error) {
	if root.Scheme != "mem" {
		return nil, &lake.Error{Op: "open store", Table: root.String(), Kind: lake.Invalid}
	}
	prefix := root.Path
	if prefix != "" {
		prefix += "/"
	}
	return folder{s.wrap(s.Store), prefix}, nil
}

func (s *shelf) OpenStore(context.Context, lake.Root) (store.Store, error) { panic("lists are read") }

// folder is a store seen from below a prefix.
type folder struct {
	store.Reader
	prefix string
}

func (f folder) Stat(ctx context.Context, name string) (store.Info, error) {
	info, err := f.Reader.Stat(ctx, f.prefix+name)
	info.Name = name
	return info, err
}

func (f folder) Open(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	return f.Reader.Open(ctx, f.prefix+name, offset, length)
}

func (f folder) List(ctx context.Context, req store.PageRequest) (store.Page, error) {
	req.Prefix = f.prefix + req.Prefix
	page, err := f.Reader.List(ctx, req)
	for i := range page.Entries {
		page.Entries[i].Name = strings.TrimPrefix(page.Entries[i].Name, f.prefix)
	}
	return page, err
}

// written is when the files on the shelf were written.
var written = time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)

// object is an object as the oracle knows it.
type object struct {
	key  string // in the bucket
	size int64
	ms   int64 // modified
}

func (o object) time() time.Time { return time.UnixMilli(o.ms).UTC() }
func (o object) iso() string     { return o.time().Format("2006-01-02T15:04:05.000Z") }

// anyObjects draws objects with hostile names; text ones are UTF-8 without line breaks.
func anyObjects(t *rapid.T, label string) []object {
	name := rapid.OneOf(rapid.StringMatching(`[ -~]{1,20}`), rapid.SampledFrom([]string{"p=1/a b", "a+b", "50%", "%2B", "a,b", `a"b`, "'", "é", "日本/語", "x\ty", "a;b|c", " lead", "trail ", "#?&", "%zz", "a//b"}))
	var out []object
	for _, n := range rapid.SliceOfNDistinct(name, 0, 12, rapid.ID[string]).Draw(t, label) {
		if strings.HasSuffix(n, "/") || strings.HasPrefix(n, "/") || strings.HasPrefix(n, "_delta_log") || dotted(n) {
			continue
		}
		out = append(out, object{key: "t/" + n, size: rapid.Int64Range(0, 1<<40).Draw(t, "size"), ms: rapid.Int64Range(1e12, 17e11).Draw(t, "ms")})
	}
	return out
}

// dotted reports a component that no key of a table has.
func dotted(name string) bool {
	return slices.ContainsFunc(strings.Split(name, "/"), func(c string) bool { return c == "." || c == ".." })
}

func gz(data []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	w.Write(data)
	w.Close()
	return out.Bytes()
}

func zst(data []byte) []byte {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		panic(err)
	}
	return w.EncodeAll(data, nil)
}

func asCSV(comma rune, records ...[]string) []byte {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	w.Comma = comma
	if err := w.WriteAll(records); err != nil {
		panic(err)
	}
	return out.Bytes()
}

func records(os []object, record func(object) []string) (out [][]string) {
	for _, o := range os {
		out = append(out, record(o))
	}
	return out
}

func asParquet[T any](os []object, row func(object) T) []byte {
	var out bytes.Buffer
	w := parquet.NewGenericWriter[T](&out, parquet.MaxRowsPerRowGroup(3), parquet.PageBufferSize(64))
	for _, o := range os {
		if _, err := w.Write([]T{row(o)}); err != nil {
			panic(err)
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return out.Bytes()
}

func asJSON(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}

func sum(data []byte) string {
	s := md5.Sum(data)
	return hex.EncodeToString(s[:])
}

func s3Key(key string) string { return strings.ReplaceAll(url.QueryEscape(key), "%2F", "/") }

// s3Report puts the files of an S3 Inventory report on the shelf.
func (s *shelf) s3Report(format, schema string, parts ...[]byte) string {
	var files []map[string]any
	for i, data := range parts {
		name := fmt.Sprintf("data/%d.%s", i, strings.ToLower(format))
		s.Put("inv/b/daily/"+name, data, written)
		files = append(files, map[string]any{"key": "b/daily/" + name, "size": len(data), "MD5checksum": sum(data)})
	}
	manifest := asJSON(map[string]any{"sourceBucket": "b", "destinationBucket": "arn:aws:s3:::dest", "version": "2016-11-30", "creationTimestamp": fmt.Sprint(written.UnixMilli()),
		"fileFormat": format, "fileSchema": schema, "files": files})
	s.Put("inv/b/daily/2024-05-06T07-08Z/manifest.json", manifest, written)
	s.Put("inv/b/daily/2024-05-06T07-08Z/manifest.checksum", []byte(sum(manifest)), written)
	return "mem://shelf/inv/b/daily/2024-05-06T07-08Z/manifest.json"
}

const s3Schema = "Bucket, Key, VersionId, IsLatest, IsDeleteMarker, Size, LastModifiedDate, ETag, StorageClass"

func s3Record(o object) []string {
	return []string{"b", s3Key(o.key), "v1", "True", "False", fmt.Sprint(o.size), o.iso(), "abc", "STANDARD"}
}

func halves(os []object) ([]object, []object) { return os[:len(os)/2], os[len(os)/2:] }

// testForm says how to put objects on a shelf and what to open then.
type testForm struct {
	name    string
	scheme  string // "s3" by default
	columns map[string]string
	bare    bool // neither sizes nor times
	put     func(s *shelf, os []object) (source string)
}

var testForms = []testForm{
	{name: "CSV of Delta-Spark's schema", put: func(s *shelf, os []object) string {
		s.Put("l.csv", asCSV(',', append([][]string{{"path", "length", "isDir", "modificationTime"}}, records(os, func(o object) []string {
			return []string{"s3://b/" + o.key, fmt.Sprint(o.size), "false", fmt.Sprint(o.ms)}
		})...)...), written)
		return "mem://shelf/l.csv"
	}},
	{name: "CSV in another order, packed", put: func(s *shelf, os []object) string {
		s.Put("l.csv.gz", gz(asCSV(',', append([][]string{{"mtime", "junk", "Size", "URI"}}, records(os, func(o object) []string {
			return []string{o.iso(), "x", fmt.Sprint(o.size), "s3a://b/" + o.key}
		})...)...)), written)
		return "mem://shelf/l.csv.gz"
	}},
	{name: "TSV with mapped columns", columns: map[string]string{"path": "Was", "size": "Wieviel", "modified": "Wann"}, put: func(s *shelf, os []object) string {
		s.Put("l.tsv", asCSV('\t', append([][]string{{"Wieviel", "Was", "Wann"}}, records(os, func(o object) []string {
			return []string{fmt.Sprint(o.size), "s3n://b/" + o.key, fmt.Sprint(o.ms * 1000)}
		})...)...), written)
		return "mem://shelf/l.tsv"
	}},
	{name: "CSV without a header", columns: map[string]string{"path": "2", "size": "1", "modified": "3", "encoding": "form"}, put: func(s *shelf, os []object) string {
		s.Put("l.csv.zst", zst(asCSV(',', records(os, func(o object) []string {
			return []string{fmt.Sprint(o.size), "s3://b/" + s3Key(o.key), fmt.Sprint(o.ms)}
		})...)), written)
		return "mem://shelf/l.csv.zst"
	}},
	{name: "CSV of Storage Insights without its manifest", scheme: "gs", put: func(s *shelf, os []object) string {
		s.Put("l.csv", asCSV(',', append([][]string{{"project", "bucket", "name", "size", "updated"}}, records(os, func(o object) []string {
			return []string{"1", "b", o.key, fmt.Sprint(o.size), o.iso()}
		})...)...), written)
		return "mem://shelf/l.csv"
	}},
	{name: "a folder of CSV", put: func(s *shelf, os []object) string {
		one, two := halves(os)
		for i, part := range [][]object{one, two} {
			s.Put(fmt.Sprintf("folder/day=%d/part.csv", i), asCSV(',', append([][]string{{"bucket", "key", "size", "last_modified"}}, records(part, func(o object) []string {
				return []string{"b", o.key, fmt.Sprint(o.size), o.iso()}
			})...)...), written)
		}
		s.Put("folder/_SUCCESS", nil, written)
		s.Put("folder/.part.csv.crc", []byte("x"), written)
		return "mem://shelf/folder"
	}},
	{name: "JSON lines", put: func(s *shelf, os []object) string {
		var out bytes.Buffer
		for _, o := range os {
			out.Write(append(asJSON(map[string]any{"size": o.size, "path": "s3://b/" + o.key, "modified": o.iso(), "more": map[string]any{"path": "no"}}), '\n'))
		}
		s.Put("l.jsonl", out.Bytes(), written)
		return "mem://shelf/l.jsonl"
	}},
	{name: "our own JSON lines", put: func(s *shelf, os []object) string {
		var out bytes.Buffer
		out.WriteString(`{"message_type":"guard","code":"x"}` + "\n")
		for _, o := range os {
			row := map[string]any{"message_type": "file", "size": o.size, "modified": o.iso(), "path": o.key[2:]}
			if !utf8.ValidString(o.key) || len(o.key)%2 == 0 {
				delete(row, "path")
				row["path_base64"] = base64.StdEncoding.EncodeToString([]byte(o.key[2:]))
			} else {
				row["path_base64"] = nil
			}
			out.Write(append(asJSON(row), '\n'))
		}
		s.Put("l.jsonl", out.Bytes(), written)
		return "mem://shelf/l.jsonl"
	}, columns: map[string]string{}},
	{name: "paths by line", bare: true, put: func(s *shelf, os []object) string {
		s.Put("l.txt", []byte(strings.Join(records1(os, func(o object) string { return "s3://b/" + o.key + "\r\n" }), "")), written)
		return "mem://shelf/l.txt"
	}},
	{name: "relative paths ended by NUL", bare: true, put: func(s *shelf, os []object) string {
		s.Put("l", []byte(strings.Join(records1(os, func(o object) string { return o.key[2:] + "\x00" }), "")), written)
		return "mem://shelf/l"
	}},
	{name: "Parquet of Delta-Spark's schema", put: func(s *shelf, os []object) string {
		type row struct {
			Path             *string `parquet:"path,optional"`
			Length           *int64  `parquet:"length,optional"`
			IsDir            *bool   `parquet:"isDir,optional"`
			ModificationTime *int64  `parquet:"modificationTime,optional"`
		}
		s.Put("l.parquet", asParquet(os, func(o object) row {
			path, dir := "s3://b/"+o.key, false
			return row{&path, &o.size, &dir, &o.ms}
		}), written)
		return "mem://shelf/l.parquet"
	}},
	{name: "Parquet in another order with timestamps", put: func(s *shelf, os []object) string {
		type row struct {
			Modified time.Time `parquet:"last_modified,timestamp(microsecond)"`
			Size     int64     `parquet:"size"`
			Bucket   string    `parquet:"bucket,dict"`
			Key      string    `parquet:"key,delta"`
		}
		s.Put("l.parquet", asParquet(os, func(o object) row { return row{o.time(), o.size, "b", o.key} }), written)
		return "mem://shelf/l.parquet"
	}},
	{name: "a folder of Parquet with times as texts", put: func(s *shelf, os []object) string {
		type row struct {
			Path     string `parquet:"path,dict"`
			Size     string `parquet:"size"`
			Modified string `parquet:"modified"`
		}
		one, two := halves(os)
		for i, part := range [][]object{one, two} {
			s.Put(fmt.Sprintf("folder/%d.parquet", i), asParquet(part, func(o object) row { return row{"s3://b/" + o.key, fmt.Sprint(o.size), o.iso()} }), written)
		}
		return "mem://shelf/folder/"
	}},
	{name: "S3 Inventory as CSV", put: func(s *shelf, os []object) string {
		one, two := halves(os)
		return s.s3Report("CSV", s3Schema, gz(asCSV(',', records(one, s3Record)...)), gz(asCSV(',', records(two, s3Record)...)))
	}},
	{name: "S3 Inventory as Parquet", put: func(s *shelf, os []object) string {
		type row struct {
			Bucket   string  `parquet:"bucket"`
			Key      string  `parquet:"key"`
			Version  *string `parquet:"version_id,optional"`
			Latest   *bool   `parquet:"is_latest,optional"`
			Marker   *bool   `parquet:"is_delete_marker,optional"`
			Size     *int64  `parquet:"size,optional"`
			Modified *int64  `parquet:"last_modified_date,optional,timestamp(millisecond)"`
			ETag     *string `parquet:"e_tag,optional"`
		}
		yes, no, version := true, false, "v"
		make := func(os []object) []byte {
			return asParquet(os, func(o object) row { return row{"b", o.key, &version, &yes, &no, &o.size, &o.ms, nil} })
		}
		one, two := halves(os)
		return s.s3Report("Parquet", "message s3.inventory {}", make(one), make(two))
	}},
	{name: "GCS Storage Insights", scheme: "gs", put: func(s *shelf, os []object) string {
		one, two := halves(os)
		var names []string
		for i, part := range [][]object{one, two} {
			names = append(names, fmt.Sprintf("id_2024-05-06T07:08_%d.csv", i))
			s.Put("gcs/"+names[i], asCSV('|', append([][]string{{"project", "bucket", "name", "size", "timeCreated", "updated", "timeDeleted", "etag"}}, records(part, func(o object) []string {
				return []string{"1", "b", o.key, fmt.Sprint(o.size), o.iso(), o.iso(), "", "CAE="}
			})...)...), written)
		}
		s.Put("gcs/id_2024-05-06T00:00_manifest.json", asJSON(map[string]any{"report_config": map[string]any{"csv_options": map[string]any{"delimiter": "|", "header_required": true}},
			"snapshot_time": written, "shard_count": 2, "records_processed": len(os), "report_shards_file_names": names}), written)
		return "mem://shelf/gcs/id_2024-05-06T00:00_manifest.json"
	}},
	{name: "GCS Storage Insights, the other spelling", scheme: "gs", put: func(s *shelf, os []object) string {
		s.Put("gcs/x/id_0.csv", asCSV(',', records(os, func(o object) []string {
			return []string{"b", o.key, fmt.Sprint(o.size), o.iso()}
		})...), written)
		s.Put("gcs/x/id_manifest.json", asJSON(map[string]any{"reportConfig": map[string]any{"csvOptions": map[string]any{"headerRequired": false},
			"objectMetadataReportOptions": map[string]any{"metadataFields": []string{"bucket", "name", "size", "updated"}}},
			"snapshotTime": written, "shardCount": "1", "recordsProcessed": fmt.Sprint(len(os)), "reportNames": []string{"gs://dest/some/x/id_0.csv"}}), written)
		return "mem://shelf/gcs/x/id_manifest.json"
	}},
	{name: "Azure Blob Inventory", scheme: "az", put: func(s *shelf, os []object) string {
		data := asCSV(',', append([][]string{{"Name", "Creation-Time", "Last-Modified", "Content-Length", "hdi_isfolder", "Deleted", "Snapshot", "VersionId", "IsCurrentVersion"}}, records(os, func(o object) []string {
			return []string{"b/" + o.key, "2001-02-03T00:00:00Z", o.iso(), fmt.Sprint(o.size), "", "", "", "v", "True"}
		})...)...)
		s.Put("2024/05/06/07-08-09/daily/daily_1.csv", data, written)
		manifest := asJSON(map[string]any{"destinationContainer": "inventory", "endpoint": "https://acct.blob.core.windows.net", "status": "Succeeded", "inventoryStartTime": written,
			"files":          []any{map[string]any{"blob": "2024/05/06/07-08-09/daily/daily_1.csv", "size": len(data)}},
			"ruleDefinition": map[string]any{"format": "csv", "objectType": "blob"}, "ruleName": "daily", "summary": map[string]any{"objectCount": len(os)}})
		s.Put("2024/05/06/07-08-09/daily/daily-manifest.json", manifest, written)
		s.Put("2024/05/06/07-08-09/daily/daily-manifest.checksum", []byte(sum(manifest)), written)
		return "mem://shelf/2024/05/06/07-08-09/daily/daily-manifest.json"
	}},
	{name: "a plan", put: func(s *shelf, os []object) string {
		s.Put("plan", verdicts(os, filelist.HeadKey, filelist.Head{Schema: 1, Table: "s3://b/t", Created: written}), written.Add(time.Hour))
		return "mem://shelf/plan"
	}},
	{name: "a list of our own", put: func(s *shelf, os []object) string {
		s.Put("list.parquet", verdicts(os, filelist.ListKey, filelist.ListHead{Schema: 1, Root: "s3://b/t", Taken: written}), written.Add(time.Hour))
		return "mem://shelf/list.parquet"
	}},
}

func records1(os []object, record func(object) string) (out []string) {
	for _, o := range os {
		out = append(out, record(o))
	}
	return out
}

func verdicts(os []object, key string, head any) []byte {
	var out bytes.Buffer
	w := filelist.NewWriter(&out, filelist.Options{RowGroup: 3})
	for _, o := range os {
		if err := w.Append(lake.Verdict{Key: lake.Key(o.key[2:]), Size: o.size, Modified: o.time(), Reason: lake.Orphan}); err != nil {
			panic(err)
		}
	}
	if _, err := w.Close(map[string]string{key: string(asJSON(head))}); err != nil {
		panic(err)
	}
	return out.Bytes()
}

// read returns what a list shows below SCHEME://b/t, sorted.
func (s *shelf) read(ctx context.Context, o Options, scheme string) (out []store.Info, info Info, err error) {
	o.Stores, o.Now, o.Workers = s, now, 3
	r, err := NewResolver([]lake.Root{{Scheme: scheme, Authority: "b", Path: "t"}}, nil)
	if err != nil {
		return nil, Info{}, err
	}
	src, err := Open(ctx, o)
	if err != nil {
		return nil, Info{}, err
	}
	var mu = make(chan struct{}, 1)
	_, err = src.Scan(ctx, r, func(_ int, objects []store.Info) error {
		mu <- struct{}{}
		defer func() { <-mu }()
		for _, o := range objects {
			o.ETag = ""
			out = append(out, o)
		}
		return nil
	})
	slices.SortFunc(out, func(a, b store.Info) int { return strings.Compare(a.Name, b.Name) })
	return out, src.Info(), err
}

func wanted(os []object, bare bool) (out []store.Info) {
	for _, o := range os {
		w := store.Info{Name: o.key[2:], Size: o.size, Modified: o.time()}
		if bare {
			w.Size, w.Modified = -1, time.Time{}
		}
		out = append(out, w)
	}
	slices.SortFunc(out, func(a, b store.Info) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// The same objects give the same rows from every form (B060), also after a
// conversion to a list of our own.
func TestFormsAgree(t *testing.T) {
	os := []object{{"t/plain", 1, 1577836800000}, {"t/year=2023/a+b c%2B.parquet", 0, 1577836800123}, {"t/\"q\",,;é", 1 << 40, 1689000000000}}
	for _, f := range testForms {
		t.Run(f.name, func(t *testing.T) { f.check(t, os) })
		t.Run(f.name+", empty", func(t *testing.T) { f.check(t, nil) })
	}
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.SampledFrom(testForms).Draw(t, "form")
		f.check(t, anyObjects(t, "objects"))
	})
}

func (f testForm) check(t rapid.TB, os []object) {
	s := newShelf()
	scheme := f.scheme
	if scheme == "" {
		scheme = "s3"
	}
	o := Options{Source: f.put(s, os), Columns: f.columns}
	got, info, err := s.read(context.Background(), o, scheme)
	if err != nil {
		t.Fatal(f.name, err, lake.HintOf(err))
	}
	if diff := cmp.Diff(wanted(os, f.bare), got); diff != "" && len(os)+len(got) > 0 {
		t.Fatal(f.name, diff)
	}
	if !info.Taken.Equal(written) {
		t.Fatalf("%s: taken at %v (%s)", f.name, info.Taken, info.TakenFrom)
	}
	s.Put("converted", converted(t, s, o), written.Add(time.Hour))
	again, info, err := s.read(context.Background(), Options{Source: "mem://shelf/converted"}, scheme)
	if err != nil {
		t.Fatal(f.name, err)
	}
	if diff := cmp.Diff(got, again); diff != "" {
		t.Fatalf("%s, converted: %s", f.name, diff)
	}
	if !info.Taken.Equal(written) || info.Kind != "list" {
		t.Fatalf("%s, converted: %+v", f.name, info)
	}
}

func converted(t rapid.TB, s *shelf, o Options) []byte {
	o.Stores, o.Now = s, now
	src, err := Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, _, err := Convert(context.Background(), src, "test", nil, &out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Manifests of GCS have a colon in their names, which makes no URI of a
// relative one.
func TestRelativeSourcesMayHoldColons(t *testing.T) {
	t.Chdir(t.TempDir())
	const name = "lists/5d1f_2020-01-31T00:00_manifest.csv"
	if err := errors.Join(os.Mkdir("lists", 0o755), os.WriteFile(name, []byte("path,size\ns3://b/t/x,1\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	objects, _, _, _ := scan(t, Options{Source: name}, "s3://b/t")
	if len(objects) != 1 {
		t.Errorf("%v", objects)
	}
}
