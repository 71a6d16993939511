// Command mkinventory writes an S3 Inventory report of any size, as the store
// lays it out: manifest.json, manifest.checksum and data files as gzip CSV or
// Parquet. Keys and times are computed, so that equal flags give equal rows.
//
//	go run ./bench/mkinventory -rows 10000000 -files 10 -format parquet -out /tmp/inventory
//	go run ./bench/mkinventory -table /tmp/table -live 1000000     a Delta log that names the first million
package main

import (
	"bufio"
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/parquet-go/parquet-go"
)

const (
	bucket = "example-lake"
	prefix = "warehouse/sales/events"
)

type object struct {
	Bucket   string `parquet:"bucket,dict"`
	Key      string `parquet:"key"`
	Version  string `parquet:"version_id"`
	Latest   bool   `parquet:"is_latest"`
	Marker   bool   `parquet:"is_delete_marker"`
	Size     int64  `parquet:"size"`
	Modified int64  `parquet:"last_modified_date,timestamp(millisecond)"`
	ETag     string `parquet:"e_tag"`
	Class    string `parquet:"storage_class,dict"`
}

func main() {
	log.SetFlags(0)
	rows := flag.Int("rows", 1_000_000, "rows of the report")
	files := flag.Int("files", 10, "data files")
	format := flag.String("format", "csv", "csv or parquet")
	out := flag.String("out", "", "folder to write the report to")
	group := flag.Int64("group", 250_000, "rows in a row group of a Parquet file")
	table := flag.String("table", "", "folder to write a table's log to, instead of a report")
	live := flag.Int("live", 0, "rows of a report that the table's log names")
	flag.Parse()
	var err error
	if *table != "" {
		err = tableLog(*table, *live)
	} else {
		err = report(*out, *format, *rows, *files, *group)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// perCommit is how many files a commit of a table's log adds.
const perCommit = 100_000

// tableLog writes a log whose live files are the first objects.
func tableLog(table string, live int) error {
	logs := filepath.Join(table, "_delta_log")
	if err := os.MkdirAll(logs, 0o755); err != nil {
		return err
	}
	for version := 0; version == 0 || version*perCommit < live; version++ {
		var out bytes.Buffer
		if version == 0 {
			out.WriteString(`{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}` + "\n" + `{"metaData":{"id":"5fba94ed-9794-4965-ba6e-6ee3c0d22af9","format":{"provider":"parquet","options":{}},"schemaString":"{\"type\":\"struct\",\"fields\":[{\"name\":\"id\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}}]}","partitionColumns":[],"configuration":{},"createdTime":1420070400000}}` + "\n")
		}
		for i := version * perCommit; i < min((version+1)*perCommit, live); i++ {
			o := objectAt(i)
			path := strings.ReplaceAll(strings.TrimPrefix(o.Key, prefix+"/"), "=", "%3D")
			fmt.Fprintf(&out, `{"add":{"path":%q,"partitionValues":{},"size":%d,"modificationTime":%d,"dataChange":true}}`+"\n", path, o.Size, o.Modified)
		}
		if err := os.WriteFile(filepath.Join(logs, fmt.Sprintf("%020d.json", version)), out.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func report(out, format string, rows, files int, group int64) error {
	taken := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	base := filepath.Join(out, bucket, "daily-"+format)
	at := filepath.Join(base, taken.Format("2006-01-02T15-04Z"))
	if err := errors.Join(os.MkdirAll(filepath.Join(base, "data"), 0o755), os.MkdirAll(at, 0o755)); err != nil {
		return err
	}
	type entry struct {
		Key  string `json:"key"`
		Size int64  `json:"size"`
		MD5  string `json:"MD5checksum"`
	}
	var entries []entry
	for f := range files {
		name := fmt.Sprintf("%08x.%s", f, map[string]string{"csv": "csv.gz", "parquet": "parquet"}[format])
		size, sum, err := dataFile(filepath.Join(base, "data", name), format, f*rows/files, (f+1)*rows/files, group)
		if err != nil {
			return err
		}
		entries = append(entries, entry{Key: bucket + "/daily-" + format + "/data/" + name, Size: size, MD5: sum})
	}
	manifest, err := json.MarshalIndent(map[string]any{
		"sourceBucket": bucket, "destinationBucket": "arn:aws:s3:::example-inventory", "version": "2016-11-30",
		"creationTimestamp": strconv.FormatInt(taken.UnixMilli(), 10), "fileFormat": map[string]string{"csv": "CSV", "parquet": "Parquet"}[format],
		"fileSchema": "Bucket, Key, VersionId, IsLatest, IsDeleteMarker, Size, LastModifiedDate, ETag, StorageClass", "files": entries,
	}, "", "  ")
	if err != nil {
		return err
	}
	sum := md5.Sum(manifest)
	return errors.Join(os.WriteFile(filepath.Join(at, "manifest.json"), manifest, 0o644),
		os.WriteFile(filepath.Join(at, "manifest.checksum"), []byte(hex.EncodeToString(sum[:])), 0o644))
}

func dataFile(name, format string, from, to int, group int64) (size int64, sum string, err error) {
	f, err := os.Create(name)
	if err != nil {
		return 0, "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	hash := md5.New()
	buffered := bufio.NewWriterSize(io.MultiWriter(f, hash), 1<<20)
	if format == "parquet" {
		err = asParquet(buffered, from, to, group)
	} else {
		err = asCSV(buffered, from, to)
	}
	if err = errors.Join(err, buffered.Flush()); err != nil {
		return 0, "", err
	}
	size, err = f.Seek(0, io.SeekCurrent)
	return size, hex.EncodeToString(hash.Sum(nil)), err
}

func asParquet(out io.Writer, from, to int, group int64) error {
	w := parquet.NewGenericWriter[object](out, parquet.Compression(&parquet.Snappy), parquet.MaxRowsPerRowGroup(group))
	batch := make([]object, 0, 1000)
	for i := from; i < to; i++ {
		if batch = append(batch, objectAt(i)); len(batch) == cap(batch) || i == to-1 {
			if _, err := w.Write(batch); err != nil {
				return err
			}
			batch = batch[:0]
		}
	}
	return w.Close()
}

func asCSV(out io.Writer, from, to int) error {
	z, err := gzip.NewWriterLevel(out, gzip.DefaultCompression)
	if err != nil {
		return err
	}
	for i := from; i < to; i++ {
		o := objectAt(i)
		key := strings.ReplaceAll(url.QueryEscape(o.Key), "%2F", "/")
		if _, err := fmt.Fprintf(z, "\"%s\",\"%s\",\"%s\",\"%t\",\"%t\",\"%d\",\"%s\",\"%s\",\"%s\"\n", o.Bucket, key, o.Version, o.Latest, o.Marker, o.Size,
			time.UnixMilli(o.Modified).UTC().Format("2006-01-02T15:04:05.000Z"), o.ETag, o.Class); err != nil {
			return err
		}
	}
	return z.Close()
}

// objectAt computes the i-th object, in key order.
func objectAt(i int) object {
	hour := i / 3000
	when := time.Date(2015, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(hour) * time.Hour)
	sum := md5.Sum(strconv.AppendInt(nil, int64(i), 10))
	id := hex.EncodeToString(sum[:])
	return object{Bucket: bucket, Key: fmt.Sprintf("%s/%s/part-%05d-%s-%s-%s-%s-%s.c000.snappy.parquet", prefix, when.Format("year=2006/month=01/day=02/hour=15"), i%3000, id[:8], id[8:12], id[12:16], id[16:20], id[20:]),
		Latest: true, Size: 1_000_000 + int64(sum[0])*4096, Modified: when.UnixMilli() + int64(i%3000)*1000, ETag: id, Class: "STANDARD"}
}
