package listing

import "math/bits"

// alphabet is a set of bytes.
type alphabet [4]uint64

func (a *alphabet) add(c byte)      { a[c>>6] |= 1 << (c & 63) }
func (a *alphabet) has(c byte) bool { return a[c>>6]>>(c&63)&1 != 0 }

// size returns how many bytes the alphabet has.
func (a *alphabet) size() int {
	return bits.OnesCount64(a[0]) + bits.OnesCount64(a[1]) + bits.OnesCount64(a[2]) + bits.OnesCount64(a[3])
}

// rank returns how many of its bytes are less than c.
func (a *alphabet) rank(c byte) int {
	n := 0
	for i := range c >> 6 {
		n += bits.OnesCount64(a[i])
	}
	return n + bits.OnesCount64(a[c>>6]&(1<<(c&63)-1))
}

// nth returns the byte of rank n.
func (a *alphabet) nth(n int) byte {
	for i, w := range a {
		if c := bits.OnesCount64(w); n >= c {
			n -= c
			continue
		}
		for ; n > 0; n-- {
			w &= w - 1
		}
		return byte(i<<6 + bits.TrailingZeros64(w))
	}
	return 0
}

// filled returns a with the bytes that are likely to come too: all digits where
// there is one, all hex digits where there are letters that look like them.
func (a alphabet) filled() alphabet {
	var digits, lower, upper alphabet
	digits.addAll("0123456789")
	lower.addAll("abcdef")
	upper.addAll("ABCDEF")
	class := digits
	switch {
	case a.without(digits.or(lower)) == 0 && a.without(digits) > 0:
		class = digits.or(lower)
	case a.without(digits.or(upper)) == 0 && a.without(digits) > 0:
		class = digits.or(upper)
	}
	if a.without(digits) == a.size() && a.size() < 3 {
		return a // one or two letters say nothing
	}
	return a.or(class)
}

func (a *alphabet) addAll(class string) {
	for i := range len(class) {
		a.add(class[i])
	}
}

func (a alphabet) or(b alphabet) alphabet {
	return alphabet{a[0] | b[0], a[1] | b[1], a[2] | b[2], a[3] | b[3]}
}

// without returns how many bytes of a aren't in b.
func (a *alphabet) without(b alphabet) int {
	rest := alphabet{a[0] &^ b[0], a[1] &^ b[1], a[2] &^ b[2], a[3] &^ b[3]}
	return rest.size()
}

// known is what is known of the bytes at one place.
type known struct {
	seen   alphabet
	likely alphabet // seen, and the others of its kind
	turns  int      // times since seen last grew that an earlier byte changed: so often had nothing higher come here
}

// settled is the number of turns after which what was seen is taken for all that there is.
const settled = 8

func (k *known) alphabet() *alphabet {
	if k.turns >= settled {
		return &k.seen
	}
	return &k.likely
}

// note learns a byte; turn says that in the next name an earlier byte differs.
func (k *known) note(c byte, turn bool) {
	switch {
	case !k.seen.has(c):
		k.seen.add(c)
		k.turns = 0
		k.likely = k.seen.filled()
	case turn:
		k.turns++
	}
}
