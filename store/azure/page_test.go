package azure

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"
)

// standard is a List Blobs answer as encoding/xml reads it. Of an element that
// stands several times the last counts.
type standard struct {
	XMLName xml.Name `xml:"EnumerationResults"`
	Blobs   struct {
		Blob []struct {
			Name       string
			VersionID  string `xml:"VersionId"`
			Properties []struct {
				Etag []string
				Size []string `xml:"Content-Length"` // an empty one says nothing
			}
		}
		BlobPrefix []struct{ Name string }
	}
	NextMarker string
}

func render(n int, rng *rand.Rand) []byte {
	var b bytes.Buffer
	b.WriteString("\xef\xbb\xbf<?xml version=\"1.0\" encoding=\"utf-8\"?><EnumerationResults ServiceEndpoint=\"https://a.blob.core.windows.net/\" ContainerName=\"c\"><Prefix>t/</Prefix><MaxResults>5000</MaxResults><Blobs>")
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for i := range n {
		name := fmt.Sprintf("t/day=2026-01-%02d/part-%05d-c000.snappy.parquet", 1+i%28, i)
		if rng.IntN(10) == 0 {
			name = fmt.Sprintf("t/ä & <%d> \"日\" '%%'", i)
		}
		b.WriteString("<Blob><Name>")
		_ = xml.EscapeText(&b, []byte(name)) // a Buffer doesn't fail
		fmt.Fprintf(&b, "</Name><Properties><Creation-Time>%[1]s</Creation-Time><Last-Modified>%[1]s</Last-Modified><Etag>0x8DC%09X</Etag><Content-Length>%[3]d</Content-Length><Content-Type>application/octet-stream</Content-Type><Content-Encoding /><Content-Language /><Content-CRC64>AAAAAAAAAAA=</Content-CRC64><Content-MD5 /><Cache-Control /><Content-Disposition /><BlobType>BlockBlob</BlobType><AccessTier>Hot</AccessTier><AccessTierInferred>true</AccessTierInferred><LeaseStatus>unlocked</LeaseStatus><LeaseState>available</LeaseState><ServerEncrypted>true</ServerEncrypted></Properties><Metadata /><OrMetadata /></Blob>",
			at.Add(time.Duration(i/3)*time.Second).Format("Mon, 02 Jan 2006 15:04:05 GMT"), i, rng.Int64N(1<<40))
	}
	b.WriteString("</Blobs><NextMarker>2!76!x</NextMarker></EnumerationResults>")
	return b.Bytes()
}

// agree compares a decoded page with what encoding/xml reads of the same bytes.
func agree(t *testing.T, p page, want standard) {
	t.Helper()
	var blobs, prefixes int
	for _, e := range p.entries {
		if e.prefix {
			if prefixes >= len(want.Blobs.BlobPrefix) || e.name != want.Blobs.BlobPrefix[prefixes].Name {
				t.Fatalf("prefix %q", e.name)
			}
			prefixes++
			continue
		}
		if blobs >= len(want.Blobs.Blob) {
			t.Fatalf("too many blobs")
		}
		b := want.Blobs.Blob[blobs]
		etag, size := "", "-1"
		for _, p := range b.Properties {
			for _, text := range p.Etag {
				etag = text
			}
			for _, text := range p.Size {
				size = cmp.Or(text, size)
			}
		}
		if n, err := strconv.ParseInt(size, 10, 64); err != nil || e.name != b.Name || e.etag != etag || e.version != b.VersionID || e.size != n {
			t.Fatalf("%+v, want %+v", e, b)
		}
		blobs++
	}
	if blobs != len(want.Blobs.Blob) || prefixes != len(want.Blobs.BlobPrefix) || p.next != want.NextMarker {
		t.Fatalf("%d blobs, %d prefixes, next %q", blobs, prefixes, p.next)
	}
}

func TestPagesAgreeWithTheStandardDecoder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var r reader
	for _, n := range []int{0, 1, 7, 200} {
		doc := render(n, rng)
		var want standard
		if err := xml.Unmarshal(bytes.TrimPrefix(doc, []byte("\xef\xbb\xbf")), &want); err != nil {
			t.Fatal(err)
		}
		p, err := r.decode(doc)
		if err != nil {
			t.Fatal(err)
		}
		agree(t, p, want)
	}
}

func FuzzPage(f *testing.F) {
	f.Add(render(2, rand.New(rand.NewPCG(1, 2))))
	f.Add([]byte(`<EnumerationResults><Blobs><BlobPrefix><Name>a/</Name></BlobPrefix><Blob><Name Encoded="true">a%EF%BF%BEb</Name><Snapshot>x</Snapshot><Properties><Last-Modified>Fri, 02 Jan 2026 03:04:05 GMT</Last-Modified><Content-Length>1</Content-Length><ResourceType>directory</ResourceType></Properties><Metadata><Hdi_IsFolder>TRUE</Hdi_IsFolder></Metadata></Blob></Blobs><NextMarker/></EnumerationResults>`))
	f.Add([]byte(`<EnumerationResults><Blobs/><NextMarker></NextMarker></EnumerationResults>`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		var want standard
		stdErr := xml.Unmarshal(bytes.TrimPrefix(doc, []byte("\xef\xbb\xbf")), &want)
		var r reader
		// Where both read a document, they agree; encoding/xml knows nothing of encoded names.
		p, err := r.decode(bytes.Clone(doc))
		if err != nil || stdErr != nil || bytes.Contains(doc, []byte("Encoded")) {
			return
		}
		agree(t, p, want)
	})
}

func BenchmarkPage(b *testing.B) {
	doc := render(5000, rand.New(rand.NewPCG(1, 2)))
	work := make([]byte, len(doc))
	var r reader
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		copy(work, doc)
		if p, err := r.decode(work); err != nil || len(p.entries) != 5000 {
			b.Fatal(err)
		}
	}
	b.ReportMetric(5000*float64(b.N)/b.Elapsed().Seconds(), "keys/s")
}
