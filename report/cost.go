package report

import "github.com/lakesweep/lakesweep/lake/filelist"

// Prices are the list prices of one store in US dollars. Docs: docs/prices.md.
type Prices struct {
	Known       bool
	ListPer1000 float64 // a thousand list requests
	DelPer1000  float64 // a thousand delete requests
	GiBMonth    float64 // a GiB for a month
}

// PricesOf returns the published standard-tier prices of a class of stores
// (lake.Root.Class) in the clouds' cheapest US regions as of 2026; unknown for
// disks and HDFS, where a request has no price.
func PricesOf(class string) Prices {
	switch class {
	case "s3":
		return Prices{true, 0.005, 0, 0.023}
	case "gs":
		return Prices{true, 0.005, 0, 0.020}
	case "az":
		return Prices{true, 0.0055, 0, 0.018}
	}
	return Prices{}
}

// Requests returns what the requests of a plan cost; false where no price is known.
func (p Prices) Requests(t filelist.Totals) (float64, bool) {
	if t.EstimatedCost != nil {
		return *t.EstimatedCost, true
	}
	return float64(t.ListRequests)/1000*p.ListPer1000 + float64(t.DeleteRequests)/1000*p.DelPer1000, p.Known
}

// Saving returns what the storage that a plan frees costs in a month; false where no price is known.
func (p Prices) Saving(t filelist.Totals) (float64, bool) {
	if t.MonthlySaving != nil {
		return *t.MonthlySaving, true
	}
	return float64(t.DeadBytes) / (1 << 30) * p.GiBMonth, p.Known
}
