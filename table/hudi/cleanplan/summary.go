package cleanplan

// Summary counts what a plan saw. It is filled while Verdicts runs.
type Summary struct {
	Partitions     int64
	Candidates     int64 // base and log files in the partitions looked at
	Protected      int64
	Dead           int64
	LiveFiles      int64    // of slices that stay, those listed but missing included
	LiveBytes      int64    // of those whose size is known
	LiveMissing    []string // the first hundred of the missing ones
	MissingCount   int64
	Unlisted       int64 // not in the metadata table, or of no complete commit
	Foreign        int64
	ListRequests   int64
	DeadPartitions []string
	Ghosts         map[string][]string // by partition: dead files that are already gone, but listed by the metadata table
	Left           int64               // dead files beyond Config.MaxFiles, left to a later clean
	HeldBack       string              // time of the oldest replace commit some of whose groups stay though expired, but for savepoints; "" if none
	Warnings       []string
}

// sample bounds the lists of names in a Summary.
const sample = 100

// leave turns what was counted of a partition into one that waits for the next clean.
func (s Summary) leave() Summary {
	s.Left, s.Protected, s.Dead = s.Dead, s.Protected+s.Dead, 0
	s.DeadPartitions, s.Ghosts = nil, nil
	return s
}

func (s *Summary) add(o Summary) {
	s.Left += o.Left
	s.Partitions++
	s.Candidates += o.Candidates
	s.Protected += o.Protected
	s.Dead += o.Dead
	s.LiveFiles += o.LiveFiles
	s.LiveBytes += o.LiveBytes
	s.MissingCount += o.MissingCount
	s.LiveMissing = append(s.LiveMissing, o.LiveMissing[:min(len(o.LiveMissing), sample-len(s.LiveMissing))]...)
	s.Unlisted += o.Unlisted
	s.Foreign += o.Foreign
	s.DeadPartitions = append(s.DeadPartitions, o.DeadPartitions...)
	for partition, names := range o.Ghosts {
		s.Ghosts[partition] = names
	}
	if o.HeldBack != "" && (s.HeldBack == "" || o.HeldBack < s.HeldBack) {
		s.HeldBack = o.HeldBack
	}
	s.Warnings = append(s.Warnings, o.Warnings...)
}
