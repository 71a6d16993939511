// Package retain is what a clean of a Hudi table is to retain: the policy, by
// commits, hours or file versions, and the settings beside it, as Hudi's keys
// spell them.
//
//  1. The defaults are Hudi 1.2.0's, and an older name of a key counts as the
//     newer one does.
//  2. A key whose value isn't understood is an error, never a default.
//  3. Files of a bootstrap are never deleted, whatever the keys say.
//
// The package must not know tables, nor what dies under a policy.
//
// Source: Hudi 1.2.0, HoodieCleanConfig; spec/hudi-clean.md section 5.1.
package retain
