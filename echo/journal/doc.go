// Package journal is the file of a session, and the only package that knows its format.
//
// A journal is JSON, one object a line: a [Header], then one [echo.Entry] a line, in the order of
// their numbers. Every line ends with the member "sum": the first 16 hexadecimal digits of SHA-256
// over the sum of the line before it and the line itself without that member. So a change of any
// byte is found, and so is a line that was left out, added or moved. A file may end in the middle
// of a line, which is what a crash leaves behind; what is after the last newline is no line.
//
// [Create] begins a journal and [Open] continues one; both own the session from then on. [Read]
// reads all of a journal, a [Tail] follows one while it grows, and [Look] reads one from its end.
// All of them check the sums of the lines that they read. [Glance] checks nothing.
//
// The package imports nothing of windlass but echo.
package journal
