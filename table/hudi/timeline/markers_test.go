package timeline

import (
	"slices"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/store/mem"
)

// Names as Hudi 1.2.0 leaves them on Hadoop's local file system.
func TestMarked(t *testing.T) {
	const (
		at   = "20261130192552571"
		base = "f-0_0-649-923_" + at + ".parquet"
		log  = ".g-0_" + at + ".log.1_0-649-923"
	)
	for name, c := range map[string]struct {
		objects map[string]string
		want    []string
	}{
		"none": {},
		"an object a file": {
			map[string]string{
				at + "/p=p1/q=a/" + base + ".marker.CREATE": "", at + "/p=p1/q=a/." + base + ".marker.CREATE.crc": "crc",
				at + "/p=p1/" + log + ".marker.APPEND": "", at + "/p=p1/" + base + ".marker.MERGE": "", at + "/" + base + ".marker.CREATE": "",
			},
			[]string{base, "p=p1/" + log, "p=p1/" + base, "p=p1/q=a/" + base},
		},
		"the timeline server's": {
			map[string]string{
				at + "/MARKERS.type": "TIMELINE_SERVER_BASED", at + "/MARKERS0": "p=p1/" + log + ".marker.CREATE\np=p2/" + base + ".marker.CREATE\n", at + "/.MARKERS0.crc": "crc",
				at + "/MARKERS12": "p=p1/" + base + ".marker.CREATE\np=p1/" + log + ".marker.CREATE",
			},
			[]string{"p=p1/" + log, "p=p1/" + base, "p=p2/" + base},
		},
		"of another write": {map[string]string{"20261130192552572/" + base + ".marker.CREATE": ""}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := mem.New(mem.Options{})
			for n, data := range c.objects {
				s.Put(".hoodie/.temp/"+n, []byte(data), time.Time{})
			}
			got, err := Marked(t.Context(), s, at)
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("got %q, %v, want %q", got, err, c.want)
			}
		})
	}
}
