// Package together asks at once what doesn't depend on each other.
package together

import "sync"

// Do calls functions that don't depend on each other at once and waits for
// all: each is a request or a few, and most of a small table's plan is
// waiting. Its error is that of the first in order that failed, whichever
// failed first.
func Do(calls ...func() error) error {
	errs := make([]error, len(calls))
	var wg sync.WaitGroup
	for i, call := range calls {
		wg.Go(func() { errs[i] = call() })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
