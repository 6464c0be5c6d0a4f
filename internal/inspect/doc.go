// Package inspect answers questions about one recorded session: which model calls were made and
// what each was sent, how two differ, why a message was sent as it was, and what that cost.
//
// It computes typed values from entries and does no I/O. Their JSON is that of --json and of the
// HTTP API. Errors are of [failure.UnknownCall], [failure.UnknownMessage],
// [failure.InvalidRequest], [failure.NoHandoff], or [failure.Damaged] for a record that does not
// fit together.
package inspect
