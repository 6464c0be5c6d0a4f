// Package record folds a session's entries into what they come to: its end, whether it can be
// resumed, visits with totals and histories, and what each call was sent.
//
// A run_resume entry sets others aside, such as the stop: they no longer count, and those of the
// background never do. What was paid stays paid, so sums are made of what counts, and of all.
//
// An entry that cannot be read changes nothing. Only [Requests] and [Selections] return errors.
package record
