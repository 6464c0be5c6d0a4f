// Package clickhouse stores what runs did where it can be asked about, and asks it.
//
// One driver speaks the native protocol to both kinds of database: a server or cluster named by a
// DSN, and the private engine of this machine (package embedded). Everything above [Open] is the
// same for both.
//
// Delivery is at least once and in order. A [Sink] never holds a run up: it keeps entries in memory
// up to a limit and reads the others back from the journal, writes them in batches, notes in the
// session's folder how far it has come, and says on Close how many wait. [DB.Ship] delivers those
// later. Rows are idempotent, so they may be written again.
package clickhouse
