package lake

// plain reports whether s is a relative path that means itself in every
// reading, as nearly all paths of a log are: letters, digits, "-_=+.", bytes
// over 0x7f, and slashes before none of which an empty or a hidden component
// begins. It may say no of such a path, never yes of another.
func plain(s string) bool {
	if len(s) < 8 {
		return plainShort(s)
	}
	if s[0] == '/' || s[0] == '.' || s[len(s)-1] == '/' {
		return false
	}
	// Eight bytes at once. A test of a byte leaves its answer in the byte's
	// highest bit: 0x80+a-b has it if a >= b, for a and b below 0x80.
	const ones, high = 0x0101010101010101, 0x8080808080808080
	before := uint64(0) // the byte before is a slash
	for i := 0; i < len(s); i += 8 {
		if i > len(s)-8 { // the last bytes, together with some that were looked at
			i, before = len(s)-8, 0
		}
		w := s[i : i+8]
		x := uint64(w[0]) | uint64(w[1])<<8 | uint64(w[2])<<16 | uint64(w[3])<<24 |
			uint64(w[4])<<32 | uint64(w[5])<<40 | uint64(w[6])<<48 | uint64(w[7])<<56
		y := x &^ high
		lower := y | 0x20*ones
		digits := ((y | high) - '-'*ones) & ((high | '9'*ones) - y) // and "-./", which come just before
		letters := ((lower | high) - 'a'*ones) & ((high | 'z'*ones) - lower)
		others := (high - (y ^ '='*ones)) | (high - (y ^ '_'*ones)) | (high - (y ^ '+'*ones))
		if (digits|letters|others|x)&high != high {
			return false
		}
		slash := (high - (y ^ '/'*ones)) & high &^ x
		dot := (high - (y ^ '.'*ones)) & high &^ x
		if (slash<<8|before)&(slash|dot) != 0 {
			return false
		}
		before = slash >> 56
	}
	return true
}

// plainShort is plain byte by byte.
func plainShort(s string) bool {
	if s == "" || s[0] == '/' || s[0] == '.' || s[len(s)-1] == '/' {
		return false
	}
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= 0x80, c|0x20 >= 'a' && c|0x20 <= 'z', c >= '0' && c <= '9', c == '-', c == '_', c == '=', c == '+', c == '.':
		case c == '/' && s[i+1] != '/' && s[i+1] != '.':
		default:
			return false
		}
	}
	return true
}
