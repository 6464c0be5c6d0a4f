//go:build !unix

package source

// NonBlock: opening waits for nothing here.
const NonBlock = 0
