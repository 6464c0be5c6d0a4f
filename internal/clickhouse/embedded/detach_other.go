//go:build !unix

package embedded

import "os/exec"

func restrictFiles() {}

func detach(*exec.Cmd) {}
