// Package document is one file on its way to typed values: what a schema and rules find wrong with
// it, at which place, and what is left of it to be decoded.
package document
