package s3

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/lakesweep/lakesweep/store"
)

const (
	maxCopy  = 5 << 30 // the largest object that CopyObject takes
	copyPart = 1 << 30
)

// copyInParts copies an object that is too large for one CopyObject. An upload
// that can't be completed is aborted.
func (s *Store) copyInParts(ctx context.Context, src *Store, from string, info store.Info, key string) error {
	o, k, sk := s.bucket.opt, s.bucket.key, src.bucket.key
	create := &s3.CreateMultipartUploadInput{Bucket: &s.bucket.name, Key: &key, RequestPayer: s.payer(), ServerSideEncryption: types.ServerSideEncryption(o.SSE),
		SSECustomerAlgorithm: k.algorithm, SSECustomerKey: k.key, SSECustomerKeyMD5: k.md5}
	if o.KMSKey != "" {
		create.SSEKMSKeyId = &o.KMSKey
	}
	up, err := s.bucket.CreateMultipartUpload(ctx, create)
	if err != nil {
		return err
	}
	var parts []types.CompletedPart
	for offset := int64(0); offset < info.Size; offset += copyPart {
		n := aws.Int32(int32(len(parts) + 1))
		out, err := s.bucket.UploadPartCopy(ctx, &s3.UploadPartCopyInput{Bucket: &s.bucket.name, Key: &key, UploadId: up.UploadId, PartNumber: n,
			CopySource: source(src.bucket.name, from), CopySourceIfMatch: &info.ETag, RequestPayer: s.payer(),
			CopySourceRange:                aws.String(fmt.Sprintf("bytes=%d-%d", offset, min(offset+copyPart, info.Size)-1)),
			CopySourceSSECustomerAlgorithm: sk.algorithm, CopySourceSSECustomerKey: sk.key, CopySourceSSECustomerKeyMD5: sk.md5,
			SSECustomerAlgorithm: k.algorithm, SSECustomerKey: k.key, SSECustomerKeyMD5: k.md5})
		if err == nil && (out.CopyPartResult == nil || out.CopyPartResult.ETag == nil) {
			err = fmt.Errorf("no ETag for part %d: %w", *n, store.ErrTruncated)
		}
		if err != nil {
			return errors.Join(err, s.abort(ctx, key, up.UploadId))
		}
		parts = append(parts, types.CompletedPart{PartNumber: n, ETag: out.CopyPartResult.ETag})
	}
	_, err = s.bucket.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{Bucket: &s.bucket.name, Key: &key, UploadId: up.UploadId,
		IfNoneMatch: aws.String("*"), MultipartUpload: &types.CompletedMultipartUpload{Parts: parts}, RequestPayer: s.payer(),
		SSECustomerAlgorithm: k.algorithm, SSECustomerKey: k.key, SSECustomerKeyMD5: k.md5})
	if err != nil {
		return errors.Join(err, s.abort(ctx, key, up.UploadId))
	}
	return nil
}

// abort gives an upload up, also after the context ended.
func (s *Store) abort(ctx context.Context, key string, upload *string) error {
	_, err := s.bucket.AbortMultipartUpload(context.WithoutCancel(ctx), &s3.AbortMultipartUploadInput{Bucket: &s.bucket.name, Key: &key, UploadId: upload, RequestPayer: s.payer()})
	return err
}
