// Package echo is the vocabulary of windlass and its one record of what happened.
//
// A run is a list of [Entry] values: every message, model call, tool call, selection, verdict,
// route and cost is one entry with a sequence number. A [Log] numbers entries and fans them out to
// [Sink]s: the journal on the local disk, ClickHouse, the live view. State, resume, replay and cost
// reports are derived from entries; there is no second source of truth.
//
// The package imports nothing else of windlass.
package echo

// LastOldBuild is the commit of the last windlass that reads what was written before formats had
// versions: journals of version 1 and 2, frozen tests of version 1, and the databases of their
// time.
const LastOldBuild = "d265381"
