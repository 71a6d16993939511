package store

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/lakesweep/lakesweep/lake"
)

// Sentinels beside those of io/fs.
var (
	ErrChanged     = errors.New("object changed")             // a condition on ETag or generation failed
	ErrThrottled   = errors.New("store asks to slow down")    // 503 SlowDown, 429
	ErrTruncated   = errors.New("answer ended early")         // a page or body was cut
	ErrUnsupported = errors.New("not supported by the store") // the store has no such call
)

// EntryKind is what a listed name stands for.
type EntryKind uint8

// The kinds of entries.
const (
	File    EntryKind = iota
	Dir               // a directory, or a common prefix; its Name has no trailing slash
	Symlink           // never followed
	Marker            // a placeholder for a directory: "p=1/" or hdi_isfolder; its Name has no trailing slash. To the other methods a marker "p=1/" is an object of that name, slash included
	Other             // a device, socket or the like: never a candidate
)

// Info describes one entry. Zero Modified or negative Size mean unknown: local
// directories yield names first (Traits.NamesFirst).
type Info struct {
	Name     string
	Kind     EntryKind
	Size     int64     // bytes
	Modified time.Time // UTC; the younger of creation and modification where a store has both
	ETag     string    // entity tag, or generation on GCS; what Target.IfMatch takes
	Version  string    // version id, only from listings of versions
}

// Listed returns the entry's name as the listing orders it: a Dir and a Marker
// count with their trailing slash. It is what PageRequest.After takes to go on
// after this entry ("p=1-x" comes before the marker "p=1/"), and what
// PageRequest.Prefix takes to list what is in a Dir.
func (i Info) Listed() string {
	if i.Kind == Dir || i.Kind == Marker {
		return i.Name + "/"
	}
	return i.Name
}

// PageRequest asks for one page of a listing. Entries rise strictly in the byte
// order of Info.Listed where Traits.Flat; elsewhere each directory is in an order
// of its own. Nothing there is an empty page, not an error; the placeholder of
// the opened place itself is no entry.
type PageRequest struct {
	Prefix string // only names that begin with it (any bytes, not just a directory)
	After  string // only names greater than it, "" from the start; needs Traits.StartAfter. With Dirs, a Dir that After lies in may come again
	Token  string // goes on with an earlier page of the same request; excludes After. Where not Traits.Flat it serves once
	Dirs   bool   // one level only: names below a further '/' are folded into a Dir entry. Prefix is "" or ends with '/'
	Limit  int    // at most so many entries, 0 for the store's own page size
	// Details asks for size, time and ETag of files also where listings yield names first (Traits.NamesFirst). It costs a system call a file.
	Details bool
	// Versions asks for every version of the names, and for every delete marker, as entries of kind File with a Version; those of one name
	// come together. Needs Traits.Versions; excludes After and Dirs.
	Versions bool
	// Once says that the caller repeats what fails by itself, and wants to know: Retry doesn't repeat it.
	Once bool
}

// Page is a part of a listing. The listing goes on when Next isn't empty. The
// names of a page share one piece of memory: who keeps a few of them clones them.
type Page struct {
	Entries []Info
	Next    string
}

// Traits is what a store can do. Each is fixed for an opened store.
type Traits struct {
	Name        string        // "s3", "local"
	StartAfter  bool          // flat listings can start anywhere
	Flat        bool          // there are flat listings (Dirs false) at all
	NamesFirst  bool          // listings give no size and time; Stat does
	Directories bool          // directories exist by themselves and can be empty
	CaseFolds   bool          // "a" and "A" (or two Unicode forms) may be one object
	PutIfAbsent bool          // PutIfAbsent is atomic and all writers of tables respect it
	IfMatch     bool          // deletes can depend on Target.IfMatch
	ContentTags bool          // an ETag may stay the same when an object is written anew with the same bytes
	Versions    bool          // versions can be listed, and deleted one by one (Target.Version)
	DeleteBatch int           // keys in one delete request, at least 1
	PageSize    int           // entries in a page
	ListRate    float64       // list requests a second that the service takes at least, before it scales; 0 if it states none
	ClockGrain  time.Duration // resolution of Modified
	Resolved    lake.Root     // the real name of the opened place where it is another than the one asked for (a symlink's target); zero if not
}

// Status is the state of a store or bucket. Zero values mean unknown or none.
type Status struct {
	Now        time.Time     // the store's own clock; zero where it can't be read
	Versioned  bool          // deletes leave noncurrent versions that still cost
	SoftDelete time.Duration // deleted objects are held back (and paid for) this long
	Note       string        // what couldn't be found out and which permission it takes; may be empty
}

// Reader reads a store. Safe for concurrent use.
type Reader interface {
	// Stat describes one object; fs.ErrNotExist if there is none. A symlink is described itself.
	Stat(ctx context.Context, name string) (Info, error)
	// Open reads length bytes from offset on, fewer if the object ends before (none if it ends before offset); length -1 reads to the end.
	// The reader reports a body that was cut as an error.
	Open(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error)
	// List returns one page.
	List(ctx context.Context, req PageRequest) (Page, error)
	// Status describes the store as it is now: its clock and what it holds back after deletes.
	Status(ctx context.Context) (Status, error)
	Traits() Traits
}

// Writer changes metadata objects. Safe for concurrent use.
type Writer interface {
	// PutIfAbsent creates an object, whole or not at all; fs.ErrExist if there is one.
	PutIfAbsent(ctx context.Context, name string, data []byte) error
	// Replace writes an object over what is there, whole or not at all. With ifMatch it fails with ErrChanged unless that is the object's ETag.
	Replace(ctx context.Context, name string, data []byte, ifMatch string) (etag string, err error)
	// Remove removes an object; with ifMatch only while that is its ETag.
	Remove(ctx context.Context, name string, ifMatch string) error
}

// Target is an object to delete. With IfMatch it is deleted only while that is
// its ETag, where Traits.IfMatch.
type Target struct {
	Name    string
	IfMatch string
	Version string // deletes this version of the object for good
}

// Outcome is what became of a Target: Err nil for deleted, fs.ErrNotExist for
// one that was already gone (where the store tells), ErrChanged, or another.
type Outcome struct {
	Target Target
	Err    error
}

// Deleter deletes data objects. Safe for concurrent use.
type Deleter interface {
	// Delete deletes at most Traits.DeleteBatch objects and returns an outcome for each target, in order. The error is for the request as a whole.
	Delete(ctx context.Context, targets []Target) ([]Outcome, error)
	// DeleteDir removes a directory if it is empty; fs.ErrExist if it isn't. Never recursive.
	DeleteDir(ctx context.Context, name string) error
	// Copy copies an object to another place of the same kind of store, put-if-absent; for quarantine. ErrUnsupported between kinds.
	Copy(ctx context.Context, name string, to Store, toName string) error
}

// Store is all that a store's folder implements. Only the openers and the
// wrappers see it whole.
type Store interface {
	Reader
	Writer
	Deleter
}

// ReadOnly returns a Reader with s's reading methods and no others.
func ReadOnly(s Reader) Reader { return readOnly{s} }

type readOnly struct{ r Reader }

func (r readOnly) Stat(ctx context.Context, name string) (Info, error) { return r.r.Stat(ctx, name) }

func (r readOnly) Open(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	return r.r.Open(ctx, name, offset, length)
}

func (r readOnly) List(ctx context.Context, req PageRequest) (Page, error) { return r.r.List(ctx, req) }

func (r readOnly) Status(ctx context.Context) (Status, error) { return r.r.Status(ctx) }

func (r readOnly) Traits() Traits { return r.r.Traits() }
