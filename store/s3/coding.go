package s3

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/lakesweep/lakesweep/store"
)

// How a server spells keys in a page that was asked for with
// encoding-type=url and doesn't say whether it is: S3 always says, some servers
// ignore the wish, and some fulfil it without a word.
const (
	codingUnknown int32 = iota
	codingIgnored
	codingSilent
)

// listPage asks for a page and decodes its keys as the server means them.
func (s *Store) listPage(ctx context.Context, in *s3.ListObjectsV2Input) (page, error) {
	d := &pageDeserializer{bodies: s.bucket.bodies, silent: s.bucket.coding.Load() == codingSilent}
	if _, err := s.bucket.ListObjectsV2(ctx, in, d.option); err != nil {
		return page{}, err
	}
	if !d.page.doubtful || s.bucket.coding.Load() != codingUnknown {
		return d.page, nil
	}
	coding, err := s.findCoding(ctx, *in, d.page)
	if err != nil {
		return page{}, err
	}
	s.bucket.coding.Store(coding)
	if coding == codingIgnored {
		return d.page, nil
	}
	return s.listPage(ctx, in)
}

// findCoding asks for the page once more, without encoding, and compares. It
// is called for the first page with a key that would read otherwise if decoded.
//
// Errors: ErrTruncated if the listing changed in between.
func (s *Store) findCoding(ctx context.Context, in s3.ListObjectsV2Input, spelled page) (int32, error) {
	in.EncodingType = ""
	d := &pageDeserializer{bodies: s.bucket.bodies}
	if _, err := s.bucket.ListObjectsV2(ctx, &in, d.option); err != nil {
		return codingUnknown, err
	}
	asIs, decoded := len(d.page.entries) == len(spelled.entries), len(d.page.entries) == len(spelled.entries)
	for i := range spelled.entries {
		if !asIs && !decoded {
			break
		}
		key := spelled.entries[i].Listed()
		plain, err := unquote([]byte(key))
		asIs = asIs && d.page.entries[i].Listed() == key
		decoded = decoded && err == nil && d.page.entries[i].Listed() == string(plain)
	}
	switch {
	case asIs:
		return codingIgnored, nil
	case decoded:
		return codingSilent, nil
	}
	return codingUnknown, fmt.Errorf("the listing changed while it was found out how the server spells keys: %w", store.ErrTruncated)
}
