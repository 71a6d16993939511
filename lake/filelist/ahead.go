package filelist

import (
	"iter"

	"github.com/lakesweep/lakesweep/lake"
)

const (
	aheadRows    = 512 // handed over at once
	aheadBatches = 3   // held at most
)

// ahead yields what rows does, which runs on a goroutine of its own as far as
// some batches ahead: decoding and what becomes of the rows take a core each.
// The goroutine has ended when the loop over the result ends. Batches that were
// read are filled again.
func ahead(rows iter.Seq2[lake.Verdict, error]) iter.Seq2[lake.Verdict, error] {
	return func(yield func(lake.Verdict, error) bool) {
		batches, stop := make(chan []lake.Verdict, aheadBatches), make(chan struct{})
		spent := make(chan []lake.Verdict, aheadBatches)
		var failed error // read after batches is closed
		go func() {
			defer close(batches)
			batch := make([]lake.Verdict, 0, aheadRows)
			for v, err := range rows {
				if err != nil {
					failed = err
					break
				}
				if batch = append(batch, v); len(batch) < aheadRows {
					continue
				}
				select {
				case batches <- batch:
				case <-stop:
					return
				}
				select {
				case batch = <-spent:
				default:
					batch = make([]lake.Verdict, 0, aheadRows)
				}
			}
			select {
			case batches <- batch:
			case <-stop:
			}
		}()
		defer func() {
			close(stop)
			for range batches { // until the goroutine ends
			}
		}()
		for batch := range batches {
			for i := range batch {
				if !yield(batch[i], nil) {
					return
				}
			}
			select {
			case spent <- batch[:0]:
			default:
			}
		}
		if failed != nil {
			yield(lake.Verdict{}, failed)
		}
	}
}
