package gcs

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"

	"github.com/lakesweep/lakesweep/store"
	"google.golang.org/api/googleapi"
)

// maxAnswer is the most that is read of a batch's answer, in bytes.
const maxAnswer = 4 << 20

// deleteBatch sends one batch and sets the outcomes. An error means that the
// batch as a whole failed; objects may be gone all the same.
// Source: Cloud Storage documentation, "Batch requests".
func (s *Store) deleteBatch(ctx context.Context, outcomes []store.Outcome) error {
	var buf bytes.Buffer
	w := multipart.NewWriter(&buf)
	waiting := make(map[int]bool, len(outcomes))
	for i := range outcomes {
		t := outcomes[i].Target
		key, err := s.key(t.Name)
		if err != nil {
			outcomes[i].Err = s.fail("delete", t.Name, err)
			continue
		}
		query, err := s.conditions(t)
		if err != nil {
			outcomes[i].Err = s.fail("delete", t.Name, err)
			continue
		}
		part, err := w.CreatePart(textproto.MIMEHeader{"Content-Type": {"application/http"}, "Content-Id": {fmt.Sprintf("<lakesweep+%d>", i)}})
		if err != nil {
			return err
		}
		target := s.objectPath(key)
		if len(query) > 0 {
			target += "?" + query.Encode()
		}
		if _, err := fmt.Fprintf(part, "DELETE %s HTTP/1.1\r\nContent-Length: 0\r\n\r\n", target); err != nil {
			return err
		}
		waiting[i] = true
	}
	if err := w.Close(); err != nil {
		return err
	}
	if len(waiting) == 0 {
		return nil
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.host+"/batch/storage/v1", &buf)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "multipart/mixed; boundary="+w.Boundary())
	resp, err := s.http.Do(req)
	if err != nil {
		return err
	}
	err = s.answers(resp, outcomes, waiting)
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return err
	}
	for i := range waiting {
		outcomes[i].Err = s.fail("delete", outcomes[i].Target.Name, fmt.Errorf("no answer for the object: %w", store.ErrTruncated))
	}
	return nil
}

// answers reads the parts of a batch's answer, each into its outcome, and
// takes it off waiting. What an answer that is cut leaves waiting wasn't answered.
func (s *Store) answers(resp *http.Response, outcomes []store.Outcome, waiting map[int]bool) error {
	if err := googleapi.CheckResponse(resp); err != nil {
		return err
	}
	kind, params, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil || !strings.HasPrefix(kind, "multipart/") || params["boundary"] == "" {
		return fmt.Errorf("a batch was answered by %q: %w", resp.Header.Get("Content-Type"), store.ErrTruncated)
	}
	parts := multipart.NewReader(io.LimitReader(resp.Body, maxAnswer), params["boundary"])
	for {
		part, err := parts.NextRawPart()
		if err != nil {
			return nil // the end, or a cut: what is still waiting wasn't answered
		}
		i, ok := partOf(part.Header.Get("Content-Id"))
		if !ok || !waiting[i] {
			continue
		}
		inner, err := http.ReadResponse(bufio.NewReader(part), &http.Request{Method: http.MethodDelete})
		if err != nil {
			continue
		}
		err = googleapi.CheckResponse(inner)
		if closeErr := inner.Body.Close(); err == nil && closeErr != nil {
			continue
		}
		delete(waiting, i)
		outcomes[i].Err = s.fail("delete", outcomes[i].Target.Name, err)
	}
}

// partOf reads the number out of "<response-lakesweep+12>".
func partOf(id string) (int, bool) {
	rest, ok := strings.CutPrefix(strings.Trim(id, "<>"), "response-lakesweep+")
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(rest)
	return n, err == nil && n >= 0
}
