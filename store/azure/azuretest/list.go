package azuretest

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// list answers List Blobs.
// Source: Azure Blob Storage REST API, "List Blobs".
func (s *Server) list(w http.ResponseWriter, q url.Values, container string) {
	limit := 5000
	if n, err := strconv.Atoi(q.Get("maxresults")); err == nil {
		limit = min(n, limit)
	}
	prefix, delimiter, start, marker := q.Get("prefix"), q.Get("delimiter"), q.Get("startFrom"), q.Get("marker")
	if s.NoStartFrom {
		start = ""
	}
	versions := strings.Contains(q.Get("include"), "versions")
	found := map[string]string{} // what is listed, and "" or the blob that it is
	for full := range s.blobs {
		name, ok := strings.CutPrefix(full, container+"/")
		b, there := s.current(full)
		if !ok || !there && (!versions || len(s.blobs[full]) == 0) || !strings.HasPrefix(name, prefix) || name < start {
			continue
		}
		path := name
		if b.Directory && s.Hierarchical {
			path += "/"
		}
		if dir, _, folds := strings.Cut(path[min(len(prefix), len(path)):], delimiter); folds && delimiter != "" {
			found[prefix+dir+delimiter] = ""
		} else {
			found[name] = name
		}
	}
	entries := slices.Sorted(maps.Keys(found))
	var x bytes.Buffer
	fmt.Fprintf(&x, "\xef\xbb\xbf<?xml version=\"1.0\" encoding=\"utf-8\"?><EnumerationResults ServiceEndpoint=\"%s\" ContainerName=\"%s\"><Prefix>%s</Prefix><Blobs>", s.URL, container, escape(prefix))
	count, last, next := 0, marker, ""
	for _, entry := range entries {
		if marker != "" && entry <= marker {
			continue
		}
		if count == limit {
			next = last
			break
		}
		if name := found[entry]; name == "" {
			fmt.Fprintf(&x, "<BlobPrefix><Name>%s</Name></BlobPrefix>", escape(entry))
		} else {
			for _, v := range s.blobs[container+"/"+name] {
				if versions || !v.Old {
					blobXML(&x, name, v)
				}
			}
		}
		count, last = count+1, entry
	}
	fmt.Fprintf(&x, "</Blobs><NextMarker>%s</NextMarker></EnumerationResults>", escape(next))
	answer := x.Bytes()
	if s.Cut > 0 {
		answer = answer[:min(s.Cut, len(answer))]
	}
	w.Header().Set("Content-Type", "application/xml")
	_, _ = w.Write(answer) // a client that left
}

func blobXML(x io.Writer, name string, b Blob) {
	fmt.Fprintf(x, "<Blob><Name>%s</Name>", escape(name))
	if b.Version != "" {
		fmt.Fprintf(x, "<VersionId>%s</VersionId><IsCurrentVersion>%v</IsCurrentVersion>", b.Version, !b.Old)
	}
	kind := "file"
	if b.Directory {
		kind = "directory"
	}
	fmt.Fprintf(x, "<Properties><Creation-Time>%s</Creation-Time><Last-Modified>%s</Last-Modified><Etag>%s</Etag><ResourceType>%s</ResourceType><Content-Length>%d</Content-Length><BlobType>BlockBlob</BlobType></Properties>",
		b.Created.Format(http.TimeFormat), b.Modified.Format(http.TimeFormat), b.ETag, kind, len(b.Data))
	if b.Directory {
		fmt.Fprint(x, "<Metadata><hdi_isfolder>true</hdi_isfolder></Metadata>")
	} else {
		fmt.Fprint(x, "<Metadata />")
	}
	fmt.Fprint(x, "<OrMetadata /></Blob>")
}

func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder doesn't fail
	return b.String()
}

// serveBatch answers each part by a request to itself.
func (s *Server) serveBatch(w http.ResponseWriter, r *http.Request) {
	if s.NoBatch {
		fail(w, http.StatusBadRequest, "InvalidInput")
		return
	}
	_, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	body, readErr := io.ReadAll(r.Body)
	if err != nil || readErr != nil {
		fail(w, http.StatusBadRequest, "InvalidInput")
		return
	}
	var x bytes.Buffer
	answers := multipart.NewWriter(&x)
	parts := multipart.NewReader(bytes.NewReader(body), params["boundary"])
	for n := 0; ; n++ {
		part, err := parts.NextPart()
		if err == io.EOF {
			break
		}
		if err != nil || n == 256 {
			fail(w, http.StatusBadRequest, "InvalidInput")
			return
		}
		s.servePart(answers, part)
	}
	_ = answers.Close() // a Buffer doesn't fail
	w.Header().Set("Content-Type", "multipart/mixed; boundary="+answers.Boundary())
	w.WriteHeader(http.StatusAccepted)
	_, _ = w.Write(x.Bytes()) // a client that left
}

func (s *Server) servePart(answers *multipart.Writer, part *multipart.Part) {
	inner := httptest.NewRecorder()
	b := bufio.NewReader(part)
	line, _ := b.ReadString('\n') // what is cut isn't a request
	req, err := http.ReadRequest(bufio.NewReader(io.MultiReader(strings.NewReader(line+"Host: inner\r\n"), b)))
	if err != nil || req.Method != http.MethodDelete {
		fail(inner, http.StatusBadRequest, "InvalidInput")
	} else {
		container, name := split(req.URL)
		s.remove(inner, req, container+"/"+name)
	}
	out, err := answers.CreatePart(textproto.MIMEHeader{"Content-Type": {"application/http"}, "Content-Id": {part.Header.Get("Content-Id")}})
	if err != nil {
		return
	}
	resp := inner.Result()
	fmt.Fprintf(out, "HTTP/1.1 %s\r\n", resp.Status)
	_ = resp.Header.Write(out) // a Buffer doesn't fail
	fmt.Fprintf(out, "Content-Length: %d\r\n\r\n%s\r\n", inner.Body.Len(), inner.Body)
}
