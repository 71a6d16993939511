package cleanrun

import (
	"context"
	"errors"
	"io/fs"
	"maps"

	"github.com/lakesweep/lakesweep/lock"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table/hudi/cleandoc"
	"github.com/lakesweep/lakesweep/table/hudi/mdt"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// publish writes the plan, if nothing speaks against it now, and returns its
// instant; "" if an earlier run of this plan had published it.
func (r *Run) publish(ctx context.Context, lease lock.Lease) (at string, err error) {
	if err := r.check(ctx); err != nil || r.instant != "" {
		return "", err
	}
	if i, _, err := cleandoc.Pending(ctx, r.t); err != nil || i != nil {
		if err != nil {
			return "", err
		}
		return "", r.stale("the clean %s is pending", i.Time)
	}
	if m, err := r.metadata(ctx); err != nil || m != nil {
		if err == nil {
			err = m.Writable()
		}
		if err != nil {
			return "", err
		}
	}
	plan, err := r.plan()
	if err != nil {
		return "", err
	}
	if at, err = r.freeInstant(ctx); err != nil {
		return "", err
	}
	if r.o.Blobs != nil {
		extra, err := r.o.Blobs.Publish(ctx, at, false)
		if err != nil {
			return "", err
		}
		maps.Copy(plan.Extra, extra)
	}
	data, err := plan.Encode()
	if err != nil {
		return "", err
	}
	if err := lease.Verify(ctx); err != nil {
		return "", err
	}
	if err := r.create(ctx, timeline.Name(r.t.Timeline.Layout, at, timeline.Clean, timeline.Requested, ""), data, false); err != nil {
		return "", err
	}
	r.instant = at
	return at, nil
}

// metadata opens the metadata table, nil if there is none.
func (r *Run) metadata(ctx context.Context) (*mdt.Table, error) {
	if !mdt.Available(r.t.Properties) {
		return nil, nil
	}
	return mdt.Open(ctx, r.t.Reader, mdt.Data{Properties: r.t.Properties, Timeline: r.t.Timeline})
}

// create writes a timeline file.
func (r *Run) create(ctx context.Context, name string, data []byte, mayExist bool) error {
	name = r.t.Timeline.Dir + "/" + name
	err := r.o.Writer.PutIfAbsent(ctx, name, data)
	if errors.Is(err, fs.ErrExist) && mayExist {
		return nil
	}
	if err != nil {
		return store.Fail("write timeline", r.t.Root, name, err)
	}
	return nil
}
