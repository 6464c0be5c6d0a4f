// Package election decides by ballots which of several candidates is preferred: which orders a judge sees,
// what a pair of ballots is worth, and when there is enough evidence. It is pure and asks nobody.
package election
