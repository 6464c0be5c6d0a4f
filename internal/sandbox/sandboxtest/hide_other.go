//go:build !linux || !(amd64 || arm64)

// Package sandboxtest makes this system one that cannot confine processes, for tests of what
// windlass says and does there.
package sandboxtest

import (
	"fmt"
	"os"
)

// RunWithoutLandlock fails: this system has none to hide.
func RunWithoutLandlock() {
	fmt.Fprintln(os.Stderr, "this system has no Landlock to hide")
	os.Exit(125)
}
