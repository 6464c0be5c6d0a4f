// Package journal is the file that a session is kept in, and the only room that knows its format.
//
// A journal is JSON, one object a line: a [Header], then one [echo.Entry] a line, in the order of their numbers. [Create] begins
// one and [Open] continues one; both own the session from then on. [Read] reads all of it.
//
// The package imports nothing of windlass but echo.
package journal
