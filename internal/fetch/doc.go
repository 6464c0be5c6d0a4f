// Package fetch brings published files into the cache: once, checked against a pinned checksum,
// whole or not at all. One process fetches; others wait. The next fetch removes the staging folder
// of an interrupted one.
package fetch
