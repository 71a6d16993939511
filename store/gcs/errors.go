package gcs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"strings"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"google.golang.org/api/googleapi"
)

// classify wraps an error of a call with the sentinel or kind that callers act on.
func classify(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if _, done := errors.AsType[*lake.Error](err); done {
		return err
	}
	if answer, ok := errors.AsType[*googleapi.Error](err); ok {
		return byStatus(answer, err)
	}
	_, garbled := errors.AsType[*json.SyntaxError](err)
	if garbled || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: %w", store.ErrTruncated, err)
	}
	// The libraries have no one type for credentials that are missing or expired.
	if text := err.Error(); strings.Contains(text, "could not find default credentials") || strings.Contains(text, "oauth2") || strings.Contains(text, "impersonate:") {
		return &lake.Error{Kind: lake.Denied, Err: fmt.Errorf("%w: %w", fs.ErrPermission, err),
			Hint: "Run `gcloud auth application-default login`, or set GOOGLE_APPLICATION_CREDENTIALS; LAKESWEEP_GCS_ANONYMOUS=true for public buckets."}
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok && dns.IsNotFound {
		return &lake.Error{Kind: lake.Invalid, Err: err, Hint: "Check the endpoint."}
	}
	if _, network := errors.AsType[net.Error](err); network || errors.Is(err, io.EOF) {
		return &lake.Error{Kind: lake.Transient, Err: err}
	}
	return err
}

// byStatus classifies an answer of the server.
// Source: Cloud Storage documentation, "HTTP status and error codes for JSON".
func byStatus(answer *googleapi.Error, err error) error {
	switch code := answer.Code; code {
	case http.StatusNotFound, http.StatusGone:
		if strings.Contains(answer.Message, "bucket does not exist") {
			return &lake.Error{Kind: lake.NotTable, Err: err, Hint: "Check the name of the bucket."}
		}
		return fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	case http.StatusUnauthorized, http.StatusForbidden:
		return denied(answer, err)
	case http.StatusPreconditionFailed:
		return fmt.Errorf("%w: %w", store.ErrChanged, err)
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return fmt.Errorf("%w: %w", store.ErrThrottled, err)
	case http.StatusNotImplemented, http.StatusMethodNotAllowed:
		return fmt.Errorf("%w: %w", store.ErrUnsupported, err)
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusInternalServerError, http.StatusBadGateway, http.StatusGatewayTimeout:
		return &lake.Error{Kind: lake.Transient, Err: err}
	}
	return err
}

// denied tells a missing permission from what no permission helps against.
func denied(answer *googleapi.Error, err error) error {
	hint := ""
	for _, e := range answer.Errors {
		switch e.Reason {
		case "rateLimitExceeded", "userRateLimitExceeded":
			return fmt.Errorf("%w: %w", store.ErrThrottled, err)
		case "retentionPolicyNotMet":
			hint = "The bucket's or the object's retention holds it; it can be deleted when that has passed."
		case "objectUnderActiveHold":
			hint = "The object is under a hold; release it (`gcloud storage objects update --no-temporary-hold --no-event-based-hold`) or leave it."
		}
	}
	if text := strings.ToLower(answer.Message); hint == "" && strings.Contains(text, "hold and cannot be deleted") {
		hint = "The object is under a hold; release it (`gcloud storage objects update --no-temporary-hold --no-event-based-hold`) or leave it."
	} else if hint == "" && strings.Contains(text, "retention") {
		hint = "The bucket's or the object's retention holds it; it can be deleted when that has passed."
	}
	if hint == "" {
		return fmt.Errorf("%w: %w", fs.ErrPermission, err)
	}
	return &lake.Error{Kind: lake.Denied, Err: fmt.Errorf("%w: %w", fs.ErrPermission, err), Hint: hint}
}
