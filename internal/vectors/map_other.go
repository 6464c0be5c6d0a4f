//go:build !unix

package vectors

import "os"

// mapFile reads a file.
func mapFile(path string) ([]byte, error) { return os.ReadFile(path) }
