package talk

import (
	"bytes"
	"io"
	"sync"
)

// Stream is standard error shared by the log, the progress and prompts: it wipes
// the bar off the terminal before a line of theirs. Safe for concurrent use.
type Stream struct {
	mu   sync.Mutex
	w    io.Writer
	bars int // lines of the bar on the terminal
}

// New returns a Stream over standard error.
func New(w io.Writer) *Stream { return &Stream{w: w} }

// Write writes lines.
func (t *Stream) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wipe()
	return t.w.Write(p)
}

// draw replaces the bar. Nobody can be told when standard error is gone.
func (t *Stream) draw(lines []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wipe()
	var b bytes.Buffer
	for _, l := range lines {
		b.WriteString(l + "\n")
	}
	_, _ = t.w.Write(b.Bytes())
	t.bars = len(lines)
}

// keep leaves the bar as it stands.
func (t *Stream) keep() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.bars = 0
}

// Beside returns a writer of data that shares the terminal: the bar is wiped off
// before data is written, and comes again below it.
func (t *Stream) Beside(w io.Writer) io.Writer { return beside{t, w} }

type beside struct {
	t *Stream
	w io.Writer
}

func (b beside) Write(p []byte) (int, error) {
	b.t.mu.Lock()
	defer b.t.mu.Unlock()
	b.t.wipe()
	return b.w.Write(p)
}

func (t *Stream) wipe() {
	for ; t.bars > 0; t.bars-- {
		_, _ = io.WriteString(t.w, "\x1b[1A\x1b[2K") // up one line, clear it
	}
}
