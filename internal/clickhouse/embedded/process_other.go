//go:build !linux

package embedded

import "os/exec"

// dieWithParent does nothing where the kernel cannot end a child with its parent. The library ends
// with its lifeline; a binary keeps the folder locked, and a second engine waits for that.
func dieWithParent(*exec.Cmd) {}
