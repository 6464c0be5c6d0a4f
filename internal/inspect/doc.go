// Package inspect answers questions about one recorded session: which model calls were made and what each was sent, how two
// of them differ, why a message was sent as it was, and what that cost beside full history.
//
// It computes typed values from entries and does no I/O. Their JSON is what the command prints with --json and what the HTTP API
// sends. Errors are of [failure.UnknownCall], [failure.UnknownMessage], [failure.InvalidRequest], [failure.NoHandoff], or
// [failure.Damaged] for a record that does not fit together.
package inspect
