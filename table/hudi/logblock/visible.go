package logblock

// Visible returns the data and delete blocks of one file slice that count, in
// the order in which later ones win. The blocks come in the order of their log
// files: by instant in the name, version and token.
//
// counts says whether what an instant wrote is part of the table. A rollback
// block takes back the blocks of its target that lie before it, adjacent or
// not; a log-compacted block stands for the blocks of the instants it names,
// at the place of the first of them.
func Visible(blocks []Block, counts func(instant string) bool) []Block {
	var order []string // instants by first appearance
	byInstant := make(map[string][]Block)
	for _, b := range blocks {
		switch target := b.RollsBack(); {
		case target != "":
			delete(byInstant, target)
		case b.Type == Corrupt || b.Type == Command || !counts(b.Instant()):
		default:
			if _, seen := byInstant[b.Instant()]; !seen {
				order = append(order, b.Instant())
			}
			byInstant[b.Instant()] = append(byInstant[b.Instant()], b)
		}
	}
	replacedBy := make(map[string]string)
	for _, instant := range order {
		for _, b := range byInstant[instant] {
			for _, old := range b.Compacts() {
				if old != instant {
					replacedBy[old] = instant
				}
			}
		}
	}
	var out []Block
	done := make(map[string]bool)
	for _, instant := range order {
		for range len(replacedBy) { // nested log compactions: the outermost stands
			next, ok := replacedBy[instant]
			if !ok {
				break
			}
			instant = next
		}
		if !done[instant] {
			done[instant] = true
			out = append(out, byInstant[instant]...)
		}
	}
	return out
}
