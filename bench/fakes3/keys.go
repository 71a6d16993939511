package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"sort"
)

// keys are the bucket's made-up objects, in byte order. They don't change but
// for those deleted.
type keys struct {
	n  int
	at func(i int) string
}

// after returns the first place whose key is above k, or at k with orAt.
func (ks keys) after(k string, orAt bool) int {
	return sort.Search(ks.n, func(i int) bool { key := ks.at(i); return key > k || orAt && key == k })
}

// index returns the place of key k.
func (ks keys) index(k string) (int, bool) {
	i := ks.after(k, true)
	return i, i < ks.n && ks.at(i) == k
}

// readKeys reads names, one a line.
func readKeys(file, prefix string) (keys, error) {
	f, err := os.Open(file)
	if err != nil {
		return keys{}, err
	}
	var names []string
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		names = append(names, prefix+lines.Text())
	}
	slices.Sort(names)
	return keys{len(names), func(i int) string { return names[i] }}, errors.Join(lines.Err(), f.Close())
}

// layouts name object i of n, in byte order.
var layouts = map[string]func(i, n int) string{
	"hive": func(i, n int) string {
		h := i * 2400 / n
		return fmt.Sprintf("year=2024/month=%02d/day=%02d/hour=%02d/%s", h/720+1, h/24%30+1, h%24, file(i))
	},
	"random": func(i, n int) string {
		p := uint64(i) << 16 / uint64(n)
		return fmt.Sprintf("%02x/%02x/%s", p>>8, p&0xff, file(i))
	},
	"skew": func(i, n int) string { // nine tenths in one of 100
		switch edge := n / 20; {
		case i < edge:
			return fmt.Sprintf("date=%03d/%s", i*50/edge, file(i))
		case i >= n-edge:
			return fmt.Sprintf("date=%03d/%s", min(99, 51+(i-n+edge)*49/edge), file(i))
		}
		return "date=050/" + file(i)
	},
	"wide": func(i, _ int) string { return fmt.Sprintf("id=%08d/%s", i/50, file(i)) },
	"flat": func(i, _ int) string { return file(i) },
}

func file(i int) string {
	x := uint64(i)*0x9e3779b97f4a7c15 + 1
	x ^= x >> 29
	return fmt.Sprintf("part-%09d-%016x-c000.snappy.parquet", i, x*0xbf58476d1ce4e5b9)
}

// object is one row of a listing.
type object struct {
	key, modified string
	size          int64
}

func byKey(a, b object) int { return cmp.Compare(a.key, b.key) }
