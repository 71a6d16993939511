package cleanplan

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table/hudi/folder"
)

// Verdicts yields the dead files, partition by partition in no order, and fills
// the Summary. To be called once.
//
// Memory: one partition for each worker. The strings of a verdict are parts of
// its partition's listing: who keeps a few of them clones them.
// Errors: those of the store; Damaged, Unsupported. After an error the plan is
// incomplete and must not be used.
func (p *Plan) Verdicts(ctx context.Context) iter.Seq2[lake.Verdict, error] {
	return func(yield func(lake.Verdict, error) bool) {
		if p.Nothing && !p.Config.Orphans {
			return
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		batches, result := make(chan []lake.Verdict), make(chan error, 1)
		spent := make(chan []lake.Verdict, p.t.Options.Workers) // memory of batches that were read
		go func() {
			defer close(batches)
			result <- p.walk(ctx, batches, spent)
		}()
		for batch := range batches {
			for i := range batch {
				if !yield(batch[i], nil) {
					cancel()
					for range batches { //nolint:revive // lets the walk end
					}
					return
				}
			}
			select {
			case spent <- batch[:0]:
			default:
			}
		}
		if err := <-result; err != nil {
			yield(lake.Verdict{}, p.t.Wrap(err))
		}
		slices.Sort(p.Summary.DeadPartitions)
		if left := p.Summary.Left; left > 0 {
			p.Summary.Warnings = append(p.Summary.Warnings, fmt.Sprintf("%d more dead files wait for further cleans: one clean holds %d", left, p.Config.MaxFiles))
		}
	}
}

// walk judges the partitions that are wanted and sends the dead files of each,
// in memory of spent where there is some.
func (p *Plan) walk(ctx context.Context, batches chan<- []lake.Verdict, spent <-chan []lake.Verdict) error {
	var mu sync.Mutex
	requests, err := p.t.Folders.Walk(ctx, p.start, p.descend, func(ctx context.Context, f folder.Partition) error {
		if !p.Config.Wanted(f.Path) {
			return nil
		}
		var room []lake.Verdict
		select {
		case room = <-spent:
		default:
		}
		dead, sum, err := p.judge(ctx, &f, room)
		if err != nil {
			return err
		}
		mu.Lock()
		if p.Summary.Dead > 0 && p.Summary.Dead+sum.Dead > p.Config.MaxFiles {
			sum = sum.leave()
			dead = nil
		}
		p.Summary.add(sum)
		mu.Unlock()
		if len(dead) == 0 {
			return nil
		}
		select {
		case batches <- dead:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	p.Summary.ListRequests += requests
	return err
}
