// Package echo is the vocabulary of windlass and its record of what happened.
//
// A run is a list of [Entry] values with sequence numbers: every message, call, selection, verdict,
// route and cost. A [Log] numbers them and fans them out to [Sink]s. State, resume, replay and
// reports are derived from entries; there is no second source of truth.
//
// The package imports nothing else of windlass.
package echo

// LastOldBuild is the commit of the last windlass that reads journals of version 1 and 2, frozen
// tests of version 1, and databases of their time.
const LastOldBuild = "d265381"
