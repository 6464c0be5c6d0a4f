//go:build !linux

package embedded

import "os/exec"

// dieWithParent does nothing where the kernel cannot end a child with its parent. The library ends
// itself when its lifeline does; a clickhouse binary keeps the folder locked, so a second engine
// waits and then says so rather than sharing the data.
func dieWithParent(*exec.Cmd) {}
