package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"strings"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
)

// classify wraps an error of the SDK with the sentinel or kind that callers act on.
func classify(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, store.ErrTruncated) {
		return err
	}
	if _, done := errors.AsType[*lake.Error](err); done {
		return err
	}
	status := 0
	if re, ok := errors.AsType[*smithyhttp.ResponseError](err); ok && re.Response != nil && re.Response.Response != nil {
		status = re.HTTPStatusCode()
	}
	if ae, ok := errors.AsType[smithy.APIError](err); ok {
		return byCode(ae.ErrorCode(), status, err)
	}
	if status >= 200 && status < 300 {
		return fmt.Errorf("%w: %w", store.ErrTruncated, err) // the answer was good and its body wasn't
	} else if status != 0 {
		return byCode("", status, err)
	}
	return byTransport(err)
}

// byCode classifies an answer of the server. Codes come first: a status stands
// for several.
// Source: Amazon S3 API Reference, "Error responses", list of error codes.
func byCode(code string, status int, err error) error {
	switch code {
	case "NoSuchKey", "NotFound", "NoSuchVersion":
		return fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	case "NoSuchBucket":
		return &lake.Error{Kind: lake.NotTable, Err: err, Hint: "Check the name of the bucket and the endpoint."}
	case "AccessDenied", "AllAccessDisabled", "AccountProblem", "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken", "TokenRefreshRequired", "InvalidObjectState":
		return denied(err)
	case "SlowDown", "TooManyRequests", "Throttling", "ThrottlingException", "RequestLimitExceeded", "BandwidthLimitExceeded", "ServiceUnavailable", "Busy":
		return fmt.Errorf("%w: %w", store.ErrThrottled, err)
	case "PreconditionFailed":
		return fmt.Errorf("%w: %w", store.ErrChanged, err)
	case "NotImplemented", "MethodNotAllowed", "UnsupportedOperation":
		return fmt.Errorf("%w: %w", store.ErrUnsupported, err)
	case "InternalError", "RequestTimeout", "OperationAborted", "ConditionalRequestConflict", "RequestTimeTooSkewed":
		return &lake.Error{Kind: lake.Transient, Err: err}
	case "PermanentRedirect", "AuthorizationHeaderMalformed", "TemporaryRedirect", "IllegalLocationConstraintException":
		return &lake.Error{Kind: lake.Invalid, Err: err, Hint: "The bucket is in another region: set AWS_REGION to it."}
	}
	if locked(err) {
		return denied(err)
	}
	switch status {
	case http.StatusNotFound:
		return fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	case http.StatusUnauthorized, http.StatusForbidden:
		return denied(err)
	case http.StatusMovedPermanently, http.StatusTemporaryRedirect:
		return &lake.Error{Kind: lake.Invalid, Err: err, Hint: "The bucket is in another region: set AWS_REGION to it."}
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return fmt.Errorf("%w: %w", store.ErrThrottled, err)
	case http.StatusPreconditionFailed:
		return fmt.Errorf("%w: %w", store.ErrChanged, err)
	case http.StatusMethodNotAllowed, http.StatusNotImplemented:
		return fmt.Errorf("%w: %w", store.ErrUnsupported, err)
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusInternalServerError, http.StatusBadGateway, http.StatusGatewayTimeout:
		return &lake.Error{Kind: lake.Transient, Err: err}
	}
	return err
}

// denied tells a missing permission from Object Lock, which answers as one.
func denied(err error) error {
	if !locked(err) {
		return fmt.Errorf("%w: %w", fs.ErrPermission, err)
	}
	return &lake.Error{Kind: lake.Denied, Err: fmt.Errorf("%w: %w", fs.ErrPermission, err),
		Hint: "Object Lock or a legal hold keeps this version; it can be deleted when the retention has passed or the hold is released. lakesweep doesn't bypass it."}
}

// locked reports whether Object Lock or a legal hold refused, which only the
// message tells. S3 says "Access Denied because object protected by object
// lock."; other servers have other codes and words.
func locked(err error) bool {
	api, ok := errors.AsType[smithy.APIError](err)
	if !ok {
		return false
	}
	text := strings.ToLower(api.ErrorMessage())
	return strings.Contains(text, "object lock") || strings.Contains(text, "legal hold") || strings.Contains(text, "worm protected")
}

// byTransport classifies what went wrong before there was an answer, or within it.
func byTransport(err error) error {
	if dns, ok := errors.AsType[*net.DNSError](err); ok && dns.IsNotFound {
		return &lake.Error{Kind: lake.Invalid, Err: err, Hint: "Check the endpoint and the region."}
	}
	// The SDK has no type for "no provider of the chain had credentials".
	if text := err.Error(); strings.Contains(text, "get identity") || strings.Contains(text, "credentials") {
		return &lake.Error{Kind: lake.Denied, Err: fmt.Errorf("%w: %w", fs.ErrPermission, err), Hint: "No AWS credentials were found, or they have run out: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or run `aws sso login`; LAKESWEEP_S3_ANONYMOUS=true for public buckets."}
	}
	_, network := errors.AsType[net.Error](err)
	_, sent := errors.AsType[*smithyhttp.RequestSendError](err)
	_, undecodable := errors.AsType[*smithy.DeserializationError](err)
	if network || sent || undecodable || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return &lake.Error{Kind: lake.Transient, Err: err}
	}
	return err
}
