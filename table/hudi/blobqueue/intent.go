package blobqueue

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
)

// Intent is the published list of what a drain is deleting.
type Intent struct {
	Time string // instant, in the table's zone
	r    store.Reader
	w    store.Writer
}

// Publish makes an intent durable: from now on writers that ask are told.
func Publish(ctx context.Context, r store.Reader, w store.Writer, at string, data []byte) (*Intent, error) {
	i := &Intent{Time: at, r: r, w: w}
	return i, writeFile(ctx, r, w, i.name(), data)
}

func (i *Intent) name() string { return Dir + "/" + i.Time + intentExt }

// Verify fails if the intent was withdrawn: the drain must end at once.
//
// Errors: Stale.
func (i *Intent) Verify(ctx context.Context) error {
	_, err := i.r.Stat(ctx, i.name())
	if errors.Is(err, fs.ErrNotExist) {
		return &lake.Error{Op: "drain blobs", Kind: lake.Stale, Err: fmt.Errorf("the intent %s was withdrawn", i.name()), Hint: "Run again: the queue is judged anew."}
	}
	return err
}

// End records that nothing more is deleted by the intent. Writes that began
// before keep being told of it until Sweep removes it.
func (i *Intent) End(ctx context.Context, at string) error {
	return writeFile(ctx, i.r, i.w, Dir+"/"+i.Time+"_"+at+endedExt, []byte{})
}
