package zookeeper

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lock"
)

// Against a real server: LAKESWEEP_TEST_ZOOKEEPER is its host:port.
func TestOneHolderAtATime(t *testing.T) {
	server := os.Getenv("LAKESWEEP_TEST_ZOOKEEPER")
	if server == "" {
		t.Skip("LAKESWEEP_TEST_ZOOKEEPER names no server")
	}
	ctx := t.Context()
	pauses := 0
	provider := func(meanwhile func()) *Provider {
		return New(Options{Servers: []string{server}, Path: "/hudi/" + t.Name(), Session: 30 * time.Second, Wait: lock.Wait{Attempts: 3, Sleep: func(context.Context, time.Duration) error {
			pauses++
			if meanwhile != nil {
				meanwhile()
			}
			return nil
		}}})
	}
	a, err := provider(nil).Acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Verify(ctx); err != nil {
		t.Error(err)
	}
	if _, err := provider(nil).Acquire(ctx); lake.KindOf(err) != lake.Locked || pauses != 2 {
		t.Errorf("a second holder: %v after %d pauses", err, pauses)
	}
	b, err := provider(func() {
		if err := a.Release(ctx); err != nil {
			t.Error(err)
		}
	}).Acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Verify(ctx); lake.KindOf(err) != lake.Locked {
		t.Errorf("a released lease verifies: %v", err)
	}
	if err := b.Release(ctx); err != nil {
		t.Error(err)
	}
}

func TestNumber(t *testing.T) {
	if number("/hudi/t/_c_0f-lock-0000000007") != "0000000007" || number("_c_ab-lock-0000000010") < number("x-lock-0000000009") {
		t.Error("not Curator's order")
	}
}
