// Package wire reads what endpoints of the chat-completions protocol send: event streams and the
// chunks in them. Nothing that an endpoint sends makes it panic.
//
// A chunk is read in one pass, without a tree of objects. What that pass does not know is left to
// encoding/json, so both read the same.
package wire
