package settings

// suggest names the flag nearest to a wrong one.
func suggest(wrong string, known map[string]bool, spell func(string) string) string {
	best, distance := "", 4
	for flag := range known {
		if d := editDistance(wrong, flag); d < distance || d == distance && flag < best {
			best, distance = flag, d
		}
	}
	if best == "" {
		return "lakesweep COMMAND --help lists the flags."
	}
	return "Did you mean " + spell(best) + "?"
}

// editDistance is Levenshtein's.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
