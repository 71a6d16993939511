// Package catalog opens lists that say themselves which files hold their rows:
// reports of S3 Inventory, GCS Storage Insights and Azure Blob Inventory with
// their manifests, Delta tables and Iceberg tables.
//
// Invariants:
//
//  1. Each file that is named is there, of the size that is stated, or the list
//     is refused.
//  2. A report or table that was copied is read where it lies now.
//
// It doesn't read rows.
package catalog
