// Package sessions says which sessions are on this machine, what has become of each, and how much
// of it ClickHouse has.
//
// It reads the ends of journals and not the whole of them, so that looking at a thousand sessions
// is cheap. What it reads is checked; whether a journal is sound only reading all of it can tell:
// see journal.Read.
package sessions
