//go:build !unix

package certificate

const modesCount = false
