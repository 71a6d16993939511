package talk

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/report"
)

// Progress is the one model of what goes on; print renders it in its style.
// Safe for concurrent use.
type Progress struct {
	mu     sync.Mutex
	now    func() time.Time
	title  string // the table, in every line
	stages []*stage
	print  func(p *Progress, ticked bool) // without a tick, only what has just ended is news
	talk   *Stream
	stop   chan struct{}
	done   sync.WaitGroup
}

// stage is one part of a run.
type stage struct {
	name           string
	done, expected int64
	began, ended   time.Time
	told           bool // its last line is printed
}

// slowAfter is how long a stage takes before "slow" tells of it.
const slowAfter = 10 * time.Second

// NewProgress starts a renderer: "bar", "plain", "slow" (plain, of stages that
// take 10 seconds and more), "json", or "none".
func NewProgress(t *Stream, style string, now func() time.Time) *Progress {
	p := &Progress{now: now, talk: t, stop: make(chan struct{})}
	every := time.Duration(0)
	switch style {
	case "bar":
		p.print, every = (*Progress).bars, 200*time.Millisecond
	case "plain":
		p.print, every = (*Progress).lines, 10*time.Second
	case "slow":
		p.print, every = (*Progress).slowLines, slowAfter
	case "json":
		p.print, every = (*Progress).rows, time.Second
	default:
		return p
	}
	p.done.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				p.mu.Lock()
				p.print(p, true)
				p.mu.Unlock()
			case <-p.stop:
				return
			}
		}
	})
	return p
}

// Begin starts a run on a table: its stages are new ones.
func (p *Progress) Begin(title string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flush()
	p.title, p.stages = title, nil
}

// Close prints what is still to be said and stops.
func (p *Progress) Close() {
	close(p.stop)
	p.done.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flush()
}

func (p *Progress) flush() {
	if p.print != nil && len(p.stages) > 0 {
		p.print(p, false)
		p.talk.keep()
	}
	p.stages = nil
}

// Observe takes an event of the engine.
func (p *Progress) Observe(e lake.Event) {
	if p.print == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.find(e.Stage)
	s.done, s.expected = max(s.done, e.Done), max(s.expected, e.Expected)
	if e.Finished {
		s.ended = p.now()
		p.print(p, false)
	}
}

// find returns the stage that is under way under a name: a stage that ended
// and comes again is a new one.
func (p *Progress) find(name string) *stage {
	for i := len(p.stages) - 1; i >= 0; i-- {
		if s := p.stages[i]; s.name == name && s.ended.IsZero() {
			return s
		}
	}
	s := &stage{name: name, began: p.now()}
	p.stages = append(p.stages, s)
	return s
}

func (s *stage) seconds(now time.Time) float64 {
	if !s.ended.IsZero() {
		now = s.ended
	}
	return now.Sub(s.began).Seconds()
}

// String tells the stage: done of expected, rate, time left.
func (s *stage) String(now time.Time) string {
	seconds := s.seconds(now)
	text := s.name + ": " + report.Count(s.done)
	if s.expected > 0 && s.ended.IsZero() {
		text += fmt.Sprintf(" of %s (%.0f %%)", report.Count(s.expected), 100*float64(min(s.done, s.expected))/float64(s.expected))
	}
	rate := 0.0
	if seconds > 0.5 {
		rate = float64(s.done) / seconds
		text += ", " + report.Count(int64(rate)) + "/s"
	}
	if !s.ended.IsZero() {
		return text + ", took " + lake.Span(time.Duration(seconds*float64(time.Second)))
	}
	if rate > 0 && s.expected > s.done {
		text += ", " + lake.Span(time.Duration(float64(s.expected-s.done)/rate*float64(time.Second))) + " left"
	}
	return text
}

// bars draws a line a stage, over the lines before.
func (p *Progress) bars(bool) {
	const width = 20
	now := p.now()
	var lines []string
	for _, s := range p.stages {
		filled := 0
		switch {
		case !s.ended.IsZero():
			filled = width
		case s.expected > 0:
			filled = int(min(s.done, s.expected) * width / s.expected)
		}
		lines = append(lines, "["+strings.Repeat("#", filled)+strings.Repeat("-", width-filled)+"] "+report.Printable(p.title)+" "+s.String(now))
	}
	p.talk.draw(lines)
}

// lines prints a line for each stage under way, and one when it has ended.
func (p *Progress) lines(ticked bool) {
	p.each(ticked, func(s *stage, now time.Time) string {
		return "lakesweep: " + report.Printable(p.title) + " " + s.String(now)
	})
}

// slowLines is lines, of stages that took their time.
func (p *Progress) slowLines(ticked bool) {
	now := p.now()
	for _, s := range p.stages {
		if s.seconds(now) < slowAfter.Seconds() {
			s.told = !s.ended.IsZero()
		}
	}
	p.each(ticked, func(s *stage, now time.Time) string {
		return "lakesweep: " + report.Printable(p.title) + " " + s.String(now)
	})
}

// rows prints rows {message_type: "stage"}.
func (p *Progress) rows(ticked bool) {
	p.each(ticked, func(s *stage, now time.Time) string {
		row, err := json.Marshal(struct {
			MessageType string  `json:"message_type"`
			Schema      int     `json:"schema"`
			Table       string  `json:"table,omitempty"`
			Name        string  `json:"name"`
			Done        int64   `json:"done"`
			Expected    int64   `json:"expected"`
			Seconds     float64 `json:"seconds"`
			Finished    bool    `json:"finished,omitempty"`
		}{"stage", report.Schema, p.title, s.name, s.done, s.expected, s.seconds(now), !s.ended.IsZero()})
		if err != nil {
			return `{"message_type":"stage"}` // a title that JSON can't hold doesn't exist: Marshal replaces what isn't UTF-8
		}
		return string(row)
	})
}

func (p *Progress) each(ticked bool, line func(*stage, time.Time) string) {
	now := p.now()
	for _, s := range p.stages {
		ended := !s.ended.IsZero()
		if s.told || !ticked && !ended {
			continue
		}
		s.told = ended
		// As with all talk: when standard error is gone nobody can be told.
		_, _ = p.talk.Write([]byte(line(s, now) + "\n"))
	}
}

// Flushed tells what has ended, before data is printed on the same terminal.
func (p *Progress) Flushed() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flush()
}
