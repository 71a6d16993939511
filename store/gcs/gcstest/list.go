package gcstest

import (
	"bufio"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// list answers objects.list.
// Source: Cloud Storage documentation, JSON API, "Objects: list".
func (s *Server) list(w http.ResponseWriter, r *http.Request, bucket string) {
	q := r.URL.Query()
	limit := 1000
	if n, err := strconv.Atoi(q.Get("maxResults")); err == nil {
		limit = min(n, limit)
	}
	prefix, delimiter, start, token := q.Get("prefix"), q.Get("delimiter"), q.Get("startOffset"), q.Get("pageToken")
	var names []string
	for full := range s.objects {
		if name, ok := strings.CutPrefix(full, bucket+"/"); ok && strings.HasPrefix(name, prefix) && name >= start {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	answer := struct {
		Items         []map[string]any `json:"items,omitempty"`
		Prefixes      []string         `json:"prefixes,omitempty"`
		NextPageToken string           `json:"nextPageToken,omitempty"`
	}{}
	last := token
	for _, name := range names {
		dir, _, folds := strings.Cut(name[len(prefix):], delimiter)
		if folds = folds && delimiter != ""; folds {
			dir = prefix + dir + delimiter
		} else {
			dir = name
		}
		if token != "" && dir <= token || folds && len(answer.Prefixes) > 0 && answer.Prefixes[len(answer.Prefixes)-1] == dir {
			continue
		}
		if len(answer.Items)+len(answer.Prefixes) == limit {
			answer.NextPageToken = last
			break
		}
		if folds {
			answer.Prefixes = append(answer.Prefixes, dir)
		} else {
			answer.Items = append(answer.Items, metadata(name, s.objects[bucket+"/"+name]))
		}
		last = dir
	}
	reply(w, answer)
}

func unescape(s string) string {
	u, err := url.PathUnescape(s)
	if err != nil {
		return s
	}
	return u
}

// readRequest reads a part of a batch, whose request line comes without the
// host that HTTP/1.1 demands.
func readRequest(r io.Reader) (*http.Request, error) {
	b := bufio.NewReader(r)
	line, err := b.ReadString('\n')
	if err != nil {
		return nil, err
	}
	return http.ReadRequest(bufio.NewReader(io.MultiReader(strings.NewReader(line+"Host: inner\r\n"), b)))
}
