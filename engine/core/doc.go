// Package core is what all parts of a run, and of a branch of it, work with: the recorder and the
// place where something is done (record.go, mask.go), model calls within the budget (calls.go), what is
// known of models (models.go), the rules that a record follows (rules.go), errors and events.
package core
