package blob

// Columns are the paths of the blob columns of a table: field names joined
// with '.', without what lists and maps put between.
type Columns []string
