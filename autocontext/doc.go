// Package autocontext decides what one model call is sent.
//
// A history is an append-only list of messages. A [View] gives every message of it a [Form] and the
// reason for that form; passes change forms and nothing else; [View.Render] turns a view into
// messages that are valid for a provider. Nothing here calls a model, reads a clock or does I/O:
// the same history and settings always give the same bytes.
package autocontext
