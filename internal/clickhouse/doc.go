// Package clickhouse stores what runs did where it can be queried, and queries it: on a server or
// cluster named by a DSN, or in the private engine of this machine (package embedded).
//
// Delivery is at least once and in order; rows are idempotent. A [Sink] never holds a run up. What
// it has not delivered when it is closed, [DB.Ship] delivers later from the journal.
package clickhouse
