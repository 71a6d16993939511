package blob

import (
	"sort"
	"strings"

	"github.com/parquet-go/parquet-go/bloom/xxhash"

	"github.com/lakesweep/lakesweep/lake"
)

// mark tells the spellings of one form apart: 24 bits of a keyed fingerprint.
// It finds out whether Options.Exact holds; no blob dies by it.
type mark [3]byte

func markOf(print uint64) mark { return mark{byte(print), byte(print >> 8), byte(print >> 16)} }

// vote is a reference as a ballot compares it: the fingerprint of one of its
// forms, and how it is spelled.
type vote struct {
	print   uint64
	spelled mark
}

// bounds hold every value of a column chunk: none is less than least, and none
// greater than greatest but those that begin with it, as some writers cut
// values short.
type bounds struct{ least, greatest string }

// spellings are the candidates in byte order: what a chunk's bounds and its
// Bloom filter are asked for where no reference spells one otherwise. Read-only
// once all are added.
//
// Memory: 8 bytes a candidate, and mostPosts of text.
type spellings struct {
	posts  []string // each stride-th candidate
	stride int
	size   int        // bytes of posts
	most   int        // bound of size
	hashes [][]uint64 // of all, as Bloom filters hash text: pages of hashPage
	n      int
	last   string
	loose  bool // they didn't come in order, so that nothing can be said
}

const (
	mostPosts = 32 << 20
	postSize  = 16 // of a string beside its text
	hashPage  = 1 << 16
)

func newSpellings() *spellings { return &spellings{stride: 1, most: mostPosts} }

// add enters a candidate. The same may come again right after itself.
func (s *spellings) add(id lake.BlobID) {
	text := string(id)
	if s.n > 0 && text <= s.last {
		s.loose = s.loose || text < s.last
		return
	}
	s.last = strings.Clone(text)
	if s.n%hashPage == 0 {
		s.hashes = append(s.hashes, nil)
	}
	page := &s.hashes[len(s.hashes)-1]
	*page = append(*page, xxhash.Sum64([]byte(text)))
	if s.n%s.stride == 0 {
		s.posts = append(s.posts, s.last)
		if s.size += len(text) + postSize; s.size > s.most {
			s.thin()
		}
	}
	s.n++
}

// thin forgets every second post.
func (s *spellings) thin() {
	kept := make([]string, 0, len(s.posts)/2+1)
	s.size = 0
	for i := 0; i < len(s.posts); i += 2 {
		kept = append(kept, s.posts[i])
		s.size += len(s.posts[i]) + postSize
	}
	s.posts, s.stride = kept, 2*s.stride
}

// within returns the numbers of the candidates that may lie in b, from up to to.
func (s *spellings) within(b bounds) (from, to int) {
	if s.loose {
		return 0, s.n
	}
	low := sort.SearchStrings(s.posts, b.least)
	high := sort.Search(len(s.posts), func(i int) bool { return s.posts[i] > b.greatest && !strings.HasPrefix(s.posts[i], b.greatest) })
	if low > 0 {
		from = (low-1)*s.stride + 1
	}
	return from, min(high*s.stride, s.n)
}

// excludes reports whether no candidate lies in b.
func (s *spellings) excludes(b bounds) bool {
	from, to := s.within(b)
	return from >= to
}

// any reports whether a filter knows one of the candidates from up to to.
func (s *spellings) any(from, to int, f filter) bool {
	for i := from; i < to; i++ {
		if f.has(s.hashes[i/hashPage][i%hashPage]) {
			return true
		}
	}
	return false
}
