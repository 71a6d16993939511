package csv

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkSplitter splits the records of S3 Inventory's CSV.
func BenchmarkSplitter(b *testing.B) {
	var text strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&text, "\"example-lake\",\"warehouse/sales/events/year%%3D2023/month%%3D07/part-%09d.snappy.parquet\",\"true\",\"false\",\"%d\",\"2023-07-01T00:00:00.000Z\",\"6faaa0013436e78338c543c154fabb4d\",\"STANDARD\"\n", i, i)
	}
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		s := NewSplitter(strings.NewReader(text.String()), ',')
		for {
			if _, err := s.Next(); err != nil {
				break
			}
		}
	}
}
