// Command fakelist serves the listing of a made-up S3 bucket on a loopback
// address: ListObjectsV2 and nothing else, with computed keys (hundreds of
// millions cost no memory), a latency and a request limit.
//
//	fakelist -objects 10000000 -layout hive -latency 50ms -rate 3500
//
// It is a fake, for load and latency only: it checks no signature.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"sort"
	"strconv"
	"strings"
	"time"

	"golang.org/x/time/rate"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:9099", "loopback address")
	objects := flag.Int("objects", 1_000_000, "number of objects")
	layout := flag.String("layout", "hive", "hive, random, skew, wide or flat")
	prefix := flag.String("prefix", "t/", "of every key")
	latency := flag.Duration("latency", 50*time.Millisecond, "of every request")
	limit := flag.Float64("rate", 3500, "requests a second before SlowDown")
	flag.Parse()
	host, _, err := net.SplitHostPort(*addr)
	if err != nil || !net.ParseIP(host).IsLoopback() {
		log.Fatalf("fakelist: -addr must be a loopback address, got %q", *addr)
	}
	name, ok := layouts[*layout]
	if !ok {
		log.Fatalf("fakelist: unknown layout %q", *layout)
	}
	s := &server{n: *objects, latency: *latency, limit: rate.NewLimiter(rate.Limit(*limit), max(1, int(*limit/10))),
		key: func(i int) string { return *prefix + name(i, *objects) }}
	log.Fatal(http.ListenAndServe(*addr, s))
}

// layouts name object i of n, in byte order.
var layouts = map[string]func(i, n int) string{
	"hive": func(i, n int) string {
		h := i * 2400 / n
		return fmt.Sprintf("year=2024/month=%02d/day=%02d/hour=%02d/%s", h/720+1, h/24%30+1, h%24, file(i))
	},
	"random": func(i, n int) string {
		p := uint64(i) << 16 / uint64(n)
		return fmt.Sprintf("%02x/%02x/%s", p>>8, p&0xff, file(i))
	},
	"skew": func(i, n int) string { // nine tenths in one of 100
		switch edge := n / 20; {
		case i < edge:
			return fmt.Sprintf("date=%03d/%s", i*50/edge, file(i))
		case i >= n-edge:
			return fmt.Sprintf("date=%03d/%s", min(99, 51+(i-n+edge)*49/edge), file(i))
		}
		return "date=050/" + file(i)
	},
	"wide": func(i, _ int) string { return fmt.Sprintf("id=%08d/%s", i/50, file(i)) },
	"flat": func(i, _ int) string { return file(i) },
}

func file(i int) string {
	x := uint64(i)*0x9e3779b97f4a7c15 + 1
	x ^= x >> 29
	return fmt.Sprintf("part-%09d-%016x-c000.snappy.parquet", i, x*0xbf58476d1ce4e5b9)
}

type server struct {
	n       int
	key     func(i int) string
	latency time.Duration
	limit   *rate.Limiter
}

const pageKeys = 1000

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/xml")
	if !s.limit.Allow() {
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprint(w, `<?xml version="1.0" encoding="UTF-8"?><Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>`)
		return
	}
	time.Sleep(s.latency)
	q := r.URL.Query()
	if q.Get("list-type") != "2" {
		w.WriteHeader(http.StatusNotImplemented)
		return
	}
	prefix, delimiter, after := q.Get("prefix"), q.Get("delimiter"), q.Get("start-after")
	if t := q.Get("continuation-token"); t != "" {
		after = t
	}
	limit := pageKeys
	if n, err := strconv.Atoi(q.Get("max-keys")); err == nil {
		limit = min(limit, n)
	}
	b := make([]byte, 0, 1<<10+limit*330)
	b = append(b, `<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">`...)
	n, last, more := 0, after, false
	for i := sort.Search(s.n, func(i int) bool { k := s.key(i); return k > after && k >= prefix }); i < s.n; n++ {
		k := s.key(i)
		if !strings.HasPrefix(k, prefix) {
			break
		}
		if more = n == limit; more {
			break
		}
		if end := strings.Index(k[len(prefix):], "/"); delimiter == "/" && end >= 0 {
			dir := k[:len(prefix)+end+1]
			last = dir + "\U0010FFFF"
			i = sort.Search(s.n, func(i int) bool { return s.key(i) > last })
			b = append(append(append(b, "<CommonPrefixes><Prefix>"...), dir...), "</Prefix></CommonPrefixes>"...)
			continue
		}
		last = k
		i++
		b = append(append(append(b, "<Contents><Key>"...), k...),
			`</Key><LastModified>2024-05-06T07:08:09.000Z</LastModified><ETag>&quot;d41d8cd98f00b204e9800998ecf8427e&quot;</ETag><Size>1048576</Size><StorageClass>STANDARD</StorageClass></Contents>`...)
	}
	b = fmt.Appendf(b, "<KeyCount>%d</KeyCount><MaxKeys>%d</MaxKeys><IsTruncated>%t</IsTruncated>", n, limit, more)
	if more {
		b = append(append(append(b, "<NextContinuationToken>"...), last...), "</NextContinuationToken>"...)
	}
	if _, err := w.Write(append(b, "</ListBucketResult>"...)); err != nil {
		log.Print("fakelist: ", err)
	}
}
