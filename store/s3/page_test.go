package s3

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/lakesweep/lakesweep/store"
)

// oracle is the slow, obvious decoder.
type oracle struct {
	XMLName  xml.Name `xml:"ListBucketResult"`
	Contents []struct {
		Key, ETag          string
		LastModified, Size []string // of several the last counts, and each must be one
	}
	CommonPrefixes        []struct{ Prefix string }
	IsTruncated           string
	NextContinuationToken string
	KeyCount              []string // an empty one is no number; none is fine
	EncodingType          []string // keys are encoded if any says so
}

// byOracle decodes a page as encoding/xml does; ok is false where the page is
// one that the scanner must refuse.
func byOracle(b []byte) (p page, ok bool, err error) {
	var o oracle
	if err := xml.Unmarshal(b, &o); err != nil {
		return page{}, false, err
	}
	key := func(s string) string {
		if !slices.Contains(o.EncodingType, "url") {
			return s
		}
		s, err = url.QueryUnescape(s)
		return s
	}
	p = page{truncated: o.IsTruncated == "true", next: o.NextContinuationToken}
	ok = o.IsTruncated == "true" && p.next != "" || o.IsTruncated == "false"
	for i, text := range o.KeyCount {
		n, e := strconv.ParseInt(text, 10, 64)
		last := i == len(o.KeyCount)-1
		ok = ok && e == nil && (!last || n < 0 || n == int64(len(o.Contents)+len(o.CommonPrefixes)))
	}
	for _, c := range o.Contents {
		info := store.Info{Name: key(c.Key), ETag: c.ETag}
		ok = ok && err == nil && info.Name != "" && len(c.Size) > 0
		for _, text := range c.Size {
			var e error
			info.Size, e = strconv.ParseInt(text, 10, 64)
			ok = ok && e == nil && strings.Trim(text, "0123456789") == "" && info.Size/10 <= 1<<58 // far more than S3 stores
		}
		for _, text := range c.LastModified {
			var e error
			info.Modified, e = time.Parse(time.RFC3339Nano, text)
			ok = ok && e == nil
		}
		info.Modified = info.Modified.UTC()
		ok = ok && !info.Modified.IsZero()
		if dir, marker := strings.CutSuffix(info.Name, "/"); marker {
			info.Name, info.Kind = dir, store.Marker
		}
		p.entries = append(p.entries, info)
	}
	for _, c := range o.CommonPrefixes {
		dir, isDir := strings.CutSuffix(key(c.Prefix), "/")
		ok = ok && err == nil && isDir
		p.entries = append(p.entries, store.Info{Name: dir, Kind: store.Dir, Size: -1})
	}
	return p, ok, nil
}

func compare(t *testing.T, b []byte) {
	t.Helper()
	want, ok, oracleErr := byOracle(b)
	var r pageReader
	got, err := r.decode(bytes.Clone(b), false)
	got.doubtful = false // TestKeysAreReadAsTheServerMeansThem looks at it
	if err != nil && !errors.Is(err, store.ErrTruncated) {
		t.Fatalf("%q: %v can't be retried", b, err)
	}
	if oracleErr != nil {
		if strings.Contains(oracleErr.Error(), "unexpected EOF") && err == nil {
			t.Fatalf("%q: cut, and accepted", b)
		}
		return
	}
	if !ok {
		if err == nil {
			t.Fatalf("%q: accepted %+v", b, got)
		}
		return
	}
	if err != nil {
		t.Fatalf("%q: %v", b, err)
	}
	// Prefixes come where they stand in the answer; the oracle has them last.
	var files, dirs []store.Info
	for _, e := range got.entries {
		if e.Kind == store.Dir {
			dirs = append(dirs, e)
		} else {
			files = append(files, e)
		}
	}
	got.entries = append(files, dirs...)
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(page{})); diff != "" {
		t.Fatalf("%q: %s", b, diff)
	}
}

// render writes a page as S3 and its likes write it, with the odd turns that
// XML allows.
func render(rng *rand.Rand, n int, urlCoding bool) []byte {
	var b bytes.Buffer
	alphabet := []string{"a", "/", "%", "+", " ", "&", "<", ">", "\"", "'", "é", "日", "😀", "]]>", "=", "\n", "\r", "\t", "~"}
	key := func(end string) string {
		s := ""
		for range 1 + rng.IntN(9) {
			s += alphabet[rng.IntN(len(alphabet))]
		}
		return s + end
	}
	text := func(s string) string {
		if rng.IntN(5) == 0 && !strings.Contains(s, "]]>") {
			return "<![CDATA[" + s + "]]>"
		}
		var e bytes.Buffer
		_ = xml.EscapeText(&e, []byte(s)) // a buffer doesn't fail
		return e.String()
	}
	name := func(s string) string {
		if urlCoding {
			s = strings.ReplaceAll(url.QueryEscape(s), "%2F", "/")
		}
		return text(s)
	}
	plain := rng.IntN(2) == 0 // one object like the other
	noise := func() string {
		if plain {
			return ""
		}
		return []string{"", "", "\n  ", "<!-- a <Key>x</Key> -->", "<?pi <a> ?>", "<Owner><ID>1</ID><DisplayName/></Owner>", "<RestoreStatus a='>' b=\"/>\"><X><Key>no</Key></X></RestoreStatus>", "<Empty />"}[rng.IntN(8)]
	}
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n" + `<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">`)
	coding := ""
	if urlCoding {
		coding = "<EncodingType>url</EncodingType>"
	}
	first := rng.IntN(2) == 0
	if first {
		b.WriteString(coding)
	}
	fmt.Fprintf(&b, "<Name>b</Name>%s<Prefix>t/</Prefix><KeyCount>%d</KeyCount><MaxKeys>1000</MaxKeys>", noise(), n)
	more := rng.IntN(2) == 0
	fmt.Fprintf(&b, "<IsTruncated>%t</IsTruncated>", more)
	if more {
		b.WriteString("<NextContinuationToken>" + text(key("")) + "</NextContinuationToken>")
	}
	for range n {
		if rng.IntN(6) == 0 {
			fmt.Fprintf(&b, "%s<CommonPrefixes>%s<Prefix>%s</Prefix></CommonPrefixes>", noise(), noise(), name(key("/")))
			continue
		}
		at := time.Unix(rng.Int64N(2e9), rng.Int64N(1000)*1e6).UTC()
		form := []string{"2006-01-02T15:04:05.000Z", "2006-01-02T15:04:05Z", "2006-01-02T15:04:05.000000+00:00"}[rng.IntN(3)]
		fmt.Fprintf(&b, "<Contents>%s<Key>%s</Key><LastModified>%s</LastModified><ETag>&quot;%x&quot;</ETag>%s<ChecksumAlgorithm>CRC64NVME</ChecksumAlgorithm><Size>%d</Size><StorageClass>STANDARD</StorageClass></Contents>",
			noise(), name(key("")), at.Format(form), rng.Uint64(), noise(), rng.Int64N(1<<40))
	}
	if !first {
		b.WriteString(coding)
	}
	b.WriteString(noise() + "</ListBucketResult>")
	return b.Bytes()
}

func TestPagesDecodeAsByEncodingXML(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for i := range 3000 {
		compare(t, render(rng, rng.IntN(12), i%2 == 0))
	}
}

func TestEveryCutPageIsRefused(t *testing.T) {
	whole := render(rand.New(rand.NewPCG(1, 2)), 6, true)
	for n := range len(whole) {
		var r pageReader
		if p, err := r.decode(bytes.Clone(whole[:n]), false); !errors.Is(err, store.ErrTruncated) {
			t.Fatalf("cut at %d of %d: %+v, %v", n, len(whole), p, err)
		}
	}
}

func TestPagesThatAreRefused(t *testing.T) {
	object := "<Contents><Key>k</Key><LastModified>2026-01-02T03:04:05.000Z</LastModified><ETag>e</ETag><Size>1</Size></Contents>"
	for what, body := range map[string]string{
		"no IsTruncated":         object,
		"no token to go on":      "<IsTruncated>true</IsTruncated>" + object,
		"a wrong KeyCount":       "<IsTruncated>false</IsTruncated><KeyCount>2</KeyCount>" + object,
		"an empty KeyCount":      "<IsTruncated>false</IsTruncated><KeyCount></KeyCount>" + object,
		"an unreadable KeyCount": "<IsTruncated>false</IsTruncated><KeyCount>x</KeyCount>" + object,
		"an object without key":  "<IsTruncated>false</IsTruncated>" + strings.Replace(object, "<Key>k</Key>", "", 1),
		"an object without size": "<IsTruncated>false</IsTruncated>" + strings.Replace(object, "<Size>1</Size>", "", 1),
		"a bad time":             "<IsTruncated>false</IsTruncated>" + strings.Replace(object, "2026-01-02T03", "2026-13-02T03", 1),
		"a negative size":        "<IsTruncated>false</IsTruncated>" + strings.Replace(object, "<Size>1", "<Size>-1", 1),
		"an unknown entity":      "<IsTruncated>false</IsTruncated>" + strings.Replace(object, ">k<", ">&k;<", 1),
		"a bad escape":           "<IsTruncated>false</IsTruncated><EncodingType>url</EncodingType>" + strings.Replace(object, ">k<", ">%4<", 1),
		"a prefix without slash": "<IsTruncated>false</IsTruncated><CommonPrefixes><Prefix>a</Prefix></CommonPrefixes>",
		"crossed elements":       "<IsTruncated>false</IsTruncated><Contents><Key>k</Size></Key></Contents>",
	} {
		var r pageReader
		p, err := r.decode([]byte("<ListBucketResult>"+body+"</ListBucketResult>"), false)
		if !errors.Is(err, store.ErrTruncated) {
			t.Errorf("%s: %+v, %v", what, p, err)
		}
	}
	var r pageReader
	if _, err := r.decode([]byte("<Error><Code>SlowDown</Code></Error>"), false); err == nil {
		t.Error("an error document is a page")
	}
}

func TestKeysAreDecodedOnlyWhenTheAnswerSaysSo(t *testing.T) {
	for coding, want := range map[string]string{"": "a%20b+c", "<EncodingType>url</EncodingType>": "a b c"} {
		var r pageReader
		p, err := r.decode([]byte("<ListBucketResult><Contents><Key>a%20b+c</Key><LastModified>2026-01-02T03:04:05Z</LastModified><Size>0</Size></Contents><IsTruncated>false</IsTruncated>"+coding+"</ListBucketResult>"), false)
		if err != nil || p.entries[0].Name != want {
			t.Errorf("%q: %+v, %v", coding, p, err)
		}
	}
}

// What may stand twice, or under an odd name, is read as by encoding/xml too.
func TestOddPagesDecodeAsByEncodingXML(t *testing.T) {
	const object = "<Contents><Key>a%20b</Key><LastModified>2026-01-02T03:04:05.000Z</LastModified><ETag>e</ETag><Size>1</Size></Contents>"
	for _, body := range []string{
		strings.Replace(object, "<Key>", "<Key>x</Key><Key>", 1),
		strings.Replace(object, "<Size>", "<Size>2</Size><Size>", 1),
		strings.Replace(object, "<Size>", "<Size>x</Size><Size>", 1),
		strings.Replace(object, "<Size>1", "<Size>9000000000000000000", 1),
		strings.Replace(object, "<Size>1", "<Size>2882303761517117449", 1),
		strings.Replace(object, "<LastModified>", "<LastModified>x</LastModified><LastModified>", 1),
		strings.ReplaceAll(object, "ETag>", ":ETag>"),
		strings.ReplaceAll(object, "ETag>", "a:ETag>"),
		strings.ReplaceAll(object, "ETag>", "a:b:ETag>"),
		strings.ReplaceAll(object, "ETag>", "::ETag>"),
		object + "<KeyCount>x</KeyCount><KeyCount>1</KeyCount>",
		object + "<KeyCount>2</KeyCount><KeyCount>1</KeyCount>",
		object + "<EncodingType>url</EncodingType><EncodingType>none</EncodingType>",
		"<IsTruncated>true</IsTruncated>" + object,
	} {
		compare(t, []byte("<ListBucketResult>"+body+"<IsTruncated>false</IsTruncated></ListBucketResult>"))
	}
}

func FuzzPage(f *testing.F) {
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range 6 {
		f.Add(render(rng, i, i%2 == 0))
	}
	f.Add([]byte("<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>"))
	f.Add([]byte("<a:ListBucketResult xmlns:a='x'><a:IsTruncated>fal<!-- -->se</a:IsTruncated></a:ListBucketResult>"))
	f.Add([]byte("<ListBucketResult><Contents><Key>&#x1F600;&#10;\r\n</Key></Contents></ListBucketResult>"))
	f.Fuzz(compare)
}

// TestObjectsThatDifferFromTheOneBefore puts every kind of object after every
// other one, and between two that are alike.
func TestObjectsThatDifferFromTheOneBefore(t *testing.T) {
	const when = "<LastModified>2024-01-02T03:04:05.000Z</LastModified>"
	objects := []string{
		"<Key>a</Key>" + when + "<ETag>&quot;e&quot;</ETag><Size>1</Size><StorageClass>STANDARD</StorageClass>",
		"<Key>b</Key>" + when + "<ETag>\"f\"</ETag><Size>2</Size><StorageClass>GLACIER</StorageClass>",
		"<Key>c&amp;d</Key>" + when + "<ETag>&quot;&quot;</ETag><Size>3</Size><StorageClass></StorageClass>",
		"<Key>d</Key>" + when + "<ETag>&quot;&lt;&quot;</ETag><Size>4</Size><StorageClass>a&amp;b</StorageClass>",
		"<Key>e</Key>" + when + "<ETag>&quot;</ETag><Size>5</Size><StorageClass>S</StorageClass>",
		when + "<Key>f</Key><Size>6</Size>",
		"<Key><![CDATA[g]]></Key>" + when + "<Size>7</Size>",
		"<Key>h</Key><Key>i</Key>" + when + "<Size>8</Size>",
		"<Key>j</Key>" + when + "<Owner><ID>x</ID></Owner><Size>9</Size>",
		"<Key a='b'>k</Key>" + when + "<Size>10</Size>",
		"<Key>l\r\nm</Key>" + when + "<Size>11</Size>",
		"<Key>n</Key>" + when + "<ETag/><Size>12</Size>",
		"<Key>o</Key>" + when + "<Size></Size>",   // no size
		"<Key>p</Key>" + when + "<Size>1x</Size>", // no number
		"<Key></Key>" + when + "<Size>13</Size>",  // no name
		"<Key>q</Key><Size>14</Size>",             // no time
	}
	for _, a := range objects {
		for _, b := range objects {
			var page bytes.Buffer
			page.WriteString("<ListBucketResult><IsTruncated>false</IsTruncated>")
			for _, o := range []string{a, a, b, a, b, b} {
				page.WriteString("<Contents>" + o + "</Contents>")
			}
			page.WriteString("</ListBucketResult>")
			compare(t, page.Bytes())
			compare(t, page.Bytes()[:page.Len()-40])
		}
	}
}
