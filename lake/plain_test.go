package lake

import (
	"testing"

	"pgregory.net/rapid"
)

// TestPlainAgreesByteByByte compares paths of all lengths, every byte at every place.
func TestPlainAgreesByteByByte(t *testing.T) {
	check := func(s string) {
		if got, want := plain(s), plainShort(s); got != want {
			t.Fatalf("%q: %v, want %v", s, got, want)
		}
	}
	const usual = "year=2023/month=07/part-00000-abz_AZ+09.c000.parquet"
	for n := range usual {
		for at := range n {
			for c := range 256 {
				check(usual[:at] + string([]byte{byte(c)}) + usual[at+1:n])
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		check(string(rapid.SliceOfN(rapid.SampledFrom([]byte("a0Z-_=+.///..,:@`{[\x7f\x80\xaf\xae\xff %")), 0, 40).Draw(t, "path")))
	})
	rapid.Check(t, func(t *rapid.T) {
		check(string(rapid.SliceOfN(rapid.SampledFrom([]byte("aZ9/.\xaf\xae")), 0, 40).Draw(t, "path")))
	})
}

func BenchmarkPlain(b *testing.B) {
	for b.Loop() {
		plain("year=2023/month=07/day=02/hour=07/part-00000-0191d5a4-2f1e-7c3a-9d0e-123456789abc.c000.snappy.parquet")
	}
}
