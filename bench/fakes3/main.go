// Command fakes3 serves a made-up S3 bucket on a loopback address: as many
// keys as wanted, computed (hundreds of millions cost no memory) or read from a
// file, a folder of real files over them (a table's log), a latency, and limits
// of requests and of deleted keys as S3 counts them.
//
//	fakes3 -objects 10000000 -layout hive -latency 50ms -rate 3500
//	fakes3 -keys names.txt -overlay TABLE -delete-rate 3500
//
// It is a fake, for load and latency only: it checks no signature.
package main

import (
	"encoding/json"
	"encoding/xml"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

type server struct {
	keys     keys
	size     int64
	modified time.Time // of all keys
	overlay  overlay
	latency  time.Duration
	requests *rate.Limiter
	deletes  *rate.Limiter // a token a key

	mu      sync.RWMutex
	deleted map[string]bool

	lists, gets, puts, deletedKeys, throttled atomic.Int64
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("fakes3: ")
	s := &server{deleted: map[string]bool{}}
	addr := flag.String("addr", "127.0.0.1:9099", "loopback address")
	objects := flag.Int("objects", 1_000_000, "number of computed objects")
	layout := flag.String("layout", "hive", "of the computed objects: hive, random, skew, wide or flat")
	names := flag.String("keys", "", "file of names to serve instead, one a line")
	prefix := flag.String("prefix", "t/", "of every key")
	folder := flag.String("overlay", "", "folder whose files are served too, below the prefix; it takes the writes")
	flag.DurationVar(&s.latency, "latency", 0, "of every request")
	limit := flag.Float64("rate", 0, "requests a second before SlowDown, 0 for no limit")
	deletes := flag.Float64("delete-rate", 0, "deleted keys a second before SlowDown for the rest of a batch, 0 for no limit")
	age := flag.Duration("age", 30*24*time.Hour, "of every object but the overlay's")
	flag.Int64Var(&s.size, "size", 1<<20, "bytes of every object but the overlay's")
	flag.Parse()

	host, _, err := net.SplitHostPort(*addr)
	if err != nil || !net.ParseIP(host).IsLoopback() {
		log.Fatalf("-addr must be a loopback address, got %q", *addr)
	}
	if *names != "" {
		if s.keys, err = readKeys(*names, *prefix); err != nil {
			log.Fatal(err)
		}
	} else {
		name, ok := layouts[*layout]
		if !ok {
			log.Fatalf("unknown layout %q", *layout)
		}
		s.keys = keys{*objects, func(i int) string { return *prefix + name(i, *objects) }}
	}
	s.modified = time.Now().Add(-*age).UTC().Truncate(time.Second)
	s.overlay.folder, s.overlay.prefix = *folder, *prefix
	s.requests, s.deletes = limiter(*limit), limiter(*deletes)
	log.Fatal(http.ListenAndServe(*addr, s))
}

// limiter lets n pass a second, at most a tenth of a second's worth at once.
func limiter(n float64) *rate.Limiter {
	if n <= 0 {
		return rate.NewLimiter(rate.Inf, 0)
	}
	return rate.NewLimiter(rate.Limit(n), max(1, int(n/10)))
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/-/stats" {
		s.stats(w)
		return
	}
	if !s.requests.Allow() {
		s.throttled.Add(1)
		fail(w, http.StatusServiceUnavailable, "SlowDown")
		return
	}
	time.Sleep(s.latency)
	_, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/") // one bucket, whatever its name
	q := r.URL.Query()
	switch {
	case key == "" && r.Method == http.MethodGet && q.Get("list-type") == "2":
		s.list(w, q)
	case key == "" && r.Method == http.MethodGet && q.Has("location"):
		answer(w, `<LocationConstraint xmlns="http://s3.amazonaws.com/doc/2006-03-01/"></LocationConstraint>`)
	case key == "" && r.Method == http.MethodGet && q.Has("versioning"):
		answer(w, `<VersioningConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"></VersioningConfiguration>`)
	case key == "" && r.Method == http.MethodPost && q.Has("delete"):
		s.deleteMany(w, r)
	case key != "" && (r.Method == http.MethodGet || r.Method == http.MethodHead):
		s.get(w, r, key)
	case key != "" && r.Method == http.MethodPut:
		s.put(w, r, key)
	case key != "" && r.Method == http.MethodDelete:
		s.remove(w, r, key)
	default:
		fail(w, http.StatusNotImplemented, "NotImplemented")
	}
}

func (s *server) stats(w http.ResponseWriter) {
	err := json.NewEncoder(w).Encode(map[string]int64{"lists": s.lists.Load(), "gets": s.gets.Load(), "puts": s.puts.Load(),
		"deleted_keys": s.deletedKeys.Load(), "throttled": s.throttled.Load()})
	if err != nil {
		log.Print(err)
	}
}

func answer(w http.ResponseWriter, body string) {
	w.Header().Set("Content-Type", "application/xml")
	if _, err := io.WriteString(w, xml.Header+body); err != nil {
		log.Print(err)
	}
}

func fail(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	if _, err := fmt.Fprintf(w, "%s<Error><Code>%s</Code><Message>%[2]s</Message></Error>", xml.Header, code); err != nil {
		log.Print(err)
	}
}
