//go:build !linux

package embedded

import "os/exec"

// dieWithParent does nothing where the kernel cannot end a child with its parent. A server that outlives a killed
// engine process keeps ClickHouse's own lock of the data folder, so a second one fails to start rather than sharing it.
func dieWithParent(*exec.Cmd) {}
