package together_test

import (
	"errors"
	"testing"

	"github.com/lakesweep/lakesweep/sweep/internal/together"
)

// The second call fails before the first does, and the first's error is told;
// all are waited for.
func TestTheFirstErrorInOrderIsTold(t *testing.T) {
	first, second := errors.New("first"), errors.New("second")
	failed := make(chan struct{})
	third := false
	err := together.Do(
		func() error { <-failed; return first },
		func() error { close(failed); return second },
		func() error { <-failed; third = true; return nil },
	)
	if err != first || !third {
		t.Errorf("got %v, third call ended: %v", err, third)
	}
}
