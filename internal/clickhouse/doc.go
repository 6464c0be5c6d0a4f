// Package clickhouse stores what runs did where it can be asked about, and asks it.
//
// One driver speaks the native protocol to both kinds of database: a server or cluster named by a DSN, and the private
// engine of this machine (package embedded). Everything above [Open] is the same for both.
//
// Delivery is at least once. A [Sink] never holds a run up: it keeps entries in memory up to a limit, writes them in
// batches, and says on Close how many it could not deliver. Rows are idempotent, so they may be written again.
package clickhouse
