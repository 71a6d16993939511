package filelist

import "time"

// ListHead is the head of a list of objects that is no plan: a listing made by
// `inventory make` or a converted inventory. It stands in the footer under
// ListKey, as JSON.
type ListHead struct {
	Schema  int       `json:"schema"` // 1
	Tool    string    `json:"tool"`
	Root    string    `json:"root,omitempty"`    // the place that relative paths lie below; "" if all are absolute
	Source  string    `json:"source"`            // what was listed or converted
	Taken   time.Time `json:"taken"`             // when the scan began; zero if unknown
	Created time.Time `json:"created"`           // when the file was written
	Skipped int64     `json:"skipped,omitempty"` // rows of the source that name no object: directories, old versions
}
