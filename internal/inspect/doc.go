// Package inspect answers questions about one recorded session: which model calls were made, what
// each was sent and why, how two differ, and what that cost. It computes typed values from entries;
// their JSON is that of --json and of the HTTP API. Errors have a kind, see package failure.
package inspect
