//go:build !((linux || darwin) && (amd64 || arm64))

package embedded

// canLoad reports whether this build can load a library.
const canLoad = false

func localArgs(string, string, int) []string { return nil }

func startLibrary(string, []string) (runner, error) { return nil, ErrUnsupported }
