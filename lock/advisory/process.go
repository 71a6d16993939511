package advisory

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// Process says which process, on which machine, since which of its starts.
type Process struct {
	Host string `json:"host"`
	Boot string `json:"boot,omitempty"` // this start of the machine, and the set of process numbers (a container has its own); "" unknown
	PID  int    `json:"process"`
	Born uint64 `json:"born,omitempty"` // start of the process in ticks since the machine's; numbers are used again. 0 unknown

	// proc is where the machine tells of its processes, "/proc".
	proc string
}

// Self describes the calling process. Where the system has no /proc, Boot and
// Born stay unknown and no holder is ever known to be gone.
func Self() Process { return self("/proc") }

func self(proc string) Process {
	p := Process{PID: os.Getpid(), proc: proc}
	if host, err := os.Hostname(); err == nil {
		p.Host = host
	}
	boot, err := os.ReadFile(proc + "/sys/kernel/random/boot_id")
	if err != nil {
		return p
	}
	numbers, err := os.Readlink(proc + "/self/ns/pid")
	if err != nil {
		return p
	}
	p.Boot = strings.TrimSpace(string(boot)) + " " + numbers
	p.Born, _ = p.born(p.PID)
	return p
}

// knowsGone reports whether other was a process that p could see and that no
// longer runs. Every doubt says no.
func (p Process) knowsGone(other Process) bool {
	if p.Boot == "" || other.Boot != p.Boot || other.Host != p.Host || other.PID <= 0 || other.Born == 0 {
		return false
	}
	born, err := p.born(other.PID)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	return err == nil && born != other.Born
}

// born returns when a process started. A process that ended, and that only its
// parent hasn't asked for yet, doesn't exist.
//
// Source: proc_pid_stat(5), fields 3 and 22; the name in field 2 may hold anything.
func (p Process) born(pid int) (uint64, error) {
	text, err := os.ReadFile(p.proc + "/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, err
	}
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 20 {
		return 0, errors.New("an odd stat of process " + strconv.Itoa(pid))
	}
	if state := fields[0][0]; state == 'Z' || state == 'X' {
		return 0, fs.ErrNotExist
	}
	return strconv.ParseUint(string(fields[19]), 10, 64)
}
