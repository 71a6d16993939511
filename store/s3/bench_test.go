package s3

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
)

// awsPage is a page as S3 writes it for a bucket of today: about 390 bytes a key.
func awsPage(n int) []byte {
	var b bytes.Buffer
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n" + `<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>bench</Name><Prefix>t/</Prefix><NextContinuationToken>1ueGcxLPRx1Tr/XYExHnhbYLgveDs2J/wm36Hy4vbOwM=</NextContinuationToken><KeyCount>` +
		fmt.Sprint(n) + `</KeyCount><MaxKeys>1000</MaxKeys><EncodingType>url</EncodingType><IsTruncated>true</IsTruncated>`)
	for i := range n {
		fmt.Fprintf(&b, `<Contents><Key>t/date%%3D2024-01-%02d/part-%05d-8a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9.c000.snappy.parquet</Key><LastModified>2024-01-02T03:04:%02d.000Z</LastModified><ETag>&quot;d41d8cd98f00b204e9800998ecf8427e&quot;</ETag><ChecksumAlgorithm>CRC64NVME</ChecksumAlgorithm><ChecksumType>FULL_OBJECT</ChecksumType><Size>%d</Size><StorageClass>STANDARD</StorageClass></Contents>`, i%28, i, i%60, 1000000+i)
	}
	b.WriteString("</ListBucketResult>")
	return b.Bytes()
}

func BenchmarkPage(b *testing.B) {
	whole := awsPage(1000)
	buf := make([]byte, len(whole))
	var r pageReader
	b.ReportAllocs()
	b.SetBytes(int64(len(whole)))
	for b.Loop() {
		copy(buf, whole)
		if p, err := r.decode(buf, false); err != nil || len(p.entries) != 1000 {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*1000/b.Elapsed().Seconds(), "keys/s")
}

// BenchmarkList compares whole listings over loopback: our decoder behind the
// SDK, and the SDK's own paginator. Run with -cpu 1; the server takes its share
// of both.
func BenchmarkList(b *testing.B) {
	whole := awsPage(1000)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(len(whole)))
		_, _ = w.Write(whole) // a client that left is seen by the benchmark
	}))
	defer server.Close()
	root, err := lake.ParsePlace("s3://bench/t")
	if err != nil {
		b.Fatal(err)
	}
	s, err := New(Options{Endpoint: server.URL, Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")}).Open(b.Context(), root)
	if err != nil {
		b.Fatal(err)
	}
	rate := func(b *testing.B) { b.ReportMetric(float64(b.N)*1000/b.Elapsed().Seconds(), "keys/s") }
	b.Run("ours", func(b *testing.B) {
		for b.Loop() {
			if page, err := s.List(b.Context(), store.PageRequest{}); err != nil || len(page.Entries) != 1000 {
				b.Fatal(err)
			}
		}
		rate(b)
	})
	b.Run("sdk", func(b *testing.B) {
		client, bucket := s.(*Store).bucket.Client, "bench"
		for b.Loop() {
			if out, err := client.ListObjectsV2(b.Context(), &s3.ListObjectsV2Input{Bucket: &bucket}); err != nil || len(out.Contents) != 1000 {
				b.Fatal(err)
			}
		}
		rate(b)
	})
}
