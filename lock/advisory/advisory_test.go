package advisory

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/mem"
)

const object = "_delta_log/_lakesweep.lock"

// machine is a store with a clock, on which runs of several machines meet.
type machine struct {
	now time.Time
	st  *mem.Store
}

func newMachine() *machine {
	m := &machine{now: time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)}
	m.st = mem.New(mem.Options{Now: func() time.Time { return m.now }})
	return m
}

func (m *machine) provider(p Process) *Provider {
	return New(m.st, store.Confine(m.st, "_delta_log"), Options{Object: object, Holder: "lakesweep v9", PlanID: "p1", Process: p, Now: func() time.Time { return m.now }})
}

func TestOneHolderAtATime(t *testing.T) {
	m := newMachine()
	lease, err := m.provider(Self()).Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.provider(Process{Host: "other", PID: 1}).Acquire(t.Context())
	if lake.KindOf(err) != lake.Locked {
		t.Fatalf("a second holder: %v", err)
	}
	for _, part := range []string{"lakesweep v9", Self().Host, strconv.Itoa(os.Getpid()), "2026-05-06T07:23:09Z"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error doesn't name %q: %v", part, err)
		}
	}
	if _, err := m.provider(Self()).Acquire(t.Context()); lake.KindOf(err) != lake.Locked {
		t.Errorf("the same process again: %v", err)
	}
	if err := lease.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := m.st.Stat(t.Context(), object); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a released lease leaves its object: %v", err)
	}
	if _, err := m.provider(Process{Host: "other", PID: 1}).Acquire(t.Context()); err != nil {
		t.Errorf("after the release: %v", err)
	}
}

func TestAGoneHolderOfThisMachineIsReplacedAtOnce(t *testing.T) {
	me := Self()
	if me.Boot == "" {
		t.Skip("this system tells nothing of its processes")
	}
	child := exec.CommandContext(t.Context(), "sleep", "1000")
	if err := child.Start(); err != nil {
		t.Skip(err)
	}
	dead := me
	dead.PID = child.Process.Pid
	var err error
	if dead.Born, err = me.born(dead.PID); err != nil {
		t.Fatal(err)
	}
	m := newMachine()
	if _, err := m.provider(dead).Acquire(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := m.provider(me).Acquire(t.Context()); lake.KindOf(err) != lake.Locked {
		t.Fatalf("while the holder runs: %v", err)
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	// A zombie until it is waited for: dead all the same.
	_ = child.Wait()
	if _, err := m.provider(me).Acquire(t.Context()); err != nil {
		t.Errorf("the holder is gone: %v", err)
	}
}

func TestWhoIsKnownToBeGone(t *testing.T) {
	me := Self()
	if me.Boot == "" {
		t.Skip("this system tells nothing of its processes")
	}
	for _, c := range []struct {
		rule string
		set  func(p *Process)
		gone bool
	}{
		{"a running process isn't", func(*Process) {}, false},
		{"a number used again is another process", func(p *Process) { p.Born++ }, true},
		{"a number that nobody has", func(p *Process) { p.PID = 1 << 30 }, true},
		{"another host is out of sight", func(p *Process) { p.PID, p.Host = 1<<30, "other" }, false},
		{"before this start of the machine is out of sight", func(p *Process) { p.PID, p.Boot = 1<<30, "other" }, false},
		{"a holder that knew no start", func(p *Process) { p.PID, p.Born = 1<<30, 0 }, false},
		{"no process", func(p *Process) { p.PID = 0 }, false},
	} {
		other := me
		c.set(&other)
		if got := me.knowsGone(other); got != c.gone {
			t.Errorf("%s: gone %v", c.rule, got)
		}
	}
	blind := me
	blind.proc = t.TempDir()
	if blind.Boot = ""; blind.knowsGone(Process{Host: me.Host, PID: 1 << 30, Born: 1}) {
		t.Error("a system without /proc knows of a process that is gone")
	}
}

// Where a file is created before it is written, as on HDFS, a lease is empty
// for a moment: somebody's all the same, until its writer must have died.
func TestAnEmptyLeaseIsSomebodys(t *testing.T) {
	m := newMachine()
	m.st.Put(object, nil, m.now)
	taken := m.now
	for _, age := range []time.Duration{0, defaultValidity - 1} {
		m.now = taken.Add(age)
		if _, err := m.provider(Self()).Acquire(t.Context()); lake.KindOf(err) != lake.Locked {
			t.Errorf("after %s: %v", age, err)
		}
	}
	m.now = taken.Add(defaultValidity)
	lease, err := m.provider(Self()).Acquire(t.Context())
	if err != nil {
		t.Fatalf("a dead writer's: %v", err)
	}
	if err := lease.Verify(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestALeaseEndsByItsTime(t *testing.T) {
	m := newMachine()
	far := Process{Host: "far", PID: 7}
	lease, err := m.provider(far).Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	m.now = m.now.Add(14 * time.Minute)
	if err := lease.Verify(t.Context()); err != nil { // renews
		t.Fatal(err)
	}
	m.now = m.now.Add(14 * time.Minute)
	if _, err := m.provider(Self()).Acquire(t.Context()); lake.KindOf(err) != lake.Locked {
		t.Fatalf("a renewed lease: %v", err)
	}
	m.now = m.now.Add(time.Minute)
	if _, err := m.provider(Self()).Acquire(t.Context()); err != nil {
		t.Fatalf("an expired lease: %v", err)
	}
	if err := lease.Verify(t.Context()); lake.KindOf(err) != lake.Locked {
		t.Errorf("a lease that another took: %v", err)
	}
	before, err := m.st.Stat(t.Context(), object)
	if err != nil {
		t.Fatal(err)
	}
	if err := lease.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if after, err := m.st.Stat(t.Context(), object); err != nil || after != before {
		t.Errorf("releasing what another holds changed it: %v %v", after, err)
	}
}

func TestALateHolderKeepsWhatNobodyTook(t *testing.T) {
	m := newMachine()
	lease, err := m.provider(Self()).Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	m.now = m.now.Add(time.Hour)
	if err := lease.Verify(t.Context()); err != nil {
		t.Errorf("after a long batch: %v", err)
	}
}

func TestAStrangeObjectIsHeldForAWhile(t *testing.T) {
	for _, body := range []string{"", "{", "null", `{"until":"2999-01-01T00:00:00Z"}`, strings.Repeat(" ", mostBytes) + `{}`} {
		m := newMachine()
		m.st.Put(object, []byte(body), m.now)
		if _, err := m.provider(Self()).Acquire(t.Context()); lake.KindOf(err) != lake.Locked {
			t.Errorf("%.20q: %v", body, err)
		}
		m.now = m.now.Add(defaultValidity)
		if _, err := m.provider(Self()).Acquire(t.Context()); err != nil {
			t.Errorf("%.20q, later: %v", body, err)
		}
	}
}

// overwriting is a store whose put-if-absent heeds no condition, as with some
// S3-like stores, while a rival comes right after.
type overwriting struct {
	*mem.Store
	after func()
}

func (o overwriting) PutIfAbsent(ctx context.Context, name string, data []byte) error {
	if _, err := o.Replace(ctx, name, data, ""); err != nil {
		return err
	}
	if err := o.Remove(ctx, name, ""); err != nil {
		return err
	}
	o.after()
	return nil
}

func TestOfTwoWhoWroteTheLastHoldsIt(t *testing.T) {
	m := newMachine()
	p := m.provider(Self())
	p.w = overwriting{m.st, func() {
		if _, err := m.provider(Process{Host: "rival", PID: 1}).Acquire(t.Context()); err != nil {
			t.Error(err)
		}
	}}
	if _, err := p.Acquire(t.Context()); lake.KindOf(err) != lake.Locked || !strings.Contains(err.Error(), "rival") {
		t.Errorf("both hold the lease: %v", err)
	}
}
