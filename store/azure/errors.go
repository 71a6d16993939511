package azure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
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
	if answer, ok := errors.AsType[*azcore.ResponseError](err); ok {
		return byCode(answer)
	}
	_, failed := errors.AsType[*azidentity.AuthenticationFailedError](err)
	_, required := errors.AsType[*azidentity.AuthenticationRequiredError](err)
	if failed || required || strings.Contains(err.Error(), "DefaultAzureCredential") {
		return &lake.Error{Kind: lake.Denied, Err: fmt.Errorf("%w: %w", fs.ErrPermission, err),
			Hint: "Run `az login`, or set AZURE_CLIENT_ID and its companions, AZURE_STORAGE_KEY or AZURE_STORAGE_SAS_TOKEN; LAKESWEEP_AZURE_ANONYMOUS=true for public containers."}
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: %w", store.ErrTruncated, err)
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = fmt.Errorf("%s: %w", u.Op, u.Err) // its URL may hold a signature
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok && dns.IsNotFound {
		return &lake.Error{Kind: lake.Invalid, Err: err, Hint: "Check the name of the storage account and the endpoint."}
	}
	if _, network := errors.AsType[net.Error](err); network || errors.Is(err, io.EOF) {
		return &lake.Error{Kind: lake.Transient, Err: err}
	}
	return err
}

// byCode classifies an answer of the service. Codes come first: a status stands
// for several.
// Source: Azure Storage REST API, "Blob Storage error codes" and "Common REST API error codes".
func byCode(err *azcore.ResponseError) error {
	held := func(hint string) error {
		return &lake.Error{Kind: lake.Denied, Err: fmt.Errorf("%w: %w", fs.ErrPermission, err), Hint: hint}
	}
	switch err.ErrorCode {
	case "ContainerNotFound", "ContainerBeingDeleted", "ContainerDisabled", "AccountIsDisabled", "ResourceTypeMismatch", "FilesystemNotFound":
		return &lake.Error{Kind: lake.NotTable, Err: err, Hint: "Check the names of the account and of the container."}
	case "BlobNotFound", "PathNotFound", "ResourceNotFound":
		return fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	case "BlobAlreadyExists", "PathAlreadyExists", "DirectoryIsNotEmpty", "DirectoryNotEmpty":
		return fmt.Errorf("%w: %w", fs.ErrExist, err)
	case "SnapshotsPresent":
		return held("The blob has snapshots; delete those first, or leave it.")
	case "BlobImmutableDueToPolicy", "BlobImmutableDueToLegalHold":
		return held("An immutability policy or a legal hold keeps the blob; it can be deleted when that has passed.")
	case "LeaseIdMissing", "LeaseIdMismatchWithBlobOperation":
		return held("Somebody holds a lease on the blob; break it (`az storage blob lease break`) or leave it.")
	case "ConditionNotMet", "TargetConditionNotMet", "SourceConditionNotMet":
		return fmt.Errorf("%w: %w", store.ErrChanged, err)
	case "ServerBusy", "TooManyRequests":
		return fmt.Errorf("%w: %w", store.ErrThrottled, err)
	case "FeatureNotSupported", "FeatureNotYetSupportedForHierarchicalNamespaceAccounts", "UnsupportedHttpVerb", "UnsupportedHeader", "UnsupportedQueryParameter", "InvalidQueryParameterValue", "OutOfRangeQueryParameterValue":
		return fmt.Errorf("%w: %w", store.ErrUnsupported, err)
	case "InternalError", "OperationTimedOut", "AccountBeingCreated":
		return &lake.Error{Kind: lake.Transient, Err: err}
	}
	switch err.StatusCode {
	case http.StatusNotFound:
		return fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf("%w: %w", fs.ErrPermission, err)
	case http.StatusPreconditionFailed, http.StatusNotModified:
		return fmt.Errorf("%w: %w", store.ErrChanged, err)
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return fmt.Errorf("%w: %w", store.ErrThrottled, err)
	case http.StatusMethodNotAllowed, http.StatusNotImplemented:
		return fmt.Errorf("%w: %w", store.ErrUnsupported, err)
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusInternalServerError, http.StatusBadGateway, http.StatusGatewayTimeout:
		return &lake.Error{Kind: lake.Transient, Err: err}
	}
	return err
}
