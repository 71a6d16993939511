package report

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
)

// Plan is what is printed of a plan.
type Plan struct {
	Head  filelist.Head
	Rows  iter.Seq2[lake.Verdict, error] // ranged over once, as far as needed
	First string                         // the first line of the text: "DRY RUN: nothing was deleted"
	Last  string                         // its last line
	Next  []string                       // commands that go on from here

	Oldest, Youngest time.Time // when the dead files were written; zero if unknown
}

// Refused reports whether a guard refused.
func (p Plan) Refused() bool {
	return slices.ContainsFunc(p.Head.Guards, func(g filelist.Guard) bool { return g.Outcome == filelist.Refused })
}

// summaryRow is the row {message_type: "summary"} of a plan.
type summaryRow struct {
	MessageType string     `json:"message_type"`
	Schema      int        `json:"schema"`
	DryRun      bool       `json:"dry_run"`
	Table       string     `json:"table"`
	Format      string     `json:"format"`
	Version     *int64     `json:"version,omitempty"`
	Instant     string     `json:"instant,omitempty"`
	Mode        string     `json:"mode"`
	ModeWhy     string     `json:"mode_why,omitempty"`
	Where       string     `json:"where,omitempty"`
	Source      string     `json:"source,omitempty"`
	Cutoff      *string    `json:"cutoff"`
	Refused     bool       `json:"refused,omitempty"`
	Guards      []guardRow `json:"guards,omitempty"` // in a JSON document; rows of their own in JSON lines
	filelist.Totals
	PlanID string `json:"plan_id"`
}

func (p *Printer) summary(plan Plan) summaryRow {
	h := plan.Head
	s := summaryRow{MessageType: "summary", Schema: Schema, DryRun: true, Table: h.Table, Format: h.Format, Version: h.Version,
		Instant: h.Instant, Mode: h.Mode, ModeWhy: h.ModeWhy, Where: h.Where, Source: h.Source, Cutoff: stamp(h.Cutoff),
		Refused: plan.Refused(), Totals: h.Totals, PlanID: h.PlanID}
	if s.ByReason == nil {
		s.ByReason = map[string]filelist.Count{}
	}
	if cost, ok := p.opt.Prices.Requests(h.Totals); ok {
		s.EstimatedCost = &cost
	}
	if saving, ok := p.opt.Prices.Saving(h.Totals); ok {
		s.MonthlySaving = &saving
	}
	return s
}

// Plan prints a plan. Of a refused plan, Paths and CSV print nothing.
//
// Errors: those of the rows and of the writer. The output is then marked as
// incomplete where its form allows it.
func (p *Printer) Plan(plan Plan) error {
	refused := plan.Refused()
	if refused && (p.opt.Format == Paths || p.opt.Format == CSV) {
		return nil
	}
	if p.opt.Format == Text {
		if err := p.planHead(plan); err != nil {
			return err
		}
	}
	s, err := p.begin("files", fileColumns(), 20)
	if err != nil {
		return err
	}
	rowsErr := p.planRows(plan, s, refused)
	guards := make([]guardRow, len(plan.Head.Guards))
	for i, g := range plan.Head.Guards {
		guards[i] = guardRow{"guard", Schema, "", g}
		if p.opt.Many {
			guards[i].Table = plan.Head.Table
		}
	}
	var summary any
	if rowsErr == nil || p.opt.Format == JSON {
		row := p.summary(plan)
		if p.opt.Format == JSON {
			row.Guards = guards
		}
		summary = row
	}
	if p.opt.Format == JSONL {
		for _, g := range guards {
			if err := p.objectLine(g); err != nil {
				return err
			}
		}
	}
	text := func() error { return p.planFoot(plan, s) }
	if rowsErr != nil {
		text = nil
	}
	if err := s.end(summary, text, rowsErr != nil); err != nil {
		return err
	}
	return rowsErr
}

func (p *Printer) planRows(plan Plan, s *stream, refused bool) error {
	var v lake.Verdict // in these two each row is printed
	var r fileRow
	for next, err := range plan.Rows {
		if err != nil {
			return err
		}
		v = next
		r.set(plan.Head.Table, p.opt.Many, refused, &v)
		if err := s.add(&r); err != nil {
			return err
		}
		if s.full() {
			return nil
		}
	}
	return nil
}

func (p *Printer) planHead(plan Plan) error {
	h := plan.Head
	at := h.Instant
	if h.Version != nil {
		at = fmt.Sprintf("version %d", *h.Version)
	}
	mode := h.Mode
	if h.ModeWhy != "" {
		mode += " (" + h.ModeWhy + ")"
	}
	lines := [][2]string{{"table", Printable(h.Table)}, {"format", strings.TrimSuffix(h.Format+", "+at, ", ")}, {"mode", mode}}
	if !h.Cutoff.IsZero() {
		cutoff := h.Cutoff.UTC().Format(time.RFC3339)
		if h.Evidence.Retain > 0 {
			cutoff += ", " + lake.Hours(h.Evidence.Retain) + " back"
		}
		if h.Format == "delta" && h.Evidence.RetainTable > 0 {
			cutoff += "; the table keeps " + lake.Hours(h.Evidence.RetainTable)
		}
		lines = append(lines, [2]string{"cutoff", cutoff})
	}
	if h.Where != "" {
		lines = append(lines, [2]string{"where", Printable(h.Where)})
	}
	if h.Source != "" {
		source := Printable(h.Source)
		if h.Evidence.InventoryAge > 0 {
			source += ", " + lake.Span(h.Evidence.InventoryAge) + " old"
		}
		lines = append(lines, [2]string{"inventory", source})
	}
	if plan.First != "" {
		if err := p.printf("%s\n", plan.First); err != nil {
			return err
		}
	}
	return p.facts(lines)
}

func (p *Printer) planFoot(plan Plan, s *stream) error {
	t := plan.Head.Totals
	if more := t.Dead + t.DeadDirectories - s.shown; more > 0 {
		if err := p.printf("  … and %s more: -v shows all, -o paths lists them\n", Count(more)); err != nil {
			return err
		}
	}
	dead := Plural(t.Dead, "file") + ", " + Bytes(t.DeadBytes)
	if t.DeadDirectories > 0 {
		dead += "; " + Plural(t.DeadDirectories, "empty directory")
	}
	if t.Dead == 0 && t.TooYoung > 0 {
		dead += ": " + Count(t.TooYoung) + " younger than the cutoff"
	}
	kept := Count(t.Protected) + " protected"
	if live := t.ProtectedLive; live != nil {
		kept += " (" + Count(*live) + " live, " + Count(t.Protected-*live) + " for history)"
	}
	kept += ", " + Count(t.TooYoung) + " too young"
	for _, k := range []struct {
		n    int64
		what string
	}{{t.KeptUnknown, "of unknown partition"}, {t.Unmatched, "outside WHERE"}, {t.Foreign, "of other tables"}} {
		if k.n > 0 {
			kept += ", " + Count(k.n) + " " + k.what
		}
	}
	lines := [][2]string{{"candidates", Count(t.Candidates)}, {"kept", kept}, {"dead", p.bold(dead)}}
	for _, reason := range sortedReasons(t.ByReason) {
		c := t.ByReason[reason]
		lines = append(lines, [2]string{"", padRight(reason, 16) + pad(Count(c.Objects), 11) + "  " + pad(Bytes(c.Bytes), 11)})
	}
	if !plan.Oldest.IsZero() && !p.opt.Now.IsZero() {
		lines = append(lines, [2]string{"age of dead", lake.Span(p.opt.Now.Sub(plan.Youngest)) + " to " + lake.Span(p.opt.Now.Sub(plan.Oldest)) + " since they were written"})
	}
	lines = append(lines, blobLines(t.Blobs)...)
	requests := Count(t.ListRequests) + " to list, " + Count(t.DeleteRequests) + " to delete"
	if cost, ok := p.opt.Prices.Requests(t); ok {
		requests += ", " + dollars(cost)
	}
	lines = append(lines, [2]string{"requests", requests})
	if saving, ok := p.opt.Prices.Saving(t); ok {
		lines = append(lines, [2]string{"saves", dollars(saving) + " a month"})
	}
	lines = append(lines, [2]string{"took", lake.Span(time.Duration(t.Seconds * float64(time.Second)))})
	lines = append(lines, p.guardLines(plan.Head.Guards)...)
	for _, next := range plan.Next {
		lines = append(lines, [2]string{"next", next})
	}
	if err := p.facts(lines); err != nil {
		return err
	}
	if plan.Last == "" {
		return nil
	}
	return p.printf("%s\n", plan.Last)
}

// keptShown is how many kept blobs of each kind the text names.
const keptShown = 3

// blobLines say what became of the external blobs that lost a reference.
func blobLines(b *filelist.Blobs) [][2]string {
	if b == nil {
		return nil
	}
	some := func(list ...any) (text string) {
		for i := 0; i < len(list); i += 2 {
			if n, ok := list[i].(int64); ok && n > 0 {
				text += fmt.Sprintf(", %s %s", Count(n), list[i+1])
			}
		}
		return strings.TrimPrefix(text, ", ")
	}
	listed := some(b.Unreferenced, "that nothing refers to", b.Pending, "that a write in flight refers to", b.Undecided, "undecided")
	kept := some(b.Referenced, "still referred to", b.OutsideRoots, "below no --blob-root", b.InsideTable, "in the table's own folders", b.OddSpelling, "of doubtful spelling")
	looked := some(b.Files.Expired, "dead files", b.Files.Groups, "files beside them", b.Files.Rest, "elsewhere", b.Files.Remembered, "known from the ledger", b.Files.RuledOut, "ruled out by statistics", b.Files.Read, "read", b.Files.Unread, "that can't be read")
	lines := [][2]string{{"blobs", Count(b.Candidates) + " lost a reference, in the columns " + Printable(strings.Join(b.Columns, ", "))}}
	for _, l := range [][2]string{{"to queue: ", listed}, {"kept: ", kept}, {"waiting: ", some(b.Queued, "in the queue", b.Due, "due")}, {"looked in: ", looked}} {
		if l[1] != "" {
			lines = append(lines, [2]string{"", l[0] + l[1]})
		}
	}
	shown := map[string]int{}
	for _, k := range b.Kept {
		if shown[k.Why]++; shown[k.Why] > keptShown {
			continue
		}
		by := ""
		if k.By != "" {
			by = " by " + k.By
		}
		lines = append(lines, [2]string{"", "kept " + Printable(k.Blob) + ": " + strings.ReplaceAll(k.Why, "_", " ") + Printable(by)})
	}
	return lines
}

// guardLines counts the guards that passed and spells out the others.
func (p *Printer) guardLines(guards []filelist.Guard) [][2]string {
	passed := int64(0)
	var lines [][2]string
	for _, g := range guards {
		if g.Outcome == filelist.Passed {
			passed++
			continue
		}
		fix := g.Fix
		if g.Outcome == filelist.Overridden {
			fix = ""
		}
		lines = append(lines, [2]string{"", p.paint(g.Outcome, judged(g, fix))})
	}
	return slices.Concat([][2]string{{"guards", Count(passed) + " passed"}}, lines)
}

// judged is a guard's line: outcome, code, detail and, as a sentence of its own, the fix.
func judged(g filelist.Guard, fix string) string {
	detail := strings.TrimSuffix(Printable(g.Detail), ".")
	if detail != "" {
		detail = ": " + detail
	}
	if fix != "" {
		detail += ". " + Printable(fix)
	}
	return string(g.Outcome) + " " + g.Code + detail
}

// facts prints names and values in two columns.
func (p *Printer) facts(lines [][2]string) error {
	for _, l := range lines {
		if err := p.printf("%s %s\n", padRight(l[0], 12), l[1]); err != nil {
			return err
		}
	}
	return nil
}

func (p *Printer) bold(s string) string {
	if !p.opt.Color {
		return s
	}
	return "\x1b[1m" + s + "\x1b[0m"
}

func (p *Printer) paint(o filelist.Outcome, s string) string {
	colour := map[filelist.Outcome]string{filelist.Refused: "31", filelist.Overridden: "31", filelist.Warned: "33"}[o]
	if !p.opt.Color || colour == "" {
		return s
	}
	return "\x1b[" + colour + "m" + s + "\x1b[0m"
}

// sortedReasons orders reasons by their objects, most first.
func sortedReasons(by map[string]filelist.Count) []string {
	var reasons []string
	for r := range by {
		reasons = append(reasons, r)
	}
	slices.SortFunc(reasons, func(a, b string) int {
		if by[a].Objects != by[b].Objects {
			return int(min(max(by[b].Objects-by[a].Objects, -1), 1))
		}
		return strings.Compare(a, b)
	})
	return reasons
}

func dollars(f float64) string {
	switch {
	case f >= 0.01 || f == 0:
		return fmt.Sprintf("$%.2f", f)
	case f < 0.00001:
		return "less than $0.00001"
	}
	return fmt.Sprintf("$%.5f", f)
}

func pad(s string, n int) string      { return strings.Repeat(" ", max(n-len([]rune(s)), 0)) + s }
func padRight(s string, n int) string { return s + strings.Repeat(" ", max(n-len([]rune(s)), 0)) }
