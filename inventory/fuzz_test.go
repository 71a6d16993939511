package inventory

import (
	"testing"

	"github.com/lakesweep/lakesweep/inventory/internal/part"
	"github.com/lakesweep/lakesweep/lake"
)

// Whatever bytes a list holds, reading it ends, with rows or with an error that
// has a hint.
func FuzzList(f *testing.F) {
	os := []object{{"t/a b", 1, 1577836800000}, {"t/c", 2, 1577836800000}}
	names := []string{"l.csv", "l.txt", "l.jsonl", "l.parquet", "l", "manifest.json", "x.json"}
	for _, form := range testForms {
		s := newShelf()
		form.put(s, os)
		for _, name := range s.Names() {
			data, err := (&part.Part{Reader: s, Name: name, Size: -1}).All(f.Context(), 1<<20)
			if err != nil {
				f.Fatal(err)
			}
			for i := range names {
				f.Add(data, uint8(i))
			}
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, name uint8) {
		s := newShelf()
		s.Put("a.csv", []byte("bucket,name\nb,t/x\n"), written) // what a manifest may name
		s.Put(names[int(name)%len(names)], data, written)
		_, _, err := s.read(t.Context(), Options{Source: "mem://shelf/" + names[int(name)%len(names)]}, "s3")
		if err != nil && lake.HintOf(err) == "" {
			t.Fatalf("no hint: %v", err)
		}
	})
}
