// Package record folds the entries of a session into what they come to: how the run ended and
// whether it can be resumed, its visits with their totals and histories, and what each call was
// sent.
//
// When a run resumes, its run_resume entry names the entries that it sets aside, such as the record
// of its stop: they no longer count. Entries from the background never count. What was paid stays
// paid, so tokens and money are summed up twice: for the entries that count, and for all.
//
// An entry that cannot be read changes nothing. Only [Requests] and [Selections] return errors.
package record
