//go:build unix

package certificate

// modesCount says that a file's mode tells who may use it.
const modesCount = true
