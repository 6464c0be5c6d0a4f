//go:build !((linux || darwin) && (amd64 || arm64))

package embedded

const canLoad = false

func localArgs(string, string, int) []string { return nil }

func runLibrary(string, []string) error { return ErrUnsupported }
