// Package fetch brings published files to this machine: once, checked against a pinned checksum,
// and whole or not at all.
//
// What is fetched lies in a folder of the cache. One process fetches at a time; the others wait and
// use what it brought. An interrupted fetch leaves a staging folder behind, which the next one
// removes.
package fetch
